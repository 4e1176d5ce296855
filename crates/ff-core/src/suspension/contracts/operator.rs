//! What an operator asks of what waits, without a token.

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal};
use crate::execution::contracts::check_message;
use crate::limits;
use crate::payload::Payload;
use crate::signal::contracts::check_signal_payload;
use crate::state::PublicState;
use crate::suspension::OperatorDecision;
use crate::types::{ExecutionId, SourceIdentity, SuspensionId, WaitpointId};

/// An operator ends a suspension, whatever its condition.
#[derive(Clone, Debug, PartialEq)]
pub struct ResumeArgs {
    pub execution_id: ExecutionId,
    /// Only this suspension, when given: the execution may have gone on and be suspended again.
    pub suspension_id: Option<SuspensionId>,
    pub decision: OperatorDecision,
    /// What the worker is told with it.
    pub payload: Option<Payload>,
    pub reason: Option<String>,
    pub requested_by: Option<SourceIdentity>,
    /// How long before a worker may take it up; as its policy says when not said.
    pub resume_delay_ms: Option<u64>,
}

impl ResumeArgs {
    /// A decision about an execution, and nothing more to say.
    pub fn new(execution_id: ExecutionId, decision: OperatorDecision) -> Self {
        Self {
            execution_id,
            suspension_id: None,
            decision,
            payload: None,
            reason: None,
            requested_by: None,
            resume_delay_ms: None,
        }
    }

    pub fn check(&self) -> Result<(), Refusal> {
        self.payload.as_ref().map_or(Ok(()), check_signal_payload)?;
        if let Some(ms) = self.resume_delay_ms.filter(|ms| *ms > limits::SPAN_MAX_MS) {
            return Err(Refusal::over_limit(Code::LimitExceeded, "resume_delay_ms", limits::SPAN_MAX_MS, ms));
        }
        check_message("reason", self.reason.as_deref())
    }
}

/// The suspension is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resumed {
    pub suspension_id: SuspensionId,
    pub public_state: PublicState,
    /// True when the same decision had ended it before.
    pub already: bool,
}

/// Someone wants a waitpoint closed that no suspension has used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseWaitpointArgs {
    pub execution_id: ExecutionId,
    pub waitpoint_id: WaitpointId,
    pub reason: Option<String>,
}

impl CloseWaitpointArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        check_message("reason", self.reason.as_deref())
    }
}

/// The waitpoint is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClosedWaitpoint {
    /// True when it took no more signals before.
    pub already: bool,
}
