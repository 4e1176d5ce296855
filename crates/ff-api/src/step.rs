//! Steps on the wire: requests to record a step, and recorded steps. A JSON result is embedded as it is, any other is base64,
//! so that every byte of the result is kept.

use ff_core::contracts::{self, ForkArgs, RecordStepArgs, StepPoint};
use ff_core::engine_error::Refusal;
use ff_core::execution::Failure;
use ff_core::lease::Fence;
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::step::{StepKind, StepOutcome, StepRef};
use ff_core::types::{
    AttemptId, AttemptIndex, ContentType, ExecutionId, Kind, LeaseEpoch, LeaseId, StepKey, StepName, TimestampMs,
    new_execution_uuid,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::content::present;
use crate::lease::holder::{Fail, holder_calls, with_fence};
use crate::object::{answers, requests};
use crate::query::query;
use crate::{Base64, Content, Encoding, Strict};

holder_calls! {
    /// Records a step, with its result or its permanent failure.
    pub struct RecordStep {
        /// Default: `step`.
        pub kind: Option<StepKind>,
        pub name: StepName,
        /// Distinguishes steps of the same name.
        #[serde(default, skip_serializing_if = "StepKey::is_empty")]
        pub key: StepKey,
        /// When it began, by the worker's clock (default: the time of recording).
        pub started_at: Option<TimestampMs>,
        /// Default: `null`, if there is no failure.
        #[serde(deserialize_with = "present")]
        pub result: Option<Box<RawValue>>,
        pub result_base64: Option<Base64>,
        pub content_type: Option<ContentType>,
        pub failure: Option<Strict<StepFailure>>,
    }
}

requests! {
    /// The failure of a step.
    pub struct StepFailure {
        /// Default: `error`.
        pub category: Option<Kind>,
        pub message: String,
        #[serde(default)]
        pub permanent: bool,
    }
}

impl StepFailure {
    fn of(failure: Failure) -> Self {
        Self { category: Some(failure.category), message: failure.message, permanent: failure.permanent }
    }

    fn into_failure(self) -> Result<Failure, Refusal> {
        let category = self.category.map_or_else(Fail::default_category, Ok)?;
        Ok(Failure { category, message: self.message, permanent: self.permanent })
    }
}

impl RecordStep {
    /// Makes the body of the call.
    pub fn of(args: RecordStepArgs) -> Self {
        let (content, failure) = outcome(args.outcome);
        with_fence!(
            RecordStep, args.fence,
            kind: Some(args.step.kind),
            name: args.step.name,
            key: args.step.key,
            started_at: args.started_at,
            result: content.json,
            result_base64: content.base64,
            content_type: content.content_type,
            failure: failure.map(Strict)
        )
    }

    /// Returns the arguments of the call about this execution.
    pub fn into_args(self, execution_id: ExecutionId) -> Result<RecordStepArgs, Refusal> {
        let fence = self.fence()?;
        let step = StepRef { kind: self.kind.unwrap_or(StepKind::Step), name: self.name, key: self.key };
        let content = Content { json: self.result, base64: self.result_base64, content_type: self.content_type };
        let outcome = match (content.into_payload("result")?, self.failure) {
            (Some(_), Some(_)) => return Err(Refusal::invalid("failure", "cannot be given together with a result")),
            (None, Some(Strict(failure))) => StepOutcome::Failed { failure: failure.into_failure()? },
            (result, None) => StepOutcome::Succeeded { result: result.unwrap_or_else(|| Payload::json("null")) },
        };
        Ok(RecordStepArgs { execution_id, fence, step, started_at: self.started_at, outcome })
    }
}

fn outcome(outcome: StepOutcome) -> (Content, Option<StepFailure>) {
    match outcome {
        StepOutcome::Succeeded { result } => (exact(&result), None),
        StepOutcome::Failed { failure } => (Content::default(), Some(StepFailure::of(failure))),
    }
}

/// Makes the most readable form of a payload that keeps every byte. JSON with space around it is base64, because the space
/// would be lost.
fn exact(payload: &Payload) -> Content {
    let is_tight = !payload.bytes.first().is_some_and(u8::is_ascii_whitespace)
        && !payload.bytes.last().is_some_and(u8::is_ascii_whitespace);
    Content::of(payload, if is_tight { Encoding::Json } else { Encoding::Base64 })
}

answers! {
    /// A recorded step.
    pub struct Step {
        /// Position in the order of recording.
        pub seq: u32,
        pub kind: StepKind,
        pub name: StepName,
        #[serde(default, skip_serializing_if = "StepKey::is_empty")]
        pub key: StepKey,
        /// The attempt that recorded it.
        pub attempt: AttemptIndex,
        pub started_at: TimestampMs,
        pub recorded_at: TimestampMs,
        #[serde(deserialize_with = "present")]
        pub result: Option<Box<RawValue>>,
        pub result_base64: Option<Base64>,
        pub content_type: Option<ContentType>,
        /// The failure, if it failed.
        pub failure: Option<StepFailure>,
    }
}

impl Step {
    pub fn of(step: ff_core::step::Step) -> Self {
        let (content, failure) = outcome(step.outcome);
        let StepRef { kind, name, key } = step.step;
        Self {
            seq: step.seq,
            kind,
            name,
            key,
            attempt: step.attempt,
            started_at: step.started_at,
            recorded_at: step.recorded_at,
            result: content.json,
            result_base64: content.base64,
            content_type: content.content_type,
            failure,
        }
    }

    pub fn into_step(self) -> Result<ff_core::step::Step, Refusal> {
        let content = Content { json: self.result, base64: self.result_base64, content_type: self.content_type };
        let outcome = match self.failure {
            Some(failure) => StepOutcome::Failed { failure: failure.into_failure()? },
            None => StepOutcome::Succeeded { result: content.into_payload("result")?.unwrap_or_default() },
        };
        Ok(ff_core::step::Step {
            seq: self.seq,
            step: StepRef { kind: self.kind, name: self.name, key: self.key },
            attempt: self.attempt,
            started_at: self.started_at,
            recorded_at: self.recorded_at,
            outcome,
        })
    }
}

answers! {
    /// Result of recording a step.
    pub struct RecordStepReply {
        pub seq: u32,
        /// True when a step of this kind, name and key was already recorded; nothing was written.
        pub duplicate: bool,
        /// The step recorded before, whose outcome counts.
        pub step: Option<Step>,
    }
}

impl From<contracts::StepRecorded> for RecordStepReply {
    fn from(recorded: contracts::StepRecorded) -> Self {
        Self { seq: recorded.seq, duplicate: recorded.duplicate, step: recorded.step.map(Step::of) }
    }
}

impl TryFrom<RecordStepReply> for contracts::StepRecorded {
    type Error = Refusal;

    fn try_from(reply: RecordStepReply) -> Result<Self, Refusal> {
        let step = reply.step.map(Step::into_step).transpose()?;
        Ok(Self { seq: reply.seq, duplicate: reply.duplicate, step })
    }
}

answers! {
    /// One page of recorded steps, in the order of recording.
    pub struct StepsPage {
        pub steps: Vec<Step>,
        /// The `after` of the next page; absent when there is none.
        pub next: Option<u32>,
    }
}

impl StepsPage {
    pub fn of(page: contracts::StepsPage) -> Self {
        Self { steps: page.steps.into_iter().map(Step::of).collect(), next: page.next }
    }

    pub fn into_page(self) -> Result<contracts::StepsPage, Refusal> {
        let steps = self.steps.into_iter().map(Step::into_step).collect::<Result<_, _>>()?;
        Ok(contracts::StepsPage { steps, next: self.next })
    }
}

requests! {
    /// Creates an execution from another one.
    pub struct Fork {
        /// Uuid of the new execution. A repeated call with the same uuid returns the same execution.
        pub uuid: Option<Uuid>,
        /// The first step not to copy; all steps are copied when absent.
        pub before_step: Option<StepPoint>,
    }
}

impl Fork {
    /// Makes the body of the call.
    pub fn of(args: ForkArgs) -> Self {
        Self { uuid: Some(args.uuid), before_step: args.before_step }
    }

    /// Returns the arguments of the call about this execution.
    pub fn into_args(self, execution_id: ExecutionId) -> Result<ForkArgs, Refusal> {
        let uuid = self.uuid.unwrap_or_else(new_execution_uuid);
        Ok(ForkArgs { execution_id, uuid, before_step: self.before_step })
    }
}

/// Maximum number of steps of a page.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct StepsLimit(pub usize);

impl Default for StepsLimit {
    fn default() -> Self {
        Self(limits::STEPS_PAGE)
    }
}

query! {
    /// Parameters of the list of steps.
    StepsQuery {
        /// Number of the last step of the previous page.
        after: u32,
        /// Maximum number of results.
        limit: StepsLimit,
    }
}

#[cfg(test)]
mod tests {
    use ff_core::engine_error::Code;
    use ff_core::json;

    use super::*;

    fn id() -> ExecutionId {
        ExecutionId::new(7, Uuid::from_u128(1))
    }

    fn args(outcome: StepOutcome) -> RecordStepArgs {
        let (lease_id, attempt_id) = (LeaseId::new(), AttemptId::new());
        let step = StepRef {
            kind: StepKind::Wait,
            name: StepName::parse("wait for it").unwrap(),
            key: StepKey::parse("1").unwrap(),
        };
        let fence = Fence { lease_id, lease_epoch: LeaseEpoch(3), attempt_id };
        RecordStepArgs { execution_id: id(), fence, step, started_at: Some(TimestampMs(5)), outcome }
    }

    fn outcomes() -> Vec<StepOutcome> {
        let failure = Failure { category: Kind::parse("io").unwrap(), message: "m".into(), permanent: true };
        let results =
            [Payload::json("{ \"a\": 1 }"), Payload::json(" 1\n"), Payload::bytes(vec![0, 200]), Payload::default()];
        let succeeded = results.into_iter().map(|result| StepOutcome::Succeeded { result });
        succeeded.chain([StepOutcome::Failed { failure }]).collect()
    }

    #[test]
    fn step_calls_and_records_survive_a_round_trip() {
        for outcome in outcomes() {
            let call = args(outcome.clone());
            let text = serde_json::to_vec(&RecordStep::of(call.clone())).unwrap();
            assert_eq!(json::read::<RecordStep>(&text).unwrap().into_args(id()), Ok(call.clone()));
            let step = ff_core::step::Step {
                seq: 9,
                step: call.step,
                attempt: AttemptIndex(2),
                started_at: TimestampMs(5),
                recorded_at: TimestampMs(6),
                outcome,
            };
            let page = contracts::StepsPage { steps: vec![step.clone()], next: Some(9) };
            let text = serde_json::to_string(&StepsPage::of(page.clone())).unwrap();
            assert_eq!(serde_json::from_str::<StepsPage>(&text).unwrap().into_page(), Ok(page));
            let recorded = contracts::StepRecorded { seq: 9, duplicate: true, step: Some(step) };
            let text = serde_json::to_string(&RecordStepReply::from(recorded.clone())).unwrap();
            assert_eq!(serde_json::from_str::<RecordStepReply>(&text).unwrap().try_into(), Ok(recorded));
        }
    }

    #[test]
    fn a_step_with_neither_result_nor_failure_has_the_result_null_and_with_both_is_refused() {
        let read = |more: &str| {
            let fence = args(outcomes().remove(0)).fence;
            let mut body = serde_json::to_value(fence).unwrap();
            let more: serde_json::Value = serde_json::from_str(more).unwrap();
            more.as_object().unwrap().iter().for_each(|(name, value)| body[name] = value.clone());
            json::read::<RecordStep>(body.to_string().as_bytes())?.into_args(id())
        };
        let plain = read(r#"{"name":"a"}"#).unwrap();
        assert_eq!(plain.outcome, StepOutcome::Succeeded { result: Payload::json("null") });
        assert_eq!((plain.step.kind, plain.step.key.as_str()), (StepKind::Step, ""));
        let both = read(r#"{"name":"a","result":1,"failure":{"message":"m"}}"#).unwrap_err();
        assert_eq!((both.code, both.field.as_deref()), (Code::InvalidInput, Some("failure")));
        for (wrong, field) in [
            (r#"{"name":""}"#, "name"),
            (r#"{"name":"a","kind":"task"}"#, "kind"),
            (r#"{"name":"a","key":"\u0007"}"#, "key"),
            (r#"{"name":"a","failure":{"message":5}}"#, "failure.message"),
        ] {
            let refusal = read(wrong).unwrap_err();
            assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidInput, Some(field)), "{refusal}");
        }
    }
}
