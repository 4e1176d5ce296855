//! Singletons and debouncing: executions that are submitted under a singleton or debounce key.
//!
//! At most one execution of a singleton key may run; the other executions of the key wait in the order of their
//! submission. Submissions under a debounce key change the one execution that has not started yet.

mod doctor;
mod queue;
mod submit;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::engine_error::Refusal;
use crate::execution::{BlockDetail, Blocker, Execution, Phase};
use crate::limits;
use crate::state::text_enum;
use crate::types::{ExecutionId, Namespace, QueueName, SubmissionKey, TimestampMs};

pub(crate) use doctor::examine;
pub(crate) use queue::follow;
pub(crate) use submit::submit;

/// The rule by which a submission treats live executions with the same key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeyRule {
    Singleton(Singleton),
    Debounce(Debounce),
}

/// At most one execution of a key runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Singleton {
    pub key: SubmissionKey,
    #[serde(default)]
    pub on_conflict: OnConflict,
}

text_enum! {
    /// What happens to a submission while another execution with its singleton key is live.
    #[derive(Default)]
    OnConflict {
        /// The live execution is returned; nothing is written.
        #[default]
        Skip "skip",
        /// It replaces the last execution of the key, which is cancelled, if that has not started. Otherwise it waits.
        Replace "replace",
        /// It waits until earlier executions of the key have ended.
        Queue "queue",
    }

    /// How an execution with the same singleton or debounce key affected a submission.
    KeyConflict {
        /// Nothing was written; the live execution was returned.
        Skipped "skipped",
        /// It replaced an execution that had not started; with a debounce key, the payload of the same execution.
        Replaced "replaced",
        /// It waits until earlier executions of the key have ended.
        Queued "queued",
    }
}

/// Merges submissions with the same key into one execution, which starts after a pause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Debounce {
    pub key: SubmissionKey,
    /// Delay after the last submission; at most ten times this after the first.
    pub delay_ms: u64,
}

impl Debounce {
    /// Returns the latest start of an execution whose first submission was at `first`.
    pub(crate) fn latest_start(&self, first: TimestampMs) -> TimestampMs {
        first + self.delay_ms * limits::DEBOUNCE_SPANS
    }
}

impl KeyRule {
    /// Returns the rule of a submission with these two fields.
    pub fn of(singleton: Option<Singleton>, debounce: Option<Debounce>) -> Result<Option<Box<Self>>, Refusal> {
        match (singleton, debounce) {
            (Some(_), Some(_)) => {
                Err(Refusal::invalid("debounce", "cannot be combined with singleton; send one of them"))
            }
            (Some(singleton), None) => Ok(Some(Box::new(Self::Singleton(singleton)))),
            (None, Some(debounce)) => Ok(Some(Box::new(Self::Debounce(debounce)))),
            (None, None) => Ok(None),
        }
    }

    /// Returns the two fields of a submission with this rule.
    pub fn parts(rule: Option<&Self>) -> (Option<Singleton>, Option<Debounce>) {
        match rule {
            None => (None, None),
            Some(Self::Singleton(singleton)) => (Some(singleton.clone()), None),
            Some(Self::Debounce(debounce)) => (None, Some(debounce.clone())),
        }
    }

    /// Returns the name of the queue for executions under this rule.
    pub fn queue(&self) -> QueueName {
        match self {
            Self::Singleton(singleton) => QueueName::singleton(&singleton.key),
            Self::Debounce(debounce) => QueueName::debounce(&debounce.key),
        }
    }

    /// Returns the field of the submission that refusals name.
    fn field(&self) -> &'static str {
        match self {
            Self::Singleton(_) => "singleton",
            Self::Debounce(_) => "debounce",
        }
    }

    /// Refuses a delay that is out of range, and fields that cannot be combined with a key.
    pub(crate) fn check(&self, is_keyed: bool, is_delayed: bool) -> Result<(), Refusal> {
        if is_keyed {
            let field = self.field();
            return Err(Refusal::invalid(
                "idempotency_key",
                format!("cannot be combined with {field}; send one of them"),
            ));
        }
        let Self::Debounce(debounce) = self else { return Ok(()) };
        if is_delayed {
            return Err(Refusal::invalid(
                "debounce",
                "cannot be combined with delay_ms or start_at; it has a delay of its own",
            ));
        }
        let allowed = 1..=limits::DEBOUNCE_MAX_MS;
        if !allowed.contains(&debounce.delay_ms) {
            let (least, most, sent) = (allowed.start(), allowed.end(), debounce.delay_ms);
            return Err(Refusal::invalid("debounce.delay_ms", format!("must be {least} to {most}, is {sent}")));
        }
        Ok(())
    }
}

/// The place of an execution in the queue of its singleton or debounce key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuePlace {
    pub queue: QueueName,
    /// The execution ahead, which must end first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<ExecutionId>,
    /// Set under a debounce key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debounced: Option<DebounceState>,
}

/// The latest start of a debounced execution, and the submission that last moved its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DebounceState {
    pub latest_start: TimestampMs,
    pub submission: Uuid,
}

/// The live executions of a singleton key in the order in which they run; of a debounce key, the one that was submitted last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyQueue {
    pub partition: u16,
    pub namespace: Namespace,
    pub name: QueueName,
    /// Empty when the queue no longer exists.
    pub executions: Vec<ExecutionId>,
}

impl Execution {
    /// Returns the execution that must end before this one may run.
    pub fn behind(&self) -> Option<ExecutionId> {
        self.queue_place.as_ref().and_then(|place| place.behind)
    }

    /// Returns whether the execution is ready except that it is queued behind another one of its singleton key.
    pub fn is_queued(&self) -> bool {
        self.behind().is_some() && matches!(self.phase, Phase::Blocked { on: Blocker::Quota, .. })
    }

    /// Returns the details of the blocker: those of admission, or the execution ahead in the queue.
    pub fn block_detail(&self) -> Option<Box<BlockDetail>> {
        let queued = || {
            let place = self.queue_place.as_ref().filter(|_| self.is_queued())?;
            let key = place.queue.key().to_owned();
            Some(Box::new(BlockDetail::Singleton { key, behind: place.behind? }))
        };
        self.blocked_by.clone().or_else(queued)
    }
}
