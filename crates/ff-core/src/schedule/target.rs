//! The target of a schedule: an execution or a flow, in the form of a submission.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::engine_error::{Code, Refusal, check_limit};
use crate::execution::Tags;
use crate::execution::contracts::SubmitArgs;
use crate::flow::contracts::SubmitFlowArgs;
use crate::limits;
use crate::payload::Payload;
use crate::types::{FlowId, IdempotencyKey, Namespace, ScheduleId, ScheduleName, TagValue, TimestampMs};

/// The work that ticks start. Payloads and tag values may contain `{{tick}}` and `{{schedule}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScheduleTarget {
    Execution(Box<SubmitArgs>),
    Flow(Box<SubmitFlowArgs>),
}

/// One tick of a schedule.
#[derive(Clone, Copy, Debug)]
pub struct TickOf<'s> {
    pub id: ScheduleId,
    pub namespace: &'s Namespace,
    pub name: &'s ScheduleName,
    pub tick: TimestampMs,
}

impl TickOf<'_> {
    /// Returns the time of the tick as written in texts, in RFC 3339.
    pub fn moment(&self) -> String {
        Timestamp::from_millisecond(self.tick.0).map_or_else(|_| self.tick.to_string(), |at| at.to_string())
    }

    /// Returns the idempotency key of the tick's submission.
    pub fn key(&self) -> Result<IdempotencyKey, Refusal> {
        let key = format!("schedule/{}/{}", self.id, self.moment());
        IdempotencyKey::parse(&key).map_err(|error| Refusal::invalid("schedule", error))
    }

    /// Returns the uuid of the work that this tick starts.
    fn uuid(&self) -> Uuid {
        let digest = self.digest(b"uuid");
        let random = std::array::from_fn(|nth| digest[nth]);
        // Uuids of the time 0 are reserved for members of flows.
        let made_at = u64::try_from(self.tick.0).unwrap_or(0).max(1);
        uuid::Builder::from_unix_timestamp_millis(made_at, &random).into_uuid()
    }

    /// Returns the delay of this tick's start. It is the same on every engine.
    pub(super) fn jitter(&self, jitter_ms: u64) -> u64 {
        let digest = self.digest(b"jitter");
        u64::from_be_bytes(std::array::from_fn(|nth| digest[nth])) % jitter_ms.saturating_add(1)
    }

    fn digest(&self, purpose: &[u8]) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(purpose);
        hash.update(self.id.as_uuid().as_bytes());
        hash.update(self.tick.0.to_be_bytes());
        hash.finalize().into()
    }

    fn fill(&self, text: &str) -> Option<String> {
        let is_template = text.contains("{{tick}}") || text.contains("{{schedule}}");
        is_template.then(|| text.replace("{{tick}}", &self.moment()).replace("{{schedule}}", self.name.as_str()))
    }

    /// Replaces the placeholders in a payload, if it is text.
    fn fill_payload(&self, payload: &mut Payload) {
        if let Some(filled) = std::str::from_utf8(&payload.bytes).ok().and_then(|text| self.fill(text)) {
            payload.bytes = filled.into();
        }
    }

    fn fill_tags(&self, tags: &mut Tags) -> Result<(), Refusal> {
        for (key, value) in tags.iter_mut() {
            if let Some(filled) = self.fill(value.as_str()) {
                *value = TagValue::parse(&filled).map_err(|error| Refusal::invalid(format!("tags.{key}"), error))?;
            }
        }
        Ok(())
    }
}

impl ScheduleTarget {
    /// Returns the name of the target's field in requests.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Execution(_) => "execution",
            Self::Flow(_) => "flow",
        }
    }

    /// Returns the target without the values that each tick fills in, so that equivalent definitions are equal.
    #[must_use]
    pub(super) fn normalized(mut self, namespace: &Namespace) -> Self {
        match &mut self {
            Self::Execution(args) => (args.uuid, args.namespace) = (Uuid::nil(), namespace.clone()),
            Self::Flow(args) => {
                (args.header.flow_id, args.header.namespace) = (FlowId::from_uuid(Uuid::nil()), namespace.clone());
            }
        }
        self
    }

    /// Returns the work that a tick starts. It is always the same for the same tick.
    pub fn at_tick(&self, tick: &TickOf) -> Result<Self, Refusal> {
        let mut work = self.clone();
        match &mut work {
            Self::Execution(args) => {
                args.uuid = tick.uuid();
                args.namespace = tick.namespace.clone();
                // Work with a singleton or debounce key has no idempotency key; its uuid makes repeated submissions the same.
                args.idempotency_key = if args.key_rule.is_none() { Some(tick.key()?) } else { None };
                tick.fill_payload(&mut args.payload);
                tick.fill_tags(&mut args.tags)?;
            }
            Self::Flow(args) => {
                args.header.namespace = tick.namespace.clone();
                args.header = args.header.clone().keyed(tick.key()?);
                tick.fill_tags(&mut args.header.tags)?;
                for node in &mut args.nodes {
                    tick.fill_payload(&mut node.payload);
                    tick.fill_tags(&mut node.tags)?;
                }
            }
        }
        Ok(work)
    }

    /// Refuses a target that would be refused at every tick, and names the wrong field.
    pub fn check(&self, tick: &TickOf) -> Result<(), Refusal> {
        let within = |refusal: Refusal| match refusal.field.clone() {
            Some(field) => refusal.at(format!("{}.{field}", self.field())),
            None => refusal.at(self.field()),
        };
        let key = match self {
            Self::Execution(args) => &args.idempotency_key,
            Self::Flow(args) => &args.header.idempotency_key,
        };
        if key.is_some() {
            let why = "must not be given: every tick has a key of its own";
            return Err(within(Refusal::invalid("idempotency_key", why)));
        }
        match self.at_tick(tick).map_err(within)? {
            Self::Execution(args) => args.check().map_err(within)?,
            Self::Flow(args) => args.plan().map(drop).map_err(within)?,
        }
        let bytes = serde_json::to_string(self).map_or(usize::MAX, |text| text.len());
        check_limit(Code::PayloadTooLarge, self.field(), limits::SCHEDULE_BYTES, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::contracts::{FlowHeader, NodeSpec};
    use crate::types::{Kind, NodeName, TagKey};

    fn template(payload: Payload, tag: &str) -> SubmitArgs {
        let mut args = SubmitArgs::new(Kind::parse("report").unwrap(), payload);
        args.tags.insert(TagKey::parse("day").unwrap(), TagValue::parse(tag).unwrap());
        args
    }

    fn with_tick<T>(tick: i64, run: impl FnOnce(&TickOf) -> T) -> T {
        let (namespace, name) = (Namespace::parse("acme").unwrap(), ScheduleName::parse("nightly").unwrap());
        let id = ScheduleId::from_uuid(Uuid::from_u128(7));
        run(&TickOf { id, namespace: &namespace, name: &name, tick: TimestampMs(tick) })
    }

    fn started(target: &ScheduleTarget, tick: i64) -> SubmitArgs {
        match with_tick(tick, |tick| target.at_tick(tick)).unwrap() {
            ScheduleTarget::Execution(args) => *args,
            ScheduleTarget::Flow(_) => panic!("a flow was started"),
        }
    }

    #[test]
    fn the_tick_and_the_schedule_are_filled_in() {
        let payload = Payload::json("{\"for\":\"{{tick}}\",\"by\":\"{{schedule}}\"}");
        let target = ScheduleTarget::Execution(Box::new(template(payload, "{{schedule}} {{tick}}")));
        let args = started(&target, 1_767_258_000_000);
        assert_eq!(args.payload.bytes, "{\"for\":\"2026-01-01T09:00:00Z\",\"by\":\"nightly\"}");
        assert_eq!(args.tags.values().next().unwrap().as_str(), "nightly 2026-01-01T09:00:00Z");
        assert_eq!(args.namespace.as_str(), "acme");
        let key = "schedule/00000000-0000-0000-0000-000000000007/2026-01-01T09:00:00Z";
        assert_eq!(args.idempotency_key.unwrap().as_str(), key);
        let bytes = Payload::bytes(vec![0xff, b'{', b'{']);
        let target = ScheduleTarget::Execution(Box::new(template(bytes.clone(), "x")));
        assert_eq!(started(&target, 5).payload, bytes, "what is not text stays as it is");
    }

    #[test]
    fn the_same_tick_is_the_same_work_and_another_is_not() {
        let target = ScheduleTarget::Execution(Box::new(template(Payload::default(), "x")));
        assert_eq!(started(&target, 60_000), started(&target, 60_000));
        assert_ne!(started(&target, 60_000).uuid, started(&target, 61_000).uuid);
        assert!(started(&target, 60_000).check().is_ok());
    }

    #[test]
    fn a_flow_is_the_same_flow_for_the_same_tick() {
        let node =
            NodeSpec::new(NodeName::parse("a").unwrap(), Kind::parse("k").unwrap(), Payload::json("\"{{tick}}\""));
        let header = FlowHeader::new(Kind::parse("etl").unwrap());
        let flow = SubmitFlowArgs { header, nodes: vec![node], edges: Vec::new() };
        let target = ScheduleTarget::Flow(Box::new(flow));
        let start = |tick| match with_tick(tick, |tick| target.at_tick(tick)).unwrap() {
            ScheduleTarget::Flow(args) => *args,
            ScheduleTarget::Execution(_) => panic!("an execution was started"),
        };
        assert_eq!(start(60_000), start(60_000));
        assert_ne!(start(60_000).header.flow_id, start(61_000).header.flow_id);
        assert_eq!(start(60_000).nodes[0].payload.bytes, "\"1970-01-01T00:01:00Z\"");
        assert!(with_tick(1, |tick| target.check(tick)).is_ok());
    }

    #[test]
    fn a_target_reads_back_as_it_is_written() {
        for payload in [Payload::json("{ }"), Payload::bytes(vec![0, 255, 10]), Payload::default()] {
            let target = ScheduleTarget::Execution(Box::new(template(payload, "x")));
            let text = serde_json::to_string(&target).unwrap();
            assert_eq!(serde_json::from_str::<ScheduleTarget>(&text).unwrap(), target, "{text}");
        }
    }

    #[test]
    fn an_invalid_schedule_target_is_refused_with_its_path() {
        let mut args = template(Payload::default(), "x");
        args.policy.max_reclaim_count = 2_000_000;
        let refusal = with_tick(1, |tick| ScheduleTarget::Execution(Box::new(args)).check(tick)).unwrap_err();
        assert!(refusal.field.as_deref().unwrap().starts_with("execution."), "{refusal:?}");
        let large = template(Payload::bytes(vec![b'x'; limits::SCHEDULE_BYTES]), "x");
        let refusal = with_tick(1, |tick| ScheduleTarget::Execution(Box::new(large)).check(tick)).unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::PayloadTooLarge, Some("execution")));
        let long = template(Payload::default(), &format!("{}{{{{schedule}}}}", "x".repeat(244)));
        let refusal = with_tick(1, |tick| ScheduleTarget::Execution(Box::new(long)).check(tick));
        assert!(refusal.is_ok(), "a label that fits once it is filled in is taken");
        let long = template(Payload::default(), &format!("{}{{{{tick}}}}", "x".repeat(247)));
        let refusal = with_tick(1, |tick| ScheduleTarget::Execution(Box::new(long)).check(tick)).unwrap_err();
        assert_eq!(refusal.field.as_deref(), Some("execution.tags.day"));
    }
}
