//! A wait as it was put together, before it begins.

use std::time::Duration;

use ff_core::engine_error::Refusal;
use ff_core::suspension::{Condition, ResumePolicy, SuspendReason, TimeoutBehavior};
use ff_core::types::WaitpointKey;
use futures_util::future::BoxFuture;

use crate::{Error, Fault, Waitpoint};

/// Tells somebody of the waitpoints before the execution waits on them.
pub(super) type Announce = Box<dyn FnOnce(Vec<Waitpoint>) -> BoxFuture<'static, Result<(), Fault>> + Send>;

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
    /// What is asked, for whoever looks at the execution.
    pub(super) question: Option<String>,
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
        })
    }
}

/// A waitpoint's key as a caller writes it.
pub(super) fn key(field: &str, text: &str) -> Result<WaitpointKey, Error> {
    Ok(WaitpointKey::parse(text).map_err(|error| Refusal::invalid(field, error))?)
}

/// A span as the engine counts it.
pub(super) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
