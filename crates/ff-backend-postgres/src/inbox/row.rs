//! The submission in a row of the inbox, without its payload.

use ff_core::contracts::{Start, SubmitArgs};
use ff_core::execution::Tags;
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::singleton::{Debounce, KeyRule, Singleton};
use ff_core::trace::TraceContext;
use ff_core::types::{IdempotencyKey, Kind, LaneId, Namespace, Priority, TimestampMs};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A submission without its payload.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InboxRow {
    uuid: Uuid,
    namespace: Namespace,
    lane: LaneId,
    kind: Kind,
    priority: Priority,
    tags: Tags,
    idempotency_key: Option<IdempotencyKey>,
    delay_ms: Option<u64>,
    start_at: Option<TimestampMs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    singleton: Option<Singleton>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    debounce: Option<Debounce>,
    policy: Policy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trace: Option<Box<TraceContext>>,
}

impl InboxRow {
    pub(super) fn of(work: &SubmitArgs) -> Self {
        let (delay_ms, start_at) = match work.start {
            Start::Now => (None, None),
            Start::After(ms) => (Some(ms), None),
            Start::At(at) => (None, Some(at)),
        };
        let (singleton, debounce) = KeyRule::parts(work.key_rule.as_deref());
        Self {
            uuid: work.uuid,
            namespace: work.namespace.clone(),
            lane: work.lane.clone(),
            kind: work.kind.clone(),
            priority: work.priority,
            tags: work.tags.clone(),
            idempotency_key: work.idempotency_key.clone(),
            delay_ms,
            start_at,
            singleton,
            debounce,
            policy: work.policy.clone(),
            trace: work.trace.clone(),
        }
    }

    pub(super) fn with(self, payload: Payload) -> SubmitArgs {
        let start = match (self.delay_ms, self.start_at) {
            (Some(ms), _) => Start::After(ms),
            (None, Some(at)) => Start::At(at),
            (None, None) => Start::Now,
        };
        // A row has at most one of the two, because it was written from a submission.
        let singleton = self.singleton.map(KeyRule::Singleton);
        let key_rule = singleton.or(self.debounce.map(KeyRule::Debounce)).map(Box::new);
        SubmitArgs {
            uuid: self.uuid,
            namespace: self.namespace,
            lane: self.lane,
            kind: self.kind,
            payload,
            priority: self.priority,
            tags: self.tags,
            idempotency_key: self.idempotency_key,
            start,
            key_rule,
            policy: self.policy,
            trace: self.trace,
        }
    }
}

#[cfg(test)]
mod tests {
    use ff_core::types::{TagKey, TagValue};

    use super::*;

    #[test]
    fn work_is_taken_out_as_it_was_put_in() {
        for start in [Start::Now, Start::After(5), Start::At(TimestampMs(7))] {
            let mut work = SubmitArgs::new(Kind::parse("ship").unwrap(), Payload::json("1"));
            work.start = start;
            work.namespace = Namespace::parse("acme").unwrap();
            work.priority = Priority::new(9).unwrap();
            work.tags.insert(TagKey::parse("customer").unwrap(), TagValue::parse("c 17").unwrap());
            work.idempotency_key = Some(IdempotencyKey::parse("order 7").unwrap());
            work.policy.max_replay_count = 3;
            let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
            work.trace = TraceContext::parse(parent, Some("vendor=1")).ok().map(Box::new);
            let text = serde_json::to_string(&InboxRow::of(&work)).unwrap();
            let inbox_row: InboxRow = serde_json::from_str(&text).unwrap();
            assert_eq!(inbox_row.with(work.payload.clone()), work);
        }
    }
}
