//! A writer keeps partition locks for a short time while no other program wants them, and no longer.

use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ff_backend_postgres::PostgresBackend;
use ff_core::backend::Perform;
use ff_core::contracts::{CancelArgs, ClaimArgs, DeliverArgs, SubmitArgs};
use ff_core::flow::FlowState;
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_engine::Orchestration;
use futures_util::FutureExt;
use futures_util::future::join;
use tokio_postgres::Client;

use crate::load::few;
use crate::shared::flow::{chain, claim, complete, run};
use crate::trying_again::{lock, unlock, wait_for_lock_waiter, work_on};
use crate::{StoreLocation, claim_on, findings, signal, suspended};

const PARTITION: u16 = 2;

/// Maximum number of attempts at a step that needs few statements only within one lock session. On a slow machine, some
/// attempts may fall outside a session, but not all.
const ATTEMPTS_MAX: usize = 100;

/// Submits to one partition and returns the number of statements it took.
async fn submit(store: &PostgresBackend) -> u64 {
    let before = store.statements();
    store.submit(work_on(store, PARTITION)).await.unwrap();
    store.statements() - before
}

#[tokio::test]
async fn a_repeated_submission_on_a_partition_is_one_statement() {
    let place = StoreLocation::new();
    let store = place.open_with(few()).await;
    for _ in 0..ATTEMPTS_MAX {
        if submit(&store).await == 1 {
            return;
        }
    }
    panic!("it always took more");
}

/// A busy writer keeps its locks, and asks now and then whether another session waits for them.
#[tokio::test]
async fn locks_wanted_by_no_other_session_are_kept() {
    let place = StoreLocation::new();
    let store = place.open_with(few()).await;
    let (since, before, mut submissions) = (Instant::now(), store.statements(), 0);
    while since.elapsed() < Duration::from_secs(2) {
        submit(&store).await;
        submissions += 1;
    }
    let besides = store.statements() - before - submissions;
    assert!(besides < 100, "{besides} statements besides {submissions} submissions");
    assert_eq!(findings(&store).await, []);
}

/// The records of a submitted flow are cached while its partition's lock is kept: its next steps load nothing.
#[tokio::test]
async fn a_member_of_a_flow_is_claimed_and_completed_by_the_two_statements_that_write() {
    let place = StoreLocation::new();
    let store = place.open_with(few()).await;
    for _ in 0..ATTEMPTS_MAX {
        let flow = store.submit_flow(chain(3)).await.unwrap().flow_id;
        // The queue of the lane is not cached before the first claim.
        let first = claim(&store, &flow, 1).await.remove(0);
        complete(&store, &first).await;
        let before = store.statements();
        let second = claim(&store, &flow, 1).await.remove(0);
        assert_eq!(second.payload, Payload::json("1"));
        complete(&store, &second).await;
        let statements = store.statements() - before;
        run(&store, &flow).await;
        assert_eq!(store.describe_flow(&flow).await.unwrap().state, FlowState::Completed);
        if statements == 2 {
            assert_eq!(findings(&store).await, []);
            return;
        }
    }
    panic!("it always took more");
}

#[tokio::test]
async fn a_claim_of_a_freshly_signalled_execution_is_one_statement() {
    let place = StoreLocation::new();
    let store = place.open_with(few()).await;
    for _ in 0..ATTEMPTS_MAX {
        let (id, granted) = suspended(&store).await;
        let payload = Some(Payload::json("\"yes\""));
        store.deliver(DeliverArgs { payload: payload.clone(), ..signal(&id, &granted, "approved") }).await.unwrap();
        let kinds = vec![store.describe(&id).await.unwrap().kind];
        let before = store.statements();
        let claimed = store.claim(ClaimArgs { kinds, ..claim_on(&id) }).await.unwrap().claimed.remove(0);
        assert_eq!((claimed.payload, &claimed.signals[0].payload), (Payload::json("1"), &payload));
        if store.statements() - before == 1 {
            assert_eq!(findings(&store).await, []);
            return;
        }
    }
    panic!("it always took more");
}

#[tokio::test]
async fn a_program_that_says_nothing_gets_a_partition_from_one_that_rests() {
    let place = StoreLocation::new();
    let (store, outsider) = (place.open_with(few()).await, place.look().await);
    submit(&store).await;
    lock(&outsider, PARTITION.into()).await;
    let mut waiting = store.submit(work_on(&store, PARTITION)).boxed();
    assert!(waiting.as_mut().now_or_never().is_none());
    wait_for_lock_waiter(&place.look().await, PARTITION.into()).await;
    unlock(&outsider, PARTITION.into()).await;
    waiting.await.unwrap();
    assert_eq!(findings(&store).await, []);
}

#[tokio::test]
async fn a_program_that_says_nothing_gets_a_partition_from_one_that_never_rests() {
    let place = StoreLocation::new();
    let (store, outsider) = (place.open_with(few()).await, place.look().await);
    let done = AtomicBool::new(false);
    let working = async {
        while !done.load(Ordering::Relaxed) {
            submit(&store).await;
        }
    };
    let asking = async {
        for _ in 0..5 {
            lock(&outsider, PARTITION.into()).await;
            unlock(&outsider, PARTITION.into()).await;
        }
        done.store(true, Ordering::Relaxed);
    };
    join(working, asking).await;
    assert_eq!(findings(&store).await, []);
}

/// The other program is this test again; an environment variable names its store. It is stopped while it keeps locks, like a
/// suspended machine.
#[tokio::test]
async fn a_program_that_froze_with_partitions_is_waited_for_at_most_five_seconds() {
    const STORE: &str = "FF_WORK_UNTIL_FROZEN";
    if let Ok(url) = std::env::var(STORE) {
        let store = ff_backend_postgres::connect(&url, few()).await.unwrap();
        loop {
            submit(&store).await;
        }
    }
    let place = StoreLocation::new();
    let name = "staying::a_program_that_froze_with_partitions_is_waited_for_at_most_five_seconds";
    let mut program = Command::new(std::env::current_exe().unwrap());
    let mut program = Program(program.args(["--exact", name]).env(STORE, place.url()).spawn().unwrap());
    let outsider = place.look().await;
    while !program.is_frozen_with_its_partition(&outsider).await {}
    let since = Instant::now();
    let second = place.open_with(few()).await;
    submit(&second).await;
    let waited = since.elapsed();
    assert!(waited > Duration::from_secs(2) && waited < Duration::from_secs(8), "{waited:?}");
    program.0.kill().unwrap();
    assert_eq!(findings(&second).await, []);
}

/// Another process. It is killed when its test ends.
struct Program(Child);

impl Program {
    /// Stops the program, and resumes it unless it has its partition locked.
    async fn is_frozen_with_its_partition(&self, outsider: &Client) -> bool {
        const KEPT: &str = "
            SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted
            AND mode = 'ExclusiveLock' AND objsubid = 2 AND objid = 2 AND application_name = 'flowfabric writer'";
        self.signal("-STOP");
        let locks = outsider.query_one(KEPT, &[]).await.unwrap().get::<_, i64>(0);
        if locks == 0 {
            self.signal("-CONT");
        }
        locks > 0
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.0.id().to_string()]).status();
        assert!(sent.is_ok_and(|sent| sent.success()), "kill {signal} did not reach the program");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The cache of a session is dropped once another session may have written.
#[tokio::test]
async fn a_store_sees_writes_of_a_second_process() {
    let place = StoreLocation::new();
    let first = place.open_with(few()).await;
    let work: SubmitArgs = work_on(&first, PARTITION);
    let id = first.submit(work).await.unwrap().execution_id;
    let second = place.open_with(few()).await;
    second.cancel(CancelArgs { execution_id: id, reason: None, requested_by: None }).await.unwrap();
    assert!(first.claim(claim_on(&id)).await.unwrap().claimed.is_empty());
    assert_eq!(first.describe(&id).await.unwrap().state.public_state, PublicState::Cancelled);
    let again = second.submit(work_on(&second, PARTITION)).await.unwrap().execution_id;
    let claimed = first.claim(claim_on(&id)).await.unwrap();
    assert_eq!(claimed.claimed.iter().map(|claimed| claimed.task.execution_id).collect::<Vec<_>>(), [again]);
    assert_eq!(findings(&first).await, []);
}
