//! Submitting on the wire: one piece of work, or many.

use std::collections::BTreeMap;

use ff_core::contracts::{SubmitArgs, SubmittedExecution};
use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::execution::Tags;
use ff_core::json;
use ff_core::policy::Policy;
use ff_core::singleton::{Debounce, KeyRule, Singleton};
use ff_core::types::{
    ContentType, IdempotencyKey, Kind, LaneId, Namespace, Priority, TagKey, TagValue, TimestampMs, draw_execution_uuid,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::content::present;
use crate::execution::start;
use crate::{Base64, Content, Encoding, Problem, Strict, Trace, trace};

/// A new piece of work.
///
/// Without `payload` and `payload_base64` the payload is empty, of type `application/octet-stream`; `null` is a payload.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Submit {
    pub kind: Kind,
    /// Any JSON, kept byte for byte.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub payload: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_base64: Option<Base64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<ContentType>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<LaneId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, TagValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_at: Option<TimestampMs>,
    /// At most one execution of a key runs; says what becomes of this one while another lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub singleton: Option<Strict<Singleton>>,
    /// It starts a while after the last submission of a key; one that has not started takes this payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debounce: Option<Strict<Debounce>>,
    /// Read on its own, because what is wrong in a policy has a code of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Policy>"))]
    pub policy: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<IdempotencyKey>,
    /// The submitter's own, so that it can send the same submission again; made by the server when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<Uuid>,
    /// The submitter's trace, in place of the one its headers name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Strict<Trace>>,
}

impl Submit {
    /// A submission whose bytes arrive exactly and which can be repeated.
    pub fn of(args: SubmitArgs) -> Result<Self, serde_json::Error> {
        let content = Content::of(&args.payload, Encoding::Base64);
        let (delay_ms, start_at) = start::write(args.start);
        let policy = (!args.policy.is_default()).then(|| serde_json::value::to_raw_value(&args.policy)).transpose()?;
        let (singleton, debounce) = KeyRule::parts(args.key_rule.as_deref());
        Ok(Self {
            kind: args.kind,
            payload: content.json,
            payload_base64: content.base64,
            content_type: content.content_type,
            namespace: Some(args.namespace),
            lane: Some(args.lane),
            priority: Some(args.priority),
            tags: args.tags.into_iter().map(|(key, value)| (key.to_string(), value)).collect(),
            delay_ms,
            start_at,
            singleton: singleton.map(Strict),
            debounce: debounce.map(Strict),
            policy,
            idempotency_key: args.idempotency_key,
            uuid: Some(args.uuid),
            trace: trace::sent(args.trace.as_deref()),
        })
    }

    pub fn into_args(self) -> Result<SubmitArgs, Refusal> {
        let content = Content { json: self.payload, base64: self.payload_base64, content_type: self.content_type };
        Ok(SubmitArgs {
            uuid: self.uuid.unwrap_or_else(draw_execution_uuid),
            namespace: self.namespace.unwrap_or_else(Namespace::default_name),
            lane: self.lane.unwrap_or_else(LaneId::default_name),
            kind: self.kind,
            payload: content.into_payload("payload")?.unwrap_or_default(),
            priority: self.priority.unwrap_or_default(),
            tags: tags(self.tags)?,
            idempotency_key: self.idempotency_key,
            start: start::read(self.delay_ms, self.start_at)?,
            key_rule: KeyRule::of(self.singleton.map(|sent| sent.0), self.debounce.map(|sent| sent.0))?,
            policy: self.policy.map_or_else(|| Ok(Policy::default()), |json| policy(&json))?,
            trace: trace::read(self.trace)?,
        })
    }
}

pub(crate) fn tags(sent: BTreeMap<String, TagValue>) -> Result<Tags, Refusal> {
    let read = |(key, value): (String, TagValue)| match TagKey::parse(&key) {
        Ok(key) => Ok((key, value)),
        Err(error) => Err(Code::InvalidTagKey.refusal().at("tags").because(format!("has the key {key:?}: {error}"))),
    };
    sent.into_iter().map(read).collect()
}

pub(crate) fn policy(json: &RawValue) -> Result<Policy, Refusal> {
    let text = json.get().as_bytes();
    objects_only(text).and_then(|()| Policy::parse(text)).map_err(|refusal| {
        let field = refusal.field.as_ref().map_or_else(|| "policy".to_owned(), |field| format!("policy.{field}"));
        refusal.at(field)
    })
}

/// Refuses a list where a part of a policy is meant: it would be read as the part's fields in their order.
fn objects_only(text: &[u8]) -> Result<(), Refusal> {
    const PARTS: [&str; 4] = ["", "/retry_policy", "/retry_policy/backoff", "/timeout_policy"];
    if !text.contains(&b'[') {
        return Ok(()); // Most policies have no list at all.
    }
    let policy: serde_json::Value = json::read(text)?;
    match PARTS.iter().find(|part| policy.pointer(part).is_some_and(serde_json::Value::is_array)) {
        None => Ok(()),
        Some(part) => {
            let refusal = Code::InvalidPolicyJson.refusal().because("must be an object");
            Err(if part.is_empty() { refusal } else { refusal.at(part[1..].replace('/', ".")) })
        }
    }
}

/// Up to a thousand pieces of work. Each is read on its own, so that one that is wrong does not hold back the others.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Batch {
    pub executions: Vec<Box<RawValue>>,
}

/// What became of each, in the order they were sent.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BatchReply {
    pub results: Vec<BatchItem>,
}

/// What became of one, with the status it would have had on its own.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BatchItem {
    pub status: u16,
    #[serde(flatten)]
    pub outcome: TriedOutcome,
}

/// It is there, or it was refused.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum TriedOutcome {
    /// New, or there already.
    Submitted(SubmittedExecution),
    /// Why it is not there.
    Refused { error: Problem },
}

impl From<Result<SubmittedExecution, EngineError>> for BatchItem {
    fn from(answer: Result<SubmittedExecution, EngineError>) -> Self {
        match answer {
            Ok(submitted) => {
                let status = if submitted.duplicate { 200 } else { 201 };
                Self { status, outcome: TriedOutcome::Submitted(submitted) }
            }
            Err(error) => {
                let error = Problem::from(error);
                Self { status: error.status, outcome: TriedOutcome::Refused { error } }
            }
        }
    }
}

impl From<BatchItem> for Result<SubmittedExecution, EngineError> {
    fn from(tried: BatchItem) -> Self {
        match tried.outcome {
            TriedOutcome::Submitted(submitted) => Ok(submitted),
            TriedOutcome::Refused { error } => Err(error.into_error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::Start;
    use ff_core::payload::Payload;
    use ff_core::trace::TraceContext;
    use ff_core::types::ExecutionId;

    use super::*;

    fn full() -> SubmitArgs {
        let mut args = SubmitArgs::new(Kind::parse("resize").unwrap(), Payload::bytes(vec![0, 255, 7]));
        args.lane = LaneId::parse("images").unwrap();
        args.namespace = Namespace::parse("acme").unwrap();
        args.priority = Priority::new(7).unwrap();
        args.tags.insert(TagKey::parse("customer").unwrap(), TagValue::parse("für Zoë").unwrap());
        args.idempotency_key = Some(IdempotencyKey::parse("order 17").unwrap());
        args.start = Start::After(5);
        args.policy.max_reclaim_count = 3;
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        args.trace = TraceContext::parse(parent, Some("congo=1")).ok().map(Box::new);
        args
    }

    #[test]
    fn a_submission_arrives_as_it_was_sent() {
        for args in [full(), SubmitArgs::new(Kind::parse("k").unwrap(), Payload::json("null"))] {
            let text = serde_json::to_vec(&Submit::of(args.clone()).unwrap()).unwrap();
            assert_eq!(json::read::<Submit>(&text).and_then(Submit::into_args), Ok(args));
        }
    }

    fn read(text: &str) -> Result<SubmitArgs, Refusal> {
        json::read::<Submit>(text.as_bytes()).and_then(Submit::into_args)
    }

    #[test]
    fn json_is_kept_byte_for_byte() {
        for text in
            ["null", "{ \"a\" : [1,  2] }", "12345678901234567890123", "{\"k\":1,\"k\":2}", "1.0", "\"\\u00e9\""]
        {
            let args = read(&format!("{{\"kind\":\"k\",\"payload\": {text} }}")).unwrap();
            assert_eq!(args.payload, Payload::json(text.to_owned()));
        }
    }

    #[test]
    fn no_payload_is_no_bytes() {
        assert_eq!(read("{\"kind\":\"k\"}").unwrap().payload, Payload::default());
    }

    #[test]
    fn what_is_wrong_in_a_policy_is_named_from_the_top() {
        for (policy, field) in [
            ("{\"retry_policy\":{\"max_retry\":1}}", "policy.retry_policy.max_retry"),
            ("{\"max_reclaim_count\":1000001}", "policy.max_reclaim_count"),
            ("5", "policy"),
            ("[]", "policy"),
            ("{\"retry_policy\":{\"backoff\":[\"fixed\",5]}}", "policy.retry_policy.backoff"),
        ] {
            let refusal = read(&format!("{{\"kind\":\"k\",\"policy\":{policy}}}")).unwrap_err();
            assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidPolicyJson, Some(field)));
        }
    }

    #[test]
    fn each_of_a_batch_has_its_own_outcome() {
        let submitted = SubmittedExecution {
            execution_id: ExecutionId::new(3, Uuid::from_u128(9)),
            public_state: ff_core::state::PublicState::Waiting,
            duplicate: true,
            conflict: None,
        };
        let refused = EngineError::Refused(Refusal::invalid("kind", "is required"));
        for answer in [Ok(submitted), Err(refused)] {
            let text = serde_json::to_string(&BatchItem::from(answer.clone())).unwrap();
            let tried: BatchItem = serde_json::from_str(&text).unwrap();
            assert_eq!(Result::from(tried), answer, "{text}");
        }
    }
}
