//! The plan of a wait, and its outcome.

use std::time::Duration;

use ff_core::engine_error::Refusal;
use ff_core::step::StepRef;
use ff_core::suspension::{Condition, ResumePolicy, ResumedBy, SuspendReason, TimeoutBehavior};
use ff_core::types::WaitpointKey;
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::{Error, Fault, SignalMessage, Waitpoint};

/// The plan of a wait.
pub(super) struct Plan {
    pub(super) name: WaitpointKey,
    pub(super) keys: Vec<WaitpointKey>,
    pub(super) condition: Condition,
    pub(super) reason: SuspendReason,
    pub(super) timeout: Option<Duration>,
    pub(super) timeout_behavior: TimeoutBehavior,
    pub(super) resume_policy: ResumePolicy,
    pub(super) announce: Option<Announce>,
    /// The question, which is shown with the execution.
    pub(super) question: Option<String>,
    /// Whether a timeout is a normal end of the wait, and not a failure.
    pub(super) may_time_out: bool,
    /// The step of the wait, if the wait is not identified by its name.
    pub(super) step: Option<StepRef>,
    /// A note for the run that continues.
    pub(super) note: Option<Value>,
}

impl Plan {
    /// Creates the plan of a wait for any signal, at a waitpoint with the name of the wait.
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

    /// Creates the plan of a wait for a time span.
    pub(super) fn timer(name: &str, span: Duration) -> Result<Self, Error> {
        let plan = Self::new(name)?;
        let reason = "sleeping".parse().map_err(|error| Refusal::invalid("reason", error))?;
        Ok(Self { condition: Condition::TimeoutOnly, reason, timeout: Some(span), ..plan })
    }
}

/// A function that gets the waitpoints before the execution waits on them.
pub(super) type Announce = Box<dyn FnOnce(Vec<Waitpoint>) -> BoxFuture<'static, Result<(), Fault>> + Send>;

/// The outcome of a wait: its cause, and the signals that ended it.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitOutcome {
    pub by: ResumedBy,
    /// The signals that met the condition or, if the wait ended by another cause, those that had arrived. The signal of an
    /// operator or of the timeout is the last.
    pub signals: Vec<SignalMessage>,
}

/// Parses the key of a waitpoint, as a caller writes it.
pub(super) fn key(field: &str, text: &str) -> Result<WaitpointKey, Error> {
    Ok(WaitpointKey::parse(text).map_err(|error| Refusal::invalid(field, error))?)
}

/// Converts a time span to milliseconds.
pub(super) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
