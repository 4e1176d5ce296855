//! The rules of singleton and debounce keys.

use uuid::Uuid;

use super::*;
use crate::backend::entropy::{Entropy, SeededEntropy};
use crate::backend::snapshot::Snapshot;
use crate::doctor::violated;
use crate::engine_error::Code;
use crate::execution::contracts::{CancelArgs, CompleteArgs, Start, SubmitArgs, SubmittedExecution};
use crate::operation::{Conditions, Operation, PumpArgs};
use crate::partition::PartitionConfig;
use crate::payload::Payload;
use crate::rule::fixture::ExecutionFixture;
use crate::rule::samples::{at, work};

fn keyed(nth: u128, rule: KeyRule) -> SubmitArgs {
    SubmitArgs { uuid: Uuid::from_u128(nth), key_rule: Some(Box::new(rule)), ..work() }
}

fn only(nth: u128, on_conflict: OnConflict) -> SubmitArgs {
    keyed(nth, KeyRule::Singleton(Singleton { key: SubmissionKey::parse("a").unwrap(), on_conflict }))
}

fn debounced(nth: u128, payload: &str) -> SubmitArgs {
    let debounce = Debounce { key: SubmissionKey::parse("a").unwrap(), delay_ms: 1_000 };
    SubmitArgs { payload: Payload::json(payload.to_owned()), ..keyed(nth, KeyRule::Debounce(debounce)) }
}

fn cancel(fixture: &mut ExecutionFixture, id: ExecutionId, now: TimestampMs) {
    fixture.ask(CancelArgs { execution_id: id, reason: None, requested_by: None }, now).unwrap();
}

fn states(fixture: &ExecutionFixture, all: &[SubmittedExecution]) -> Vec<&'static str> {
    all.iter().map(|one| fixture.model.find(&one.execution_id).unwrap().public_state().as_str()).collect()
}

#[test]
fn every_place_a_key_leads_to_is_on_one_partition() {
    let (one, other) = (only(1, OnConflict::Queue), only(2, OnConflict::Skip));
    let partitions = PartitionConfig::default();
    assert_eq!(one.execution_id(&partitions).partition(), other.execution_id(&partitions).partition());
}

#[test]
fn queued_executions_move_up_when_one_leaves() {
    for leaving in 0..4 {
        let mut fixture = ExecutionFixture::waiting(&only(1, OnConflict::Queue), at(0));
        let queued: Vec<_> = (2..=4).map(|nth| fixture.ask(only(nth, OnConflict::Queue), at(1)).unwrap()).collect();
        let first = SubmittedExecution { execution_id: fixture.id, ..queued[0].clone() };
        let all: Vec<_> = [first].into_iter().chain(queued).collect();
        cancel(&mut fixture, all[leaving].execution_id, at(2));
        let mut expected = vec!["waiting", "rate_limited", "rate_limited", "rate_limited"];
        expected[usize::from(leaving == 0)] = "waiting";
        expected[leaving] = "cancelled";
        assert_eq!(states(&fixture, &all), expected);
        for one in &all {
            if !fixture.model.find(&one.execution_id).unwrap().is_finished() {
                cancel(&mut fixture, one.execution_id, at(3));
            }
        }
        assert!(fixture.model.snapshot(fixture.id.partition()).key_queues.is_empty());
    }
}

/// When several executions of one key end in one step, each remaining one is queued behind the right one.
#[test]
fn ends_in_one_step_leave_the_queue_in_order() {
    let mut fixture = ExecutionFixture::waiting(&only(1, OnConflict::Queue), at(0));
    let timed = |nth: u128| {
        let mut args = only(nth, OnConflict::Queue);
        args.policy.timeout_policy.execution_deadline_ms = (nth % 2 == 1).then_some(50);
        args
    };
    let queued: Vec<_> = (2..=6).map(|nth| fixture.ask(timed(nth), at(0)).unwrap()).collect();
    let mut delayed = SubmitArgs { start: Start::After(100), ..only(7, OnConflict::Queue) };
    delayed.tags.clear();
    let delayed = fixture.ask(delayed, at(0)).unwrap();
    let first = fixture.id;
    cancel(&mut fixture, first, at(1));
    fixture.pump(at(200));
    assert_eq!(states(&fixture, &queued), ["waiting", "expired", "rate_limited", "expired", "rate_limited"]);
    assert_eq!(states(&fixture, &[delayed]), ["rate_limited"], "its delay is over, its turn has not come");
}

/// The events show the order of the changes.
#[test]
fn a_queued_execution_moves_up_after_all_other_changes() {
    let mut ending = only(1, OnConflict::Queue);
    ending.policy.timeout_policy.execution_deadline_ms = Some(50);
    let mut fixture = ExecutionFixture::waiting(&ending, at(0));
    let next = fixture.ask(only(2, OnConflict::Queue), at(0)).unwrap().execution_id;
    let partitions = PartitionConfig::default();
    let mut delayed = SubmitArgs { uuid: Uuid::from_u128(3), start: Start::After(60), ..work() };
    while delayed.execution_id(&partitions).partition() != fixture.id.partition() {
        delayed.uuid = Uuid::from_u128(delayed.uuid.as_u128() + 1);
    }
    let promoted = fixture.ask(delayed, at(0)).unwrap().execution_id;
    let pump = PumpArgs { partition: fixture.id.partition() };
    let conditions = Conditions { partitions, nonce: SeededEntropy::new(1).nonce(), now: at(60) };
    let decision = Operation::Pump(pump).decide(&fixture.model, &conditions).unwrap();
    let changed: Vec<_> = decision.changes.iter().map(|change| change.after.id).collect();
    assert_eq!(changed, [fixture.id, promoted, next]);
}

#[test]
fn a_running_execution_is_not_replaced() {
    let mut fixture = ExecutionFixture::with(&only(1, OnConflict::Replace), at(0));
    let queued = fixture.ask(only(2, OnConflict::Replace), at(1)).unwrap();
    assert_eq!(queued.conflict, Some(KeyConflict::Queued));
    let replaced = fixture.ask(only(3, OnConflict::Replace), at(2)).unwrap();
    assert_eq!(replaced.conflict, Some(KeyConflict::Replaced));
    assert_eq!((fixture.state(), states(&fixture, &[queued, replaced])), ("active", vec!["cancelled", "rate_limited"]));
}

#[test]
fn an_execution_with_a_past_attempt_is_not_replaced() {
    let mut fixture = ExecutionFixture::with(&only(1, OnConflict::Replace), at(0));
    fixture.pump(at(30_000));
    assert_eq!(fixture.state(), "waiting", "its lease has expired");
    let next = fixture.ask(only(2, OnConflict::Replace), at(30_001)).unwrap();
    assert_eq!(next.conflict, Some(KeyConflict::Queued));
}

#[test]
fn a_delayed_one_is_first_in_the_queue_all_the_same() {
    let mut fixture =
        ExecutionFixture::waiting(&SubmitArgs { start: Start::After(500), ..only(1, OnConflict::Queue) }, at(0));
    let next = fixture.ask(only(2, OnConflict::Queue), at(1)).unwrap();
    assert_eq!(next.conflict, Some(KeyConflict::Queued));
    fixture.pump(at(500));
    assert_eq!((fixture.state(), states(&fixture, &[next])), ("waiting", vec!["rate_limited"]));
}

#[test]
fn a_debounced_start_moves_with_each_submission_and_no_further_than_its_latest() {
    let mut fixture = ExecutionFixture::waiting(&debounced(1, "1"), at(0));
    let until = |fixture: &ExecutionFixture| fixture.execution().due_at(crate::rule::due::Due::Delayed);
    assert_eq!(until(&fixture), Some(at(1_000)));
    for (nth, now) in [(2, 700), (3, 1_400), (4, 9_500)] {
        let reply = fixture.ask(debounced(nth, &nth.to_string()), at(now)).unwrap();
        assert_eq!((reply.execution_id, reply.conflict), (fixture.id, Some(KeyConflict::Replaced)));
        assert_eq!(until(&fixture), Some(at((now + 1_000).min(10_000))));
    }
    assert_eq!(fixture.execution().fingerprint, Payload::json("4").fingerprint());
    fixture.pump(at(10_000));
    fixture.ask(debounced(5, "5"), at(10_001)).unwrap();
    assert_eq!(fixture.state(), "waiting", "it is not moved any more");
    assert_eq!(fixture.execution().fingerprint, Payload::json("5").fingerprint());
}

#[test]
fn a_debounce_key_belongs_to_the_last_execution() {
    let mut fixture = ExecutionFixture::waiting(&debounced(1, "1"), at(0));
    fixture.pump(at(1_000));
    fixture.claim(at(1_000));
    let second = fixture.ask(debounced(2, "2"), at(1_001)).unwrap();
    assert_ne!(second.execution_id, fixture.id);
    let args = CompleteArgs { execution_id: fixture.id, fence: fixture.fence(), result: None };
    fixture.ask(args, at(1_002)).unwrap();
    assert_eq!(fixture.ask(debounced(3, "3"), at(1_003)).unwrap().execution_id, second.execution_id);
}

#[test]
fn invalid_submission_options_are_refused_with_their_field() {
    let at_once = |args: SubmitArgs, field: &str| {
        let refusal = args.check().unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidInput, Some(field)));
    };
    let key = crate::types::IdempotencyKey::parse("k").ok();
    at_once(SubmitArgs { idempotency_key: key.clone(), ..only(1, OnConflict::Skip) }, "idempotency_key");
    at_once(SubmitArgs { idempotency_key: key, ..debounced(1, "1") }, "idempotency_key");
    at_once(SubmitArgs { start: Start::After(1), ..debounced(1, "1") }, "debounce");
    let key = SubmissionKey::parse("a").unwrap();
    for delay_ms in [0, limits::DEBOUNCE_MAX_MS + 1] {
        at_once(keyed(1, KeyRule::Debounce(Debounce { key: key.clone(), delay_ms })), "debounce.delay_ms");
    }
    let singleton = Singleton { key: key.clone(), on_conflict: OnConflict::Skip };
    let both = KeyRule::of(Some(singleton), Some(Debounce { key, delay_ms: 1 }));
    assert_eq!(both.unwrap_err().field.as_deref(), Some("debounce"));
}

#[test]
fn a_queue_that_does_not_fit_its_executions_is_found() {
    let mut fixture = ExecutionFixture::waiting(&only(1, OnConflict::Queue), at(0));
    fixture.ask(only(2, OnConflict::Queue), at(1)).unwrap();
    let healthy = fixture.model.snapshot(fixture.id.partition());
    let found = |damage: fn(&mut Snapshot)| violated(examine, &healthy, damage).len();
    let turned = found(|snapshot| snapshot.key_queues.values_mut().for_each(|queue| queue.reverse()));
    assert_eq!(turned, 2, "each is behind another than it says");
    assert_eq!(found(|snapshot| snapshot.key_queues.clear()), 2, "both live and are in no queue");
    let ready = found(|snapshot| snapshot.executions.values_mut().for_each(|one| one.phase = Phase::Waiting));
    assert_eq!(ready, 1, "one is behind another and may run");
}
