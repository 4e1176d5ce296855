//! A batch decides as its operations would one by one. Random batches run on a file and, operation by operation, on the
//! model; every answer and all contents are compared.

mod flows;
mod operating;
mod waiting;
mod walk;

use std::collections::BTreeMap;
use std::sync::Arc;

use ff_backend_sql::{Announcer, Known, Question, ReadContext, TakenUp, execute};
use ff_core::clock::{Clock, ManualClock, MonotonicClock};
use ff_core::contracts::SubmitArgs;
use ff_core::dice::{Dice, SeededDice};
use ff_core::doctor::examine;
use ff_core::engine_error::EngineError;
use ff_core::model::Model;
use ff_core::operation::Ask;
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::query::TakeSnapshot;
use ff_core::types::{Kind, TimestampMs};

use self::walk::Walk;
use crate::connection::{Connection, open_to_write};
use crate::migrate::migrate;
use crate::options::Durability;
use crate::owner::Owner;
use crate::session::Writing;

const PARTITIONS: PartitionConfig =
    PartitionConfig { num_flow_partitions: 2, num_budget_partitions: 1, num_quota_partitions: 1 };
/// What the first secret of every store here comes from.
const SECRET_SEED: u64 = 5;

#[test]
fn a_batch_decides_as_its_operations_would_one_by_one() {
    for seed in 0..4 {
        let walk = stroll(Walk::new(seed), seed, 40);
        assert!(walk.claimed > 100, "seed {seed} claimed only {}", walk.claimed);
        assert!(walk.handed > 20, "seed {seed} handed on only {} signals", walk.handed);
    }
}

/// What must have been answered, and how often at least, for the walks among flows to have shown anything.
const LEAST: &[(&str, usize)] = &[
    ("FlowStaged", 40),
    ("FlowGrown", 40),
    ("FlowCancelled", 5),
    ("FlowClosed", 5),
    ("Completed", 100),
    ("Replayed", 5),
    ("Cascaded", 5),
    ("WaitedForChildren", 1),
    ("execution_not_found", 1),
    ("flow_not_found", 1),
    ("cycle_detected", 1),
];

#[test]
fn a_batch_decides_about_flows_as_its_operations_would_one_by_one() {
    let (mut seen, mut passed_on) = (BTreeMap::<_, usize>::new(), 0);
    for seed in 0..5 {
        let walk = stroll(Walk::among_flows(seed), seed, 20);
        walk.seen.into_iter().for_each(|(word, count)| *seen.entry(word).or_default() += count);
        passed_on += walk.passed_on;
    }
    let missing = LEAST.iter().filter(|(word, least)| seen.get(*word).is_none_or(|count| count < least));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&(&str, usize)>::new(), "the walks show too little: {seen:?}");
    assert!(passed_on > 10, "only {passed_on} results were passed on");
}

/// The same for the walks of those who operate.
const LEAST_OPERATED: &[(&str, usize)] = &[
    ("Tagged", 100),
    ("PriorityChanged", 50),
    ("LaneConfigured", 50),
    ("LaneCopied", 50),
    ("Allotted", 50),
    ("ClaimGranted", 20),
    ("LaneRecounted", 20),
    ("LaneSettled", 20),
    ("WorkerRegistered", 20),
    ("WorkerSeen", 1),
    ("WorkerSwept", 5),
    ("Followed", 20),
    ("not_runnable", 20),
    ("not_found", 5),
    ("idempotency_conflict", 5),
];

#[test]
fn a_batch_decides_for_operators_as_its_operations_would_one_by_one() {
    let mut seen = BTreeMap::<_, usize>::new();
    for seed in 0..5 {
        let walk = stroll(Walk::operating(seed), seed, 40);
        walk.seen.into_iter().for_each(|(word, count)| *seen.entry(word).or_default() += count);
    }
    let missing = LEAST_OPERATED.iter().filter(|(word, least)| seen.get(*word).is_none_or(|count| count < least));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&(&str, usize)>::new(), "the walks show too little: {seen:?}");
}

/// Does what a walk does, batch by batch, and compares every answer and now and then everything.
fn stroll(mut walk: Walk, seed: u64, rounds: u32) -> Walk {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(TimestampMs(1_700_000_000_000)));
    let owner = Owner::take(&directory.path().join("work.db")).unwrap();
    let mut session = session(file(&owner), clock.clone());
    let mut known = Known::default();
    for round in 0..rounds {
        let (batch, expected) = walk.batch(clock.now());
        let answers = pollster::block_on(execute(&mut session, &mut known, &batch, &PARTITIONS));
        for ((answer, expected), taken_up) in answers.into_iter().zip(expected).zip(&batch) {
            assert_eq!(answer, expected, "seed {seed}, round {round}: {:?}", taken_up.operation);
        }
        if round % 4 == 3 {
            compare(&mut session, &walk.model, clock.now());
        }
        clock.advance(walk.pause());
    }
    walk
}

fn compare(session: &mut Writing, model: &Model, now: TimestampMs) {
    for partition in 0..PARTITIONS.num_flow_partitions {
        let snapshot = pollster::block_on(TakeSnapshot { partition }.ask(session, &ReadContext::default())).unwrap();
        assert_eq!(snapshot, model.snapshot(partition));
        assert_eq!(examine(&snapshot, partition, now), []);
    }
}

/// A disk that is full refuses a batch, and the batch is undone whole; what fits is done again.
#[test]
fn a_batch_that_does_not_fit_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let owner = Owner::take(&directory.path().join("work.db")).unwrap();
    let sqlite = file(&owner);
    sqlite.pragma_update(None, "max_page_count", 64).unwrap();
    let clock = Arc::new(ManualClock::at(TimestampMs(1_700_000_000_000)));
    let mut session = session(sqlite, clock);
    let mut submit = |sizes: &[usize]| {
        let work = |size: &usize| SubmitArgs::new(Kind::parse("k").unwrap(), Payload::bytes(vec![7; *size]));
        let take_up =
            |args: SubmitArgs| TakenUp { operation: args.into_operation(), nonce: SeededDice::new(1).nonce() };
        let batch: Vec<_> = sizes.iter().map(work).map(take_up).collect();
        let answers = pollster::block_on(execute(&mut session, &mut Known::default(), &batch, &PARTITIONS));
        let kept = |partition| {
            pollster::block_on(TakeSnapshot { partition }.ask(&mut session, &ReadContext::default()))
                .unwrap()
                .executions
                .len()
        };
        (answers, (0..PARTITIONS.num_flow_partitions).map(kept).sum::<usize>())
    };
    let (answers, kept) = submit(&[10, 500_000, 10]);
    assert!(answers.iter().all(|answer| matches!(answer, Err(EngineError::Unavailable(_)))), "{answers:?}");
    assert_eq!(kept, 0);
    let (answers, kept) = submit(&[10, 20]);
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(kept, 2);
}

fn file(owner: &Owner) -> rusqlite::Connection {
    let mut sqlite = open_to_write(owner, Durability::Normal).unwrap();
    migrate(&mut sqlite, &owner.path, Some(PARTITIONS), &SeededDice::new(SECRET_SEED)).unwrap();
    sqlite
}

fn session(sqlite: rusqlite::Connection, clock: Arc<ManualClock>) -> Writing {
    let clock = Arc::new(MonotonicClock::new(clock, TimestampMs::default()));
    Writing::over(Connection::new(sqlite, Arc::default()), clock, Announcer::default())
}
