//! Suspensions on the wire: the holder suspends its execution, or creates a waitpoint in advance.

use ff_core::contracts::{
    CreateWaitpointArgs, SuspendArgs, SuspendedExecution, Timeout, WaitpointBinding, check_message,
};
use ff_core::engine_error::Refusal;
use ff_core::lease::Fence;
use ff_core::limits;
use ff_core::suspension::{Condition, ResumePolicy, SignalSelection, SuspendReason, SuspendedBy, TimeoutBehavior};
use ff_core::types::{
    AttemptId, ExecutionId, IdempotencyKey, LeaseEpoch, LeaseId, TimestampMs, WaitpointId, WaitpointKey,
};
use serde_json::value::{RawValue, to_raw_value};

use crate::lease::holder::{holder_calls, with_fence};
use crate::object::{Strict, answers, requests, word};
use crate::suspension::condition;

holder_calls! {
    /// Suspends an execution until its condition is met.
    pub struct Suspend {
        /// At least one, unless `approval` is given.
        #[serde(default)]
        pub waitpoints: Vec<Strict<Binding>>,
        /// Wait for the approval of a person instead of a condition.
        pub approval: Option<Strict<Approval>>,
        /// Default: any signal at the only waitpoint.
        pub condition: Option<Box<RawValue>>,
        #[serde(deserialize_with = "word")]
        pub reason: Option<SuspendReason>,
        #[serde(deserialize_with = "word")]
        pub requested_by: Option<SuspendedBy>,
        pub timeout_in_ms: Option<u64>,
        pub timeout_at: Option<TimestampMs>,
        #[serde(deserialize_with = "word")]
        pub timeout_behavior: Option<TimeoutBehavior>,
        /// An invalid policy has its own error code.
        pub resume_policy: Option<Box<RawValue>>,
        pub continuation: Option<String>,
        pub idempotency_key: Option<IdempotencyKey>,
        pub dedup_ttl_ms: Option<u64>,
    }

    /// Creates a waitpoint before a suspension.
    pub struct CreateWaitpoint {
        pub key: WaitpointKey,
        pub expires_in_ms: Option<u64>,
    }
}

requests! {
    /// A waitpoint to wait on: a new one by `key`, or an existing one by `key` and `id`.
    pub struct Binding {
        pub key: WaitpointKey,
        pub id: Option<WaitpointId>,
    }

    /// A question for a person.
    pub struct Approval {
        /// Shown with the execution and on the approval page.
        pub question: String,
    }
}

/// Key of an approval's waitpoint when the request has no waitpoints.
const APPROVAL_KEY: &str = "approval";

answers! {
    /// Result of a suspension, with the approval link.
    pub struct SuspendReply {
        #[serde(flatten)]
        pub suspended: SuspendedExecution,
        /// Link to the approval page, if an approval was requested. It contains the waitpoint's token.
        pub approval_url: Option<String>,
    }
}

impl From<WaitpointBinding> for Binding {
    fn from(binding: WaitpointBinding) -> Self {
        match binding {
            WaitpointBinding::Fresh { key } => Self { key, id: None },
            WaitpointBinding::Pending { id, key } => Self { key, id: Some(id) },
        }
    }
}

impl From<Binding> for WaitpointBinding {
    fn from(Binding { key, id }: Binding) -> Self {
        match id {
            Some(id) => Self::Pending { id, key },
            None => Self::Fresh { key },
        }
    }
}

impl Suspend {
    pub fn of(args: SuspendArgs) -> Result<Self, serde_json::Error> {
        let (timeout_in_ms, timeout_at) = match args.timeout {
            None => (None, None),
            Some(Timeout::After(ms)) => (Some(ms), None),
            Some(Timeout::At(at)) => (None, Some(at)),
        };
        let policy = (!args.resume_policy.is_default()).then(|| to_raw_value(&args.resume_policy)).transpose()?;
        Ok(with_fence!(
            Suspend, args.fence,
            waitpoints: args.waitpoints.into_iter().map(|binding| Strict(binding.into())).collect(),
            approval: None,
            condition: Some(to_raw_value(&args.condition)?),
            reason: Some(args.reason),
            requested_by: Some(args.requested_by),
            timeout_in_ms: timeout_in_ms,
            timeout_at: timeout_at,
            timeout_behavior: Some(args.timeout_behavior),
            resume_policy: policy,
            continuation: args.continuation,
            idempotency_key: args.idempotency_key,
            dedup_ttl_ms: Some(args.dedup_ttl_ms)
        ))
    }

    pub fn into_args(self, execution_id: ExecutionId) -> Result<SuspendArgs, Refusal> {
        let fence = self.fence()?;
        let mut waitpoints: Vec<WaitpointBinding> = self.waitpoints.into_iter().map(|Strict(one)| one.into()).collect();
        let asks = self.approval.is_some();
        if let Some(Strict(approval)) = &self.approval {
            approval.check(&mut waitpoints)?;
        }
        let condition = match (self.condition, &waitpoints[..]) {
            (Some(_), _) if asks => {
                return Err(Refusal::invalid("condition", "cannot be given together with approval"));
            }
            (None, [only, ..]) if asks => Condition::approval(only.key()),
            (Some(json), _) => condition::read(&json)?,
            (None, [only]) => Condition::Signal { waitpoint: only.key().clone(), name: None },
            (None, []) => {
                return Err(Refusal::invalid("waitpoints", "must name at least one, unless there is an approval"));
            }
            (None, _) => return Err(Refusal::invalid("condition", "is required beside several waitpoints")),
        };
        let (reason, resume_policy) = match asks {
            // All answers are handed over, so that the handler can find the first of several that arrived early.
            true => (
                SuspendReason::WaitingForApproval,
                ResumePolicy { signals: SignalSelection::All, ..ResumePolicy::default() },
            ),
            false => (SuspendReason::WaitingForSignal, ResumePolicy::default()),
        };
        let timeout = match (self.timeout_in_ms, self.timeout_at) {
            (Some(_), Some(_)) => {
                return Err(Refusal::invalid("timeout_at", "cannot be given together with timeout_in_ms"));
            }
            (Some(ms), None) => Some(Timeout::After(ms)),
            (None, at) => at.map(Timeout::At),
        };
        let policy = |json: Box<RawValue>| condition::read_policy(&json);
        Ok(SuspendArgs {
            execution_id,
            fence,
            waitpoints,
            condition,
            reason: self.reason.unwrap_or(reason),
            requested_by: self.requested_by.unwrap_or(SuspendedBy::Worker),
            timeout,
            timeout_behavior: self.timeout_behavior.unwrap_or(TimeoutBehavior::Fail),
            resume_policy: self.resume_policy.map_or_else(|| Ok(resume_policy), policy)?,
            continuation: self.continuation,
            idempotency_key: self.idempotency_key,
            dedup_ttl_ms: self.dedup_ttl_ms.unwrap_or(limits::SUSPEND_DEDUP_MS),
        })
    }
}

impl Approval {
    /// Refuses a question that cannot be shown and more than one waitpoint. Adds a waitpoint if there is none.
    fn check(&self, waitpoints: &mut Vec<WaitpointBinding>) -> Result<(), Refusal> {
        if self.question.trim().is_empty() {
            return Err(Refusal::invalid("approval.question", "must not be empty"));
        }
        check_message("approval.question", Some(&self.question))?;
        match waitpoints.len() {
            0 => {
                let key = WaitpointKey::parse(APPROVAL_KEY)
                    .map_err(|error| Refusal::invalid("waitpoints", error.to_string()))?;
                waitpoints.push(WaitpointBinding::Fresh { key });
                Ok(())
            }
            1 => Ok(()),
            _ => Err(Refusal::invalid("waitpoints", "must be at most one beside an approval")),
        }
    }
}

impl CreateWaitpoint {
    pub fn of(args: CreateWaitpointArgs) -> Self {
        with_fence!(CreateWaitpoint, args.fence, key: args.key, expires_in_ms: Some(args.expires_in_ms))
    }

    pub fn into_args(self, execution_id: ExecutionId) -> Result<CreateWaitpointArgs, Refusal> {
        let fence = self.fence()?;
        let expires_in_ms = self.expires_in_ms.unwrap_or(limits::PENDING_WAITPOINT_MS);
        Ok(CreateWaitpointArgs { execution_id, fence, key: self.key, expires_in_ms })
    }
}

#[cfg(test)]
mod tests {
    use ff_core::engine_error::Code;
    use ff_core::json;
    use ff_core::suspension::Distinct;

    use super::*;

    fn id() -> ExecutionId {
        ExecutionId::new(7, uuid::Uuid::from_u128(1))
    }

    fn fence() -> Fence {
        Fence { lease_id: LeaseId::new(), lease_epoch: LeaseEpoch(3), attempt_id: AttemptId::new() }
    }

    fn key(text: &str) -> WaitpointKey {
        WaitpointKey::parse(text).unwrap()
    }

    fn full() -> SuspendArgs {
        let keys = [key("ada"), key("bob")];
        SuspendArgs {
            waitpoints: vec![
                WaitpointBinding::Fresh { key: keys[0].clone() },
                WaitpointBinding::Pending { id: WaitpointId::new(), key: keys[1].clone() },
            ],
            condition: Condition::Count { n: 2, of: Distinct::Waitpoints, waitpoints: keys.to_vec(), name: None },
            reason: SuspendReason::WaitingForApproval,
            timeout: Some(Timeout::At(TimestampMs(9))),
            timeout_behavior: TimeoutBehavior::Escalate,
            resume_policy: ResumePolicy { resume_delay_ms: 5, signals: SignalSelection::All },
            continuation: Some("page 7".into()),
            idempotency_key: Some(IdempotencyKey::parse("once").unwrap()),
            dedup_ttl_ms: 7,
            ..SuspendArgs::new(id(), fence(), key("unused"))
        }
    }

    #[test]
    fn a_suspension_arrives_as_it_was_sent() {
        let after = SuspendArgs { timeout: Some(Timeout::After(4)), ..full() };
        for args in [full(), after, SuspendArgs::new(id(), fence(), key("a"))] {
            let text = serde_json::to_vec(&Suspend::of(args.clone()).unwrap()).unwrap();
            assert_eq!(json::read::<Suspend>(&text).and_then(|call| call.into_args(id())), Ok(args));
        }
        let ahead = CreateWaitpointArgs { execution_id: id(), fence: fence(), key: key("a"), expires_in_ms: 8 };
        let text = serde_json::to_vec(&CreateWaitpoint::of(ahead.clone())).unwrap();
        assert_eq!(json::read::<CreateWaitpoint>(&text).and_then(|call| call.into_args(id())), Ok(ahead));
    }

    fn read(fields: &str) -> Result<SuspendArgs, Refusal> {
        let fence = fence();
        let text = format!(
            r#"{{"lease_id":"{}","lease_epoch":3,"attempt_id":"{}",{fields}}}"#,
            fence.lease_id, fence.attempt_id
        );
        json::read::<Suspend>(text.as_bytes())?.into_args(id())
    }

    #[test]
    fn a_wait_needs_to_say_where_and_no_more() {
        let args = read(r#""waitpoints":[{"key":"paid"}]"#).unwrap();
        assert_eq!(args.condition, Condition::Signal { waitpoint: key("paid"), name: None });
        assert_eq!((args.timeout, args.timeout_behavior), (None, TimeoutBehavior::Fail));
    }

    #[test]
    fn an_approval_waits_for_a_yes_or_a_no() {
        let args = read(r#""approval":{"question":"Deploy?"}"#).unwrap();
        assert_eq!(args.waitpoints, [WaitpointBinding::Fresh { key: key("approval") }]);
        assert_eq!(args.condition, Condition::approval(&key("approval")));
        assert_eq!(
            (args.reason, args.resume_policy.signals),
            (SuspendReason::WaitingForApproval, SignalSelection::All)
        );
        let named = read(r#""approval":{"question":"Deploy?"},"waitpoints":[{"key":"deploy"}],"timeout_in_ms":5"#);
        let named = named.unwrap();
        assert_eq!((named.condition, named.timeout), (Condition::approval(&key("deploy")), Some(Timeout::After(5))));
    }

    #[test]
    fn an_invalid_suspension_is_refused_with_its_full_path() {
        for (fields, code, field) in [
            (r#""waitpoints":[]"#, Code::InvalidInput, "waitpoints"),
            (r#""reason":"step_boundary""#, Code::InvalidInput, "waitpoints"),
            (r#""approval":{}"#, Code::InvalidInput, "approval.question"),
            (r#""approval":{"question":" "}"#, Code::InvalidInput, "approval.question"),
            (r#""approval":{"question":"?","who":"ada"}"#, Code::UnknownField, "approval.who"),
            (r#""approval":{"question":"?"},"condition":{"type":"operator_only"}"#, Code::InvalidInput, "condition"),
            (r#""approval":{"question":"?"},"waitpoints":[{"key":"a"},{"key":"b"}]"#, Code::InvalidInput, "waitpoints"),
            (r#""waitpoints":[["a"]]"#, Code::InvalidInput, "waitpoints[0]"),
            (r#""waitpoints":[{"key":"a","kee":1}]"#, Code::UnknownField, "waitpoints[0].kee"),
            (r#""waitpoints":[{"key":"a"},{"key":"b"}]"#, Code::InvalidInput, "condition"),
            (r#""waitpoints":[{"key":"a"}],"timeout_in_ms":1,"timeout_at":1"#, Code::InvalidInput, "timeout_at"),
            (r#""waitpoints":[{"key":"a"}],"reason":5"#, Code::InvalidInput, "reason"),
            (r#""waitpoints":[{"key":"a"}],"reason":"""#, Code::InvalidInput, "reason"),
            (r#""waitpoints":[{"key":"a"}],"condition":[]"#, Code::InvalidInput, "condition"),
            (r#""waitpoints":[{"key":"a"}],"resume_policy":[1]"#, Code::InvalidPolicyJson, "resume_policy"),
        ] {
            let refusal = read(fields).unwrap_err();
            assert_eq!((refusal.code, refusal.field.as_deref()), (code, Some(field)), "{fields}");
        }
    }
}
