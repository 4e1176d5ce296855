//! A batch decides as its operations would one by one. Random batches run on a file and, operation by operation, on the
//! model; every answer and all contents are compared.

use std::sync::Arc;

use ff_backend_sql::{Answered, Question, TakeSnapshot, TakenUp, execute};
use ff_core::backend::Answer;
use ff_core::clock::{Clock, ManualClock, MonotonicClock};
use ff_core::contracts::{
    CancelArgs, ClaimArgs, CompleteArgs, DelayArgs, FailArgs, PumpArgs, RenewArgs, ReplayArgs, RevokeArgs, Start,
    SubmitArgs, Task,
};
use ff_core::dice::{Dice, SeededDice};
use ff_core::doctor::examine;
use ff_core::engine_error::EngineError;
use ff_core::execution::Failure;
use ff_core::lease::Holder;
use ff_core::model::Model;
use ff_core::operation::{Ask, Conditions, Operation, Reply};
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::types::{
    ExecutionId, IdempotencyKey, Kind, LaneId, Namespace, Priority, TimestampMs, WorkerId, WorkerInstanceId,
};
use uuid::Uuid;

use crate::connection::{Connection, open_to_write};
use crate::hints::Announcer;
use crate::migrate::migrate;
use crate::options::Durability;
use crate::owner::Owner;
use crate::session::Writing;

const PARTITIONS: PartitionConfig =
    PartitionConfig { num_flow_partitions: 2, num_budget_partitions: 1, num_quota_partitions: 1 };

#[test]
fn a_batch_decides_as_its_operations_would_one_by_one() {
    for seed in 0..4 {
        let directory = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(TimestampMs(1_700_000_000_000)));
        let owner = Owner::take(&directory.path().join("work.db")).unwrap();
        let mut session = session(file(&owner), clock.clone());
        let mut walk = Walk::new(seed);
        for round in 0..40 {
            let (batch, expected) = walk.batch(clock.now());
            let answers = pollster::block_on(execute(&mut session, &batch, &PARTITIONS));
            for ((answer, expected), taken_up) in answers.into_iter().zip(expected).zip(&batch) {
                assert_eq!(answer, expected, "seed {seed}, round {round}: {:?}", taken_up.operation);
            }
            if round % 4 == 3 {
                compare(&mut session, &walk.model, clock.now());
            }
            clock.advance(walk.pick(400) * walk.pick(40));
        }
        assert!(walk.claimed > 100, "seed {seed} claimed only {}", walk.claimed);
    }
}

fn compare(session: &mut Writing, model: &Model, now: TimestampMs) {
    for partition in 0..PARTITIONS.num_flow_partitions {
        let snapshot = pollster::block_on(TakeSnapshot { partition }.ask(session)).unwrap();
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
        let answers = pollster::block_on(execute(&mut session, &batch, &PARTITIONS));
        let kept =
            |partition| pollster::block_on(TakeSnapshot { partition }.ask(&mut session)).unwrap().executions.len();
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
    migrate(&mut sqlite, &owner.path, Some(PARTITIONS)).unwrap();
    sqlite
}

fn session(sqlite: rusqlite::Connection, clock: Arc<ManualClock>) -> Writing {
    let clock = Arc::new(MonotonicClock::new(clock, TimestampMs::default()));
    Writing::over(Connection::new(sqlite, Arc::default()), clock, Announcer::new())
}

/// Random operations, mostly sensible ones, and the model they have been done to.
struct Walk {
    model: Model,
    choices: SeededDice,
    dice: SeededDice,
    ids: Vec<ExecutionId>,
    held: Vec<Task>,
    claimed: usize,
}

impl Walk {
    fn new(seed: u64) -> Self {
        Self {
            model: Model::default(),
            choices: SeededDice::new(seed),
            dice: SeededDice::new(seed + 1_000),
            ids: Vec::new(),
            held: Vec::new(),
            claimed: 0,
        }
    }

    /// A number below `bound`.
    fn pick(&self, bound: u64) -> u64 {
        self.choices.nonce().roll() % bound
    }

    /// One of several.
    fn one<'a, T>(&self, of: &'a [T]) -> Option<&'a T> {
        let at = self.pick(of.len().max(1) as u64);
        of.get(usize::try_from(at).unwrap())
    }

    /// Some operations, with the answers each gets when they are done one by one.
    fn batch(&mut self, now: TimestampMs) -> (Vec<TakenUp>, Vec<Answer<Answered>>) {
        let mut batch = Vec::new();
        let mut expected = Vec::new();
        for _ in 0..=self.pick(40) {
            let operation = self.operation();
            let at = Conditions { partitions: PARTITIONS, nonce: self.dice.nonce(), now };
            expected.push(self.answer(&operation, &at));
            batch.push(TakenUp { operation, nonce: at.nonce });
        }
        (batch, expected)
    }

    fn answer(&mut self, operation: &Operation, at: &Conditions) -> Answer<Answered> {
        let (reply, _) = self.model.execute(operation, at)?;
        let mut payloads = Vec::new();
        match &reply {
            Reply::Submitted(submitted) if !submitted.duplicate => self.ids.push(submitted.execution_id),
            Reply::Taken(taken) => {
                self.claimed += taken.tasks.len();
                self.held.extend(taken.tasks.iter().cloned());
                payloads.extend(taken.tasks.iter().map(|task| self.model.payload(&task.execution_id).unwrap().clone()));
            }
            _ => {}
        }
        Ok(Answered { reply, payloads })
    }

    fn operation(&self) -> Operation {
        let absent = ExecutionId::new(0, Uuid::nil());
        let execution_id = self.one(&self.ids).copied().unwrap_or(absent);
        let held = self.one(&self.held).map(|task| (task.execution_id, task.fence));
        match (self.pick(20), held) {
            (0..=5, _) | (10..=15, None) => self.submission().into_operation(),
            (6..=9, _) => self.claim().into_operation(),
            (10 | 11, Some((execution_id, fence))) => {
                let result = (self.pick(2) == 0).then(|| Payload::json("2"));
                CompleteArgs { execution_id, fence, result }.into_operation()
            }
            (12, Some((execution_id, fence))) => {
                let category = Kind::parse("network").unwrap();
                let failure = Failure { category, message: "no".into(), permanent: self.pick(3) == 0 };
                FailArgs { execution_id, fence, failure }.into_operation()
            }
            (13, Some((execution_id, fence))) => {
                DelayArgs { execution_id, fence, start: self.start() }.into_operation()
            }
            (14 | 15, Some((execution_id, fence))) => {
                RenewArgs { execution_id, fence, lease_ttl_ms: None }.into_operation()
            }
            (16, _) => CancelArgs { execution_id, reason: None, requested_by: None }.into_operation(),
            (17, _) => ReplayArgs { execution_id, reason: None, requested_by: None }.into_operation(),
            (18, _) => RevokeArgs { execution_id, lease_id: None, reason: None }.into_operation(),
            _ => PumpArgs { partition: self.partition() }.into_operation(),
        }
    }

    fn submission(&self) -> SubmitArgs {
        let tag = u128::from(self.pick(1_000_000)) << 64 | u128::from(self.pick(1_000_000));
        let mut args = SubmitArgs::new(self.kind(), Payload::json(self.pick(2).to_string()));
        args.uuid = Uuid::from_u128(tag);
        args.namespace = Namespace::parse(["default", "acme"][usize::from(self.pick(4) == 0)]).unwrap();
        args.priority = Priority::new(i64::try_from(self.pick(3)).unwrap()).unwrap();
        args.idempotency_key = (self.pick(5) == 0).then(|| IdempotencyKey::parse(&self.pick(4).to_string()).unwrap());
        args.start = self.start();
        args.policy.dedup_window_ms = self.pick(30_000);
        args.policy.max_reclaim_count = 2;
        args.policy.timeout_policy.attempt_timeout_ms = (self.pick(4) == 0).then_some(20_000);
        args.policy.timeout_policy.execution_deadline_ms = (self.pick(6) == 0).then_some(60_000);
        args
    }

    fn claim(&self) -> ClaimArgs {
        ClaimArgs {
            partition: self.partition(),
            namespace: Namespace::parse(["default", "acme"][usize::from(self.pick(4) == 0)]).unwrap(),
            lane: LaneId::default_name(),
            kinds: (0..self.pick(3)).map(|_| self.kind()).collect(),
            max: usize::try_from(1 + self.pick(4)).unwrap(),
            holder: Holder {
                worker_id: WorkerId::parse("w").unwrap(),
                worker_instance_id: WorkerInstanceId::parse(["w-1", "w-2"][usize::from(self.pick(2) == 0)]).unwrap(),
            },
            lease_ttl_ms: 1_000 + self.pick(20_000),
        }
    }

    fn kind(&self) -> Kind {
        Kind::parse(["resize", "mail", "index"][usize::try_from(self.pick(3)).unwrap()]).unwrap()
    }

    fn partition(&self) -> u16 {
        u16::try_from(self.pick(2)).unwrap()
    }

    fn start(&self) -> Start {
        if self.pick(4) == 0 { Start::After(self.pick(10_000)) } else { Start::Now }
    }
}
