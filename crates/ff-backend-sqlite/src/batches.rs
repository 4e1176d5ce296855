//! Test that a batch decides like its operations one by one. Random operations run in groups on a file and one by one on the
//! model; every answer and all contents are compared.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use ff_backend_sql::{Announcer, Question, QueuedOperation, ReadContext, WriterCache, execute};
use ff_core::backend::EngineStore;
use ff_core::backend::clock::{Clock, ManualClock, MonotonicClock};
use ff_core::backend::entropy::{Entropy, Nonce, SeededEntropy};
use ff_core::backend::snapshot::Snapshot;
use ff_core::contracts::{
    AdmittedClaim, AdmittedClaims, ClaimDecision, ClaimedExecution, Claims, GrantedClaim, GrantedClaims, SubmitArgs,
};
use ff_core::engine_error::{EngineError, Refusal};
use ff_core::operation::query::TakeSnapshot;
use ff_core::operation::{Ask, Operation, Reply};
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::types::{Kind, TimestampMs};
use ff_random_ops::{Adjustment, Mix, Options, Setup, Subject, SubjectFuture, number, runs};
use tempfile::TempDir;

use crate::connection::{Connection, open_to_write};
use crate::migrate::migrate;
use crate::options::Durability;
use crate::owner::Owner;
use crate::session::WriterSession;

/// Number of transitions of one run.
const RUN: usize = 300;

/// Minimum number of answers of each kind, below which the runs prove nothing.
const LEAST: &[(&str, usize)] = &[
    ("claimed for a first try", 400),
    ("claimed with a signal", 60),
    ("flow staged", 40),
    ("grow_flow", 40),
    ("cancel_flow", 5),
    ("close_flow", 5),
    ("complete", 100),
    ("replay", 5),
    ("cascade", 5),
    ("waits for children", 1),
    ("execution_not_found", 1),
    ("flow_not_found", 1),
    ("cycle_detected", 1),
    ("claimed with inputs", 10),
    ("hold", 50),
    ("release_hold", 20),
    ("assign", 20),
    ("unassign", 5),
    ("block", 50),
    ("unblock", 20),
    ("set_tags", 100),
    ("configure_lane_home", 50),
    ("copy_lane", 50),
    ("granted", 50),
    ("taken with a grant", 20),
    ("recount_lane", 20),
    ("settle_lane", 20),
    ("register_worker", 20),
    ("heartbeat", 1),
    ("sweep_worker", 5),
    ("follow", 20),
    ("not_runnable", 20),
    ("not_found", 5),
    ("idempotency_conflict", 5),
];

#[test]
fn a_batch_decides_as_its_operations_would_one_by_one() {
    let setup = Setup { make: Some(session_on_file), mix: Mix::GROUPS, to_the_end: false };
    let (transitions, first) = (number("FF_STORE_STEPS", 19_500), number("FF_RANDOM_SEED", 1) as u64);
    let seeds = first..first + transitions.div_ceil(RUN) as u64;
    let coverage = pollster::block_on(runs(setup, seeds, RUN));
    println!("{coverage}");
    coverage.assert_at_least(LEAST.iter().copied().chain(Adjustment::each_at_least(50)));
}

/// A writer's session without its queue.
struct SessionOnFile {
    session: Mutex<(WriterSession, WriterCache)>,
    partitions: PartitionConfig,
    _directory: TempDir,
}

fn session_on_file(options: Options) -> SubjectFuture {
    Box::pin(async move {
        let directory = tempfile::tempdir().unwrap();
        let owner = Owner::take(&directory.path().join("work.db")).unwrap();
        let mut sqlite = open_to_write(&owner, Durability::Normal).unwrap();
        migrate(&mut sqlite, &owner.path, Some(options.partitions), &*options.entropy).unwrap();
        let session = Mutex::new((session(sqlite, options.clock), WriterCache::default()));
        Box::new(SessionOnFile { session, partitions: options.partitions, _directory: directory }) as Box<dyn Subject>
    })
}

#[async_trait]
impl Subject for SessionOnFile {
    fn store(&self) -> Option<&dyn EngineStore> {
        None
    }

    async fn perform(
        &mut self,
        group: Vec<(Operation, Nonce)>,
    ) -> Vec<Result<(Reply, Vec<ClaimedExecution>), Refusal>> {
        let (session, known) = self.session.get_mut().unwrap_or_else(PoisonError::into_inner);
        let batch: Vec<_> = group.into_iter().map(|(operation, nonce)| QueuedOperation { operation, nonce }).collect();
        let answers = pollster::block_on(execute(session, known, &batch, &self.partitions));
        answers.into_iter().map(|answer| answer.map(claimed).map_err(refused)).collect()
    }

    async fn snapshot(&mut self, partition: u16) -> Snapshot {
        let (session, _) = self.session.get_mut().unwrap_or_else(PoisonError::into_inner);
        pollster::block_on(TakeSnapshot { partition }.ask(session, &ReadContext::default())).unwrap()
    }
}

/// Returns a reply as the rules give it, and the claimed executions with everything their workers get.
fn claimed(reply: Reply) -> (Reply, Vec<ClaimedExecution>) {
    let decision = |claims: &Claims| ClaimDecision {
        tasks: claims.claimed.iter().map(|claimed| claimed.task.clone()).collect(),
        next: claims.next,
        limited: claims.limited,
        admissions: claims.admissions.clone(),
    };
    match reply {
        Reply::Claimed(claims) => (Reply::ClaimDecision(decision(&claims)), claims.claimed),
        Reply::GrantClaimed(GrantedClaims { claims, count }) => {
            (Reply::ClaimGranted(GrantedClaim { decision: decision(&claims), count }), claims.claimed)
        }
        Reply::AdmittedClaimed(AdmittedClaims { claims, count, running }) => {
            (Reply::ClaimAdmitted(AdmittedClaim { decision: decision(&claims), count, running }), claims.claimed)
        }
        other => (other, Vec::new()),
    }
}

fn refused(error: EngineError) -> Refusal {
    match error {
        EngineError::Refused(refusal) => refusal,
        trouble => panic!("the file is in trouble: {trouble}"),
    }
}

/// A full disk refuses a batch, which is undone completely. A batch that fits afterwards succeeds.
#[test]
fn a_batch_that_does_not_fit_leaves_nothing_behind() {
    let partitions = PartitionConfig { num_flow_partitions: 2, num_budget_partitions: 1, num_quota_partitions: 1 };
    let directory = tempfile::tempdir().unwrap();
    let owner = Owner::take(&directory.path().join("work.db")).unwrap();
    let mut sqlite = open_to_write(&owner, Durability::Normal).unwrap();
    migrate(&mut sqlite, &owner.path, Some(partitions), &SeededEntropy::new(5)).unwrap();
    sqlite.pragma_update(None, "max_page_count", 64).unwrap();
    let mut session = session(sqlite, Arc::new(ManualClock::at(TimestampMs(1_700_000_000_000))));
    let mut submit = |sizes: &[usize]| {
        let work = |size: &usize| SubmitArgs::new(Kind::parse("k").unwrap(), Payload::bytes(vec![7; *size]));
        let take_up = |args: SubmitArgs| QueuedOperation {
            operation: args.into_operation(),
            nonce: SeededEntropy::new(1).nonce(),
        };
        let batch: Vec<_> = sizes.iter().map(work).map(take_up).collect();
        let answers = pollster::block_on(execute(&mut session, &mut WriterCache::default(), &batch, &partitions));
        let count = |partition| {
            pollster::block_on(TakeSnapshot { partition }.ask(&mut session, &ReadContext::default()))
                .unwrap()
                .executions
                .len()
        };
        (answers, (0..partitions.num_flow_partitions).map(count).sum::<usize>())
    };
    let (answers, count) = submit(&[10, 500_000, 10]);
    assert!(answers.iter().all(|answer| matches!(answer, Err(EngineError::Unavailable(_)))), "{answers:?}");
    assert_eq!(count, 0);
    let (answers, count) = submit(&[10, 20]);
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(count, 2);
}

fn session(sqlite: rusqlite::Connection, clock: Arc<dyn Clock>) -> WriterSession {
    let clock = Arc::new(MonotonicClock::new(clock, TimestampMs::default()));
    WriterSession::over(Connection::new(sqlite, Arc::default()), clock, Announcer::default())
}
