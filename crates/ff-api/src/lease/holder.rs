//! The calls of the holder of a lease. The body of every call contains the three fields of the fence and its own fields.

use ff_core::budget::Amounts;
use ff_core::contracts::{CompleteArgs, DelayArgs, FailArgs, ProgressArgs, RenewArgs, ReportUsageArgs};
use ff_core::engine_error::Refusal;
use ff_core::execution::Failure;
use ff_core::lease::Fence;
use ff_core::types::{AttemptId, ContentType, ExecutionId, IdempotencyKey, Kind, LeaseEpoch, LeaseId, TimestampMs};
use serde_json::value::RawValue;

use crate::content::present;
use crate::execution::start;
use crate::{Base64, Content, Encoding};

holder_calls! {
    /// Renews the lease.
    pub struct Renew {
        pub lease_ttl_ms: Option<u64>,
    }

    /// Reports the progress of the running attempt.
    pub struct Progress {
        pub percent: Option<u8>,
        pub message: Option<String>,
    }

    /// Reports the usage since the last report.
    pub struct ReportUsage {
        /// Id of the report. A report sent again with the same id counts once.
        pub report_id: IdempotencyKey,
        /// By dimension: `tokens`, `usd_micros`, `calls`, `seconds` or any other name.
        pub amounts: Amounts,
    }

    /// Completes an execution with a result.
    pub struct Complete {
        #[serde(deserialize_with = "present")]
        pub result: Option<Box<RawValue>>,
        pub result_base64: Option<Base64>,
        pub content_type: Option<ContentType>,
    }

    /// Fails the running attempt.
    pub struct Fail {
        /// Default: `error`.
        pub category: Option<Kind>,
        pub message: String,
        #[serde(default)]
        pub permanent: bool,
    }

    /// Delays an execution; the same attempt continues later.
    pub struct Delay {
        pub delay_ms: Option<u64>,
        pub start_at: Option<TimestampMs>,
    }
}

impl Renew {
    pub fn of(args: RenewArgs) -> Self {
        with_fence!(Renew, args.fence, lease_ttl_ms: args.lease_ttl_ms)
    }

    pub fn into_args(self, execution_id: ExecutionId) -> Result<RenewArgs, Refusal> {
        Ok(RenewArgs { execution_id, fence: self.fence()?, lease_ttl_ms: self.lease_ttl_ms })
    }
}

impl Progress {
    pub fn of(args: ProgressArgs) -> Self {
        with_fence!(Progress, args.fence, percent: args.percent, message: args.message)
    }

    pub fn into_args(self, execution_id: ExecutionId) -> Result<ProgressArgs, Refusal> {
        Ok(ProgressArgs { execution_id, fence: self.fence()?, percent: self.percent, message: self.message })
    }
}

impl ReportUsage {
    pub fn of(args: ReportUsageArgs) -> Self {
        with_fence!(ReportUsage, args.fence, report_id: args.report_id, amounts: args.amounts)
    }

    pub fn into_args(self, execution_id: ExecutionId) -> Result<ReportUsageArgs, Refusal> {
        Ok(ReportUsageArgs { execution_id, fence: self.fence()?, report_id: self.report_id, amounts: self.amounts })
    }
}

impl Complete {
    pub fn of(args: CompleteArgs) -> Self {
        let content = args.result.map(|result| Content::of(&result, Encoding::Base64)).unwrap_or_default();
        with_fence!(
            Complete, args.fence,
            result: content.json,
            result_base64: content.base64,
            content_type: content.content_type
        )
    }

    pub fn into_args(self, execution_id: ExecutionId) -> Result<CompleteArgs, Refusal> {
        let fence = self.fence()?;
        let content = Content { json: self.result, base64: self.result_base64, content_type: self.content_type };
        Ok(CompleteArgs { execution_id, fence, result: content.into_payload("result")? })
    }
}

impl Fail {
    /// Returns the default category of a failure.
    pub(crate) fn default_category() -> Result<Kind, Refusal> {
        Kind::parse("error").map_err(|error| Refusal::invalid("category", error))
    }

    pub fn of(args: FailArgs) -> Self {
        let Failure { category, message, permanent } = args.failure;
        with_fence!(Fail, args.fence, category: Some(category), message: message, permanent: permanent)
    }

    pub fn into_args(self, execution_id: ExecutionId) -> Result<FailArgs, Refusal> {
        let fence = self.fence()?;
        let category = self.category.map_or_else(Self::default_category, Ok)?;
        let failure = Failure { category, message: self.message, permanent: self.permanent };
        Ok(FailArgs { execution_id, fence, failure })
    }
}

impl Delay {
    pub fn of(args: DelayArgs) -> Self {
        let (delay_ms, start_at) = start::write(args.start);
        with_fence!(Delay, args.fence, delay_ms: delay_ms, start_at: start_at)
    }

    pub fn into_args(self, execution_id: ExecutionId) -> Result<DelayArgs, Refusal> {
        let fence = self.fence()?;
        Ok(DelayArgs { execution_id, fence, start: start::read(self.delay_ms, self.start_at)? })
    }
}

/// Defines one type of call per row. Each field of the fence is optional on the wire, so that a call without a fence and a
/// call with a part of a fence are refused differently.
macro_rules! holder_calls {
    ($($(#[$doc:meta])* pub struct $name:ident { $($fields:tt)* })*) => {$(
        crate::object::fields! {
            [$(#[$doc])* #[serde(deny_unknown_fields)] pub struct $name]
            [
                #[serde(default)]
                pub lease_id: Option<LeaseId>,
                #[serde(default)]
                pub lease_epoch: Option<LeaseEpoch>,
                #[serde(default)]
                pub attempt_id: Option<AttemptId>,
            ]
            $($fields)*
        }

        impl $name {
            fn fence(&self) -> Result<Fence, Refusal> {
                Fence::from_parts(self.lease_id, self.lease_epoch, self.attempt_id)
            }
        }
    )*};
}
pub(crate) use holder_calls;

/// Makes a call of the holder of `fence`: the three fields of the fence, and the fields of the call.
macro_rules! with_fence {
    ($name:ident, $fence:expr, $($field:ident: $value:expr),*) => {{
        let Fence { lease_id, lease_epoch, attempt_id } = $fence;
        $name {
            lease_id: Some(lease_id),
            lease_epoch: Some(lease_epoch),
            attempt_id: Some(attempt_id),
            $($field: $value),*
        }
    }};
}
pub(crate) use with_fence;

#[cfg(test)]
mod tests {
    use ff_core::contracts::Start;
    use ff_core::engine_error::Code;
    use ff_core::json;
    use ff_core::payload::Payload;
    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use super::*;

    fn id() -> ExecutionId {
        ExecutionId::new(7, uuid::Uuid::from_u128(1))
    }

    fn fence() -> Fence {
        let (lease_id, attempt_id) = (LeaseId::from_uuid(uuid::Uuid::from_u128(2)), AttemptId::new());
        Fence { lease_id, lease_epoch: LeaseEpoch(3), attempt_id }
    }

    fn travelled<T: Serialize + DeserializeOwned>(call: &T) -> T {
        json::read(&serde_json::to_vec(call).unwrap()).unwrap()
    }

    #[test]
    fn a_holders_call_arrives_as_it_was_sent() {
        let fence = fence();
        let renew = RenewArgs { execution_id: id(), fence, lease_ttl_ms: Some(5_000) };
        assert_eq!(travelled(&Renew::of(renew.clone())).into_args(id()), Ok(renew));
        let progress = ProgressArgs { execution_id: id(), fence, percent: Some(3), message: Some("m".into()) };
        assert_eq!(travelled(&Progress::of(progress.clone())).into_args(id()), Ok(progress));
        for result in [None, Some(Payload::json("{ }")), Some(Payload::bytes(vec![0, 200]))] {
            let complete = CompleteArgs { execution_id: id(), fence, result };
            assert_eq!(travelled(&Complete::of(complete.clone())).into_args(id()), Ok(complete));
        }
        let failure = Failure { category: Kind::parse("io").unwrap(), message: "m".into(), permanent: true };
        let fail = FailArgs { execution_id: id(), fence, failure };
        assert_eq!(travelled(&Fail::of(fail.clone())).into_args(id()), Ok(fail));
        let delay = DelayArgs { execution_id: id(), fence, start: Start::After(9) };
        assert_eq!(travelled(&Delay::of(delay.clone())).into_args(id()), Ok(delay));
    }

    #[test]
    fn a_missing_fence_and_a_partial_fence_have_their_own_codes() {
        let code = |text: &str| json::read::<Renew>(text.as_bytes()).unwrap().into_args(id()).unwrap_err().code;
        assert_eq!(code("{}"), Code::FenceRequired);
        assert_eq!(code("{\"lease_epoch\":1}"), Code::PartialFenceTriple);
    }

    #[test]
    fn a_failure_of_no_category_is_an_error() {
        let fence = serde_json::to_value(fence()).unwrap();
        let mut call = fence;
        call["message"] = "m".into();
        let fail = json::read::<Fail>(call.to_string().as_bytes()).unwrap().into_args(id()).unwrap();
        assert_eq!(fail.failure.category.as_str(), "error");
        assert!(!fail.failure.permanent);
    }
}
