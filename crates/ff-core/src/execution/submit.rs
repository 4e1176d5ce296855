//! Submitting: creates an execution.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::engine_error::{Code, Refusal, check_limit};
use crate::event::{Event, EventKind};
use crate::execution::{AttemptSlot, DelayReason, Execution, ExecutionDefinition, Origin, Phase, Tags};
use crate::operation::command::{Command, Conditions, Decision, check_payload};
use crate::partition::PartitionConfig;
use crate::payload::Payload;
use crate::policy::Policy;
use crate::rule::change::{Change, KeyEntry, Write};
use crate::rule::view::{Stop, View, require_all};
use crate::singleton::{self, KeyConflict, KeyRule};
use crate::state::PublicState;
use crate::trace::TraceContext;
use crate::types::{
    ExecutionId, FairKey, IdempotencyKey, Kind, LaneId, Namespace, Priority, TimestampMs, is_derived,
    new_execution_uuid,
};
use crate::{lane, limits};

/// A submission. The submitter chooses the uuid, so that it can repeat a submission whose reply got lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubmitArgs {
    pub uuid: Uuid,
    pub namespace: Namespace,
    pub lane: LaneId,
    pub kind: Kind,
    pub payload: Payload,
    pub priority: Priority,
    pub tags: Tags,
    pub idempotency_key: Option<IdempotencyKey>,
    pub start: Start,
    /// Its rule for live executions under the same key.
    pub key_rule: Option<Box<KeyRule>>,
    pub policy: Policy,
    /// The submitter's trace, passed on to the handler. Two submissions that differ only in their trace are the same.
    pub trace: Option<Box<TraceContext>>,
}

impl SubmitArgs {
    /// Creates a submission with defaults for all other fields.
    pub fn new(kind: Kind, payload: Payload) -> Self {
        Self {
            uuid: new_execution_uuid(),
            namespace: Namespace::default_name(),
            lane: LaneId::default_name(),
            kind,
            payload,
            priority: Priority::default(),
            tags: Tags::new(),
            idempotency_key: None,
            start: Start::Now,
            key_rule: None,
            policy: Policy::default(),
            trace: None,
        }
    }

    /// Returns the id of the execution that this submission creates.
    pub fn execution_id(&self, config: &PartitionConfig) -> ExecutionId {
        match &self.key_rule {
            Some(rule) => ExecutionId::place_in_queue(self.uuid, &self.namespace, &rule.queue(), config),
            None => ExecutionId::place(self.uuid, &self.namespace, self.idempotency_key.as_ref(), config),
        }
    }

    /// Refuses values over a limit, and a derived uuid: members of flows under an idempotency key have derived uuids,
    /// which every caller can compute.
    pub fn check(&self) -> Result<(), Refusal> {
        if is_derived(&self.uuid) {
            return Err(Refusal::invalid("uuid", "is kept for members of flows; send one that was drawn at random"));
        }
        check_payload("payload", &self.payload)?;
        check_limit(Code::LimitExceeded, "tags", limits::TAGS, self.tags.len())?;
        self.start.check()?;
        if let Some(rule) = &self.key_rule {
            rule.check(self.idempotency_key.is_some(), self.start != Start::Now)?;
        }
        self.policy.check()
    }
}

/// Earliest start of an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Start {
    #[default]
    Now,
    /// After so many milliseconds by the store's clock.
    After(u64),
    /// At this time; a time in the past means now.
    At(TimestampMs),
}

impl Start {
    /// Returns the start time if it is in the future.
    pub fn later_than(self, now: TimestampMs) -> Option<TimestampMs> {
        let at = match self {
            Self::Now => now,
            Self::After(ms) => now + ms,
            Self::At(at) => at,
        };
        (at > now).then_some(at)
    }

    /// Refuses a time too far in the future.
    pub fn check(self) -> Result<(), Refusal> {
        match self {
            Self::Now => Ok(()),
            Self::After(ms) => check_limit(Code::LimitExceeded, "delay_ms", limits::SPAN_MAX_MS, ms),
            Self::At(at) => check_limit(Code::LimitExceeded, "start_at", limits::TIMESTAMP_MAX_MS, at.0),
        }
    }
}

/// Result of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SubmittedExecution {
    pub execution_id: ExecutionId,
    pub public_state: PublicState,
    /// True when the same submission already existed; nothing was written.
    pub duplicate: bool,
    /// Effect of an existing execution with the same singleton or debounce key, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<KeyConflict>,
}

impl Command for SubmitArgs {
    type Reply = SubmittedExecution;

    fn check(&self, _: &PartitionConfig) -> Result<(), Refusal> {
        self.check()
    }

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        self.execution_id(partitions).partition()
    }

    /// Creates an execution, or finds the one already created under the same key or id.
    ///
    /// The same key with another kind or payload is a conflict: two different pieces of work cannot be one.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<SubmittedExecution>, Stop> {
        let now = at.now;
        let id = self.execution_id(&at.partitions);
        let lane = (&self.namespace, &self.lane);
        require_all([
            view.lane(id.partition(), &lane.1.within(lane.0)).map(drop),
            view.execution(&id).map(drop),
            self.idempotency_key.as_ref().map_or(Ok(()), |key| view.key(&self.namespace, key).map(drop)),
            self.key_rule
                .as_ref()
                .map_or(Ok(()), |rule| view.key_queue(id.partition(), &self.namespace, &rule.queue()).map(drop)),
        ])?;
        if let Some(existing) = existing(view, self, &at.partitions, now)? {
            same_work(existing, self)?;
            let (execution_id, public_state) = (existing.id, existing.public_state());
            let reply = SubmittedExecution { execution_id, public_state, duplicate: true, conflict: None };
            return Ok(Decision::of(reply, None));
        }
        let terms = lane::admit(view, id.partition(), lane, || "lane".into())?;
        lane::check_class(view, id.partition(), lane, &self.policy.class())?;
        let after = terms.apply(create(self, id, now));
        let (execution_id, public_state) = (after.id, after.public_state());
        let reply = SubmittedExecution { execution_id, public_state, duplicate: false, conflict: None };
        let mut change = Change::of(after);
        change.payload = Write::Put(self.payload.clone());
        change.key = self.idempotency_key.as_ref().map(|key| KeyEntry {
            namespace: self.namespace.clone(),
            key: key.clone(),
            execution_id: reply.execution_id,
            until: now + self.policy.dedup_window_ms,
        });
        change.events.push(Event::new(&reply.execution_id, now, EventKind::Submitted));
        if let Some(rule) = &self.key_rule {
            return singleton::submit(view, self, rule, change, now);
        }
        Ok(Decision::of(reply, [change]))
    }
}

fn existing<'v>(
    view: &'v dyn View,
    args: &SubmitArgs,
    config: &PartitionConfig,
    now: TimestampMs,
) -> Result<Option<&'v Execution>, Stop> {
    if let Some(key) = &args.idempotency_key
        && let Some(entry) = view.key(&args.namespace, key)?
        && now < entry.until
        && let Some(found) = view.execution(&entry.execution_id)?
    {
        return Ok(Some(found));
    }
    Ok(view.execution(&args.execution_id(config))?)
}

fn same_work(existing: &Execution, args: &SubmitArgs) -> Result<(), Refusal> {
    // If an execution were returned for a key that is not stored with it, the next submission with that key could create
    // another execution.
    if existing.idempotency_key != args.idempotency_key {
        let refusal = Code::IdempotencyConflict.refusal().at("uuid");
        return Err(refusal.because("was used before under another idempotency key"));
    }
    let field = if args.idempotency_key.is_some() { "idempotency_key" } else { "uuid" };
    let conflict = |what| Code::IdempotencyConflict.refusal().at(field).because(what);
    if existing.namespace != args.namespace {
        return Err(conflict("was used before in another namespace"));
    }
    if existing.kind != args.kind {
        return Err(conflict("was used before for another kind"));
    }
    let is_debounced = matches!(args.key_rule.as_deref(), Some(KeyRule::Debounce(_)));
    if !is_debounced && existing.fingerprint != args.payload.fingerprint() {
        return Err(conflict("was used before with another payload"));
    }
    Ok(())
}

/// Builds the record of a new execution from its submission. The settings of its lane are not applied yet.
pub(crate) fn create(args: &SubmitArgs, id: ExecutionId, now: TimestampMs) -> Execution {
    let definition = ExecutionDefinition {
        id,
        namespace: args.namespace.clone(),
        lane: args.lane.clone(),
        kind: args.kind.clone(),
        priority: args.priority,
        tags: args.tags.clone(),
        policy: args.policy.clone(),
        idempotency_key: args.idempotency_key.clone(),
        fingerprint: args.payload.fingerprint(),
        payload_bytes: args.payload.bytes.len() as u64,
        created_at: now,
        deadline_at: args.policy.timeout_policy.execution_deadline_ms.map(|ms| now + ms),
        lane_retention_ms: None,
        fair_key: FairKey::default(),
        trace: args.trace.clone(),
        forked_from: None,
    };
    Execution {
        definition: Arc::new(definition),
        started_at: None,
        changed_at: now,
        phase: match args.start.later_than(now) {
            Some(until) => Phase::Delayed { until, why: DelayReason::Submitted },
            None => Phase::Waiting,
        },
        attempt: AttemptSlot::Next(Origin::Initial),
        attempts_made: 0,
        retries: 0,
        reclaims: 0,
        replays: 0,
        last_lease: None,
        usage: None,
        progress: None,
        failure: None,
        pending_waitpoints: Vec::new(),
        signals_taken: 0,
        streamed: false,
        steps: None,
        last_suspension: None,
        membership: None,
        queue_place: None,
        hold: None,
        blocked_by: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::rule::samples::{at, work};

    fn keyed(text: &str) -> SubmitArgs {
        SubmitArgs { idempotency_key: Some(IdempotencyKey::parse(text).unwrap()), ..work() }
    }

    #[test]
    fn the_same_key_is_the_same_execution() {
        let mut model = Model::default();
        let first = model.submit(&keyed("a"), at(0)).unwrap();
        let again = model.submit(&SubmitArgs { uuid: Uuid::now_v7(), ..keyed("a") }, at(10)).unwrap();
        assert!(!first.duplicate && again.duplicate);
        assert_eq!(first.execution_id, again.execution_id);
    }

    #[test]
    fn a_key_is_forgotten_after_its_window() {
        let mut model = Model::default();
        let day = limits::DEDUP_WINDOW_MS;
        let first = model.submit(&keyed("a"), at(0)).unwrap();
        assert!(model.submit(&keyed("a"), at(day - 1)).unwrap().duplicate);
        let later = model.submit(&SubmitArgs { uuid: Uuid::now_v7(), ..keyed("a") }, at(day)).unwrap();
        assert!(!later.duplicate);
        assert_ne!(later.execution_id, first.execution_id);
    }

    #[test]
    fn the_same_key_for_other_work_is_a_conflict() {
        let mut model = Model::default();
        model.submit(&keyed("a"), at(0)).unwrap();
        let other = SubmitArgs { payload: Payload::json("\"other\""), ..keyed("a") };
        assert_eq!(model.submit(&other, at(1)).unwrap_err().code, Code::IdempotencyConflict);
        assert_eq!(model.executions().count(), 1);
    }

    #[test]
    fn the_same_id_sent_again_is_the_same_execution() {
        let mut model = Model::default();
        let args = work();
        model.submit(&args, at(0)).unwrap();
        assert!(model.submit(&args, at(1)).unwrap().duplicate);
    }

    #[test]
    fn the_same_id_under_another_key_is_a_conflict() {
        let mut model = Model::default();
        model.submit(&keyed("a"), at(0)).unwrap();
        let same_partition = |key: &String| {
            let config = PartitionConfig::default();
            keyed(key).execution_id(&config) == keyed("a").execution_id(&config)
        };
        let other = (0..).map(|nth| format!("b{nth}")).find(same_partition).unwrap();
        let refusal = model.submit(&keyed(&other), at(1)).unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::IdempotencyConflict, Some("uuid")));
    }

    #[test]
    fn the_same_work_within_another_trace_is_the_same_work() {
        let traced = |id: &str| {
            let parent = format!("00-{}-b7ad6b7169203331-01", id.repeat(16));
            SubmitArgs { trace: TraceContext::parse(&parent, None).ok().map(Box::new), ..keyed("a") }
        };
        let mut model = Model::default();
        let first = model.submit(&traced("1a"), at(0)).unwrap();
        for again in [traced("2b"), keyed("a")] {
            assert!(model.submit(&again, at(10)).unwrap().duplicate);
        }
        let stored = model.find(&first.execution_id).unwrap();
        assert_eq!(stored.trace, traced("1a").trace, "the first trace is kept");
    }

    #[test]
    fn a_start_in_the_past_waits_for_nothing() {
        let mut model = Model::default();
        let past = SubmitArgs { start: Start::At(at(5)), ..work() };
        assert_eq!(model.submit(&past, at(9)).unwrap().public_state.as_str(), "waiting");
        let future = SubmitArgs { uuid: Uuid::now_v7(), start: Start::At(at(50)), ..work() };
        assert_eq!(model.submit(&future, at(9)).unwrap().public_state.as_str(), "delayed");
    }

    #[test]
    fn a_payload_is_taken_at_its_limit_and_refused_one_past_it() {
        let sized = |bytes| SubmitArgs::new(Kind::parse("k").unwrap(), Payload::bytes(vec![0; bytes]));
        assert_eq!(sized(limits::PAYLOAD_BYTES).check(), Ok(()));
        let refusal = sized(limits::PAYLOAD_BYTES + 1).check().unwrap_err();
        assert_eq!(refusal.code, Code::PayloadTooLarge);
        assert_eq!(refusal.limit, Some((1_048_576, 1_048_577)));
    }

    #[test]
    fn a_start_is_taken_at_its_limit_and_refused_one_past_it() {
        let last = TimestampMs(limits::TIMESTAMP_MAX_MS);
        assert_eq!(Start::At(last).check(), Ok(()));
        assert_eq!(Start::At(last + 1).check().unwrap_err().field.as_deref(), Some("start_at"));
        assert_eq!(Start::After(limits::SPAN_MAX_MS).check(), Ok(()));
        assert_eq!(Start::After(limits::SPAN_MAX_MS + 1).check().unwrap_err().field.as_deref(), Some("delay_ms"));
    }

    #[test]
    fn a_past_start_is_now() {
        let now = TimestampMs(100);
        assert_eq!(Start::At(TimestampMs(99)).later_than(now), None);
        assert_eq!(Start::At(TimestampMs(100)).later_than(now), None);
        assert_eq!(Start::After(5).later_than(now), Some(TimestampMs(105)));
    }
}
