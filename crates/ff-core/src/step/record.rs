//! The record of a step.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::execution::Failure;
use crate::json::is_default;
use crate::payload::Payload;
use crate::types::{AttemptIndex, ContentType, StepKey, StepName, TimestampMs};

/// The kind of a recorded step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", try_from = "String")]
pub enum StepKind {
    /// Work of the handler.
    Step,
    /// A wait of the handler: for a time, a signal, an approval, children or another execution.
    Wait,
    /// A compensation: it undid the step of the same name and key.
    Undo,
}

impl StepKind {
    pub const ALL: [Self; 3] = [Self::Step, Self::Wait, Self::Undo];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Wait => "wait",
            Self::Undo => "undo",
        }
    }
}

impl fmt::Display for StepKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for StepKind {
    type Err = &'static str;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word).ok_or("must be step, wait or undo")
    }
}

impl TryFrom<String> for StepKind {
    type Error = &'static str;

    fn try_from(word: String) -> Result<Self, Self::Error> {
        word.parse()
    }
}

/// The identity of a step within its execution.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StepRef {
    pub kind: StepKind,
    pub name: StepName,
    /// Tells steps of one name apart, in a loop for example.
    #[serde(default, skip_serializing_if = "StepKey::is_empty")]
    pub key: StepKey,
}

impl StepRef {
    /// Creates a reference to a step of kind `step` without a key.
    pub fn new(name: StepName) -> Self {
        Self { kind: StepKind::Step, name, key: StepKey::default() }
    }

    /// Returns the bytes of the name and the key.
    pub fn size(&self) -> u64 {
        (self.name.as_str().len() + self.key.as_str().len()) as u64
    }
}

/// The outcome of a step, with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    Succeeded {
        result: Payload,
    },
    /// A permanent failure: the step is not tried again.
    Failed {
        failure: Failure,
    },
}

/// A recorded step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its position in the order of recording, from 0.
    pub seq: u32,
    pub step: StepRef,
    /// The attempt that recorded it.
    pub attempt: AttemptIndex,
    pub started_at: TimestampMs,
    pub recorded_at: TimestampMs,
    pub outcome: StepOutcome,
}

impl Step {
    /// Returns the step without the bytes of its result.
    pub fn head(&self) -> StepHead {
        let outcome = match &self.outcome {
            StepOutcome::Succeeded { result } => {
                StepResult::Succeeded { content_type: result.content_type.clone(), bytes: result.bytes.len() as u64 }
            }
            StepOutcome::Failed { failure } => StepResult::Failed { failure: failure.clone() },
        };
        let Self { seq, step, attempt, started_at, recorded_at, .. } = self;
        let (seq, attempt, started_at, recorded_at) = (*seq, *attempt, *started_at, *recorded_at);
        StepHead { seq, step: step.clone(), attempt, started_at, recorded_at, outcome }
    }

    /// Returns the size of the step, for pages and totals.
    pub fn size(&self) -> u64 {
        self.step.size()
            + match &self.outcome {
                StepOutcome::Succeeded { result } => result.bytes.len() as u64,
                StepOutcome::Failed { failure } => failure_size(failure),
            }
    }
}

fn failure_size(failure: &Failure) -> u64 {
    (failure.category.as_str().len() + failure.message.len()) as u64
}

/// A recorded step without the bytes of its result. Stores keep both separately.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepHead {
    pub seq: u32,
    #[serde(flatten)]
    pub step: StepRef,
    pub attempt: AttemptIndex,
    pub started_at: TimestampMs,
    pub recorded_at: TimestampMs,
    pub outcome: StepResult,
}

/// The outcome of a step, without the bytes of its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepResult {
    Succeeded { content_type: ContentType, bytes: u64 },
    Failed { failure: Failure },
}

impl StepHead {
    pub fn has_succeeded(&self) -> bool {
        matches!(self.outcome, StepResult::Succeeded { .. })
    }

    /// Returns the size of the step, for pages and totals.
    pub fn size(&self) -> u64 {
        self.step.size()
            + match &self.outcome {
                StepResult::Succeeded { bytes, .. } => *bytes,
                StepResult::Failed { failure } => failure_size(failure),
            }
    }

    /// Returns the step with the bytes of its result, which are empty when the step failed.
    pub fn with_result(self, bytes: bytes::Bytes) -> Step {
        let outcome = match self.outcome {
            StepResult::Succeeded { content_type, .. } => {
                StepOutcome::Succeeded { result: Payload { content_type, bytes } }
            }
            StepResult::Failed { failure } => StepOutcome::Failed { failure },
        };
        let Self { seq, step, attempt, started_at, recorded_at, .. } = self;
        Step { seq, step, attempt, started_at, recorded_at, outcome }
    }
}

/// The count of an execution's recorded steps. An execution without steps has no counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepCounter {
    /// Number of the next step.
    pub next: u32,
    /// Number of steps and waits.
    pub count: u32,
    /// Number of compensations.
    #[serde(default, skip_serializing_if = "is_default")]
    pub undos: u32,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl StepCounter {
    /// Returns the counter of an execution with these steps, in the order of their numbers; `None` without steps.
    pub fn of<'h>(heads: impl IntoIterator<Item = &'h StepHead>) -> Option<Self> {
        let mut counter = None;
        heads.into_iter().for_each(|head| counter.get_or_insert_with(Self::default).add(head));
        counter
    }

    /// Counts one more step.
    pub(super) fn add(&mut self, head: &StepHead) {
        self.next = head.seq + 1;
        *(if head.step.kind == StepKind::Undo { &mut self.undos } else { &mut self.count }) += 1;
        self.bytes += head.size();
    }
}

/// The write to the steps of an execution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepsWrite {
    /// The steps to remove first.
    pub forgotten: ForgottenSteps,
    /// The steps to add afterwards, in order.
    pub recorded: Vec<Step>,
}

/// The steps to remove.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ForgottenSteps {
    #[default]
    None,
    All,
    Only(Vec<StepRef>),
}
