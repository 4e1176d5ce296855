//! The plan of a wait, and the outcome of one.

use std::time::Duration;

use ff_core::engine_error::Refusal;
use ff_core::step::StepRef;
use ff_core::suspension::{Condition, ResumePolicy, ResumedBy, SuspendReason, TimeoutBehavior};
use ff_core::types::WaitpointKey;
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::{Error, Fault, SignalMessage, Waitpoint};

/// A wait to come.
pub(super) struct Plan {
    pub(super) name: WaitpointKey,
    pub(super) keys: Vec<WaitpointKey>,
    pub(super) condition: Condition,
    pub(super) reason: SuspendReason,
    pub(super) timeout: Option<Duration>,
    pub(super) timeout_behavior: TimeoutBehavior,
    pub(super) resume_policy: ResumePolicy,
    pub(super) announce: Option<Announce>,
    /// The question; shown with the execution.
    pub(super) question: Option<String>,
    /// Whether its timeout is an end like others, and not a failure.
    pub(super) may_time_out: bool,
    /// Which wait of the handler it is, when it is not known by its name.
    pub(super) step: Option<StepRef>,
    /// A note for the run that continues.
    pub(super) note: Option<Value>,
}

impl Plan {
    /// A wait for any signal at a waitpoint of the wait's own name.
    pub(super) fn new(name: &str) -> Result<Self, Error> {
        let name = key("name", name)?;
        Ok(Self {
            keys: vec![name.clone()],
            condition: Condition::Signal { waitpoint: name.clone(), name: None },
            name,
            reason: SuspendReason::WaitingForSignal,
            timeout: None,
            timeout_behavior: TimeoutBehavior::AutoResume,
            resume_policy: ResumePolicy::default(),
            announce: None,
            question: None,
            may_time_out: true,
            step: None,
            note: None,
        })
    }

    /// A wait for nothing but time.
    pub(super) fn timer(name: &str, span: Duration) -> Result<Self, Error> {
        let plan = Self::new(name)?;
        let reason = "sleeping".parse().map_err(|error| Refusal::invalid("reason", error))?;
        Ok(Self { condition: Condition::TimeoutOnly, reason, timeout: Some(span), ..plan })
    }
}

/// Passes the waitpoints on before the execution waits on them.
pub(super) type Announce = Box<dyn FnOnce(Vec<Waitpoint>) -> BoxFuture<'static, Result<(), Fault>> + Send>;

/// How a wait ended, and the signals that ended it.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitOutcome {
    pub by: ResumedBy,
    /// Those that met the condition, or that had arrived when something else ended the wait; an operator's own, or the
    /// timeout's, is the last.
    pub signals: Vec<SignalMessage>,
}

/// A waitpoint's key as a caller writes it.
pub(super) fn key(field: &str, text: &str) -> Result<WaitpointKey, Error> {
    Ok(WaitpointKey::parse(text).map_err(|error| Refusal::invalid(field, error))?)
}

/// A span as the engine counts it.
pub(super) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
