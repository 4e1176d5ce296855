//! Steps that a holder records, with numbers for names and values.

use crate::prelude::*;
use crate::reference::{bytes, kind};

/// A step. Kind, name and key are numbers, and the result is a number of bytes. A step without a result has failed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordedStep {
    pub kind: u8,
    pub at: Point,
    pub result: Option<usize>,
    /// Milliseconds from the start of the step to now. The start is in the future if this is negative.
    pub took_ms: Option<i64>,
}

/// The name and the key of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point(pub u8, pub u8);

impl RecordedStep {
    pub(crate) fn args(&self, execution_id: ExecutionId, fence: Fence, now: TimestampMs) -> RecordStepArgs {
        let StepPoint { name, key } = self.at.point();
        let message = format!("{name} broke");
        let failed = || StepOutcome::Failed { failure: Failure { category: kind(0), message, permanent: true } };
        RecordStepArgs {
            execution_id,
            fence,
            step: StepRef { kind: StepKind::ALL[usize::from(self.kind % 3)], name, key },
            started_at: self.took_ms.map(|ms| TimestampMs(now.0 - ms)),
            outcome: self.result.map_or_else(failed, |count| StepOutcome::Succeeded { result: bytes(count) }),
        }
    }
}

impl Point {
    pub(crate) fn point(&self) -> StepPoint {
        let key = if self.1 == 0 { String::new() } else { format!("key {}", self.1) };
        StepPoint {
            name: StepName::parse(&format!("step \"{}\" é", self.0)).unwrap(),
            key: StepKey::parse(&key).unwrap(),
        }
    }
}
