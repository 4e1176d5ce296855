//! Group commit: operations that arrive while the writer is busy are committed together.

use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex};

use ff_backend_sqlite::{SqliteBackend, SqliteOptions};
use ff_core::backend::clock::Clock;
use ff_core::backend::{Answer, Perform};
use ff_core::contracts::{CancelArgs, CompleteArgs, DeliverArgs, ReplayArgs, SubmitArgs, SubmittedExecution};
use ff_core::engine_error::Code;
use ff_core::execution::AttemptOutcome;
use ff_core::payload::Payload;
use ff_core::types::{ExecutionId, IdempotencyKey, TimestampMs};
use futures_util::FutureExt;
use futures_util::future::join_all;
use uuid::Uuid;

use crate::{StoreLocation, at, claim_on, findings, options, signal, suspended, work};

/// A clock that blocks the writer at the beginning of a batch until it is opened.
#[derive(Default)]
struct Gate {
    state: Mutex<Passage>,
    changed: Condvar,
}

#[derive(Default)]
struct Passage {
    somebody_waits: bool,
    open: bool,
}

impl Gate {
    fn wait_for_the_writer(&self) {
        let state = self.state.lock().unwrap();
        drop(self.changed.wait_while(state, |state| !state.somebody_waits).unwrap());
    }

    fn open(&self) {
        self.state.lock().unwrap().open = true;
        self.changed.notify_all();
    }
}

impl Clock for Gate {
    fn now(&self) -> TimestampMs {
        let mut state = self.state.lock().unwrap();
        state.somebody_waits = true;
        self.changed.notify_all();
        drop(self.changed.wait_while(state, |state| !state.open).unwrap());
        at(0)
    }
}

/// A store whose writer is busy with a first submission until the gate is opened.
struct BusyStore {
    store: Arc<SqliteBackend>,
    gate: Arc<Gate>,
    first: Pin<Box<dyn Future<Output = Answer<SubmittedExecution>>>>,
}

impl BusyStore {
    fn new(place: &StoreLocation) -> Self {
        let gate = Arc::new(Gate::default());
        let options = SqliteOptions { clock: gate.clone(), ..options() };
        let store = Arc::new(ff_backend_sqlite::open(&place.path(), options).unwrap());
        let busy = store.clone();
        let mut first = async move { busy.submit(work()).await }.boxed();
        assert!(first.as_mut().now_or_never().is_none());
        gate.wait_for_the_writer();
        Self { store, gate, first }
    }

    /// Starts all calls before any is answered, and waits for their answers.
    async fn together<F: Future>(self, calls: F) -> F::Output {
        let mut calls = Box::pin(calls);
        assert!(calls.as_mut().now_or_never().is_none());
        self.gate.open();
        self.first.await.unwrap();
        calls.await
    }
}

fn cancel(execution_id: ExecutionId) -> CancelArgs {
    CancelArgs { execution_id, reason: None, requested_by: None }
}

fn unknown() -> ExecutionId {
    ExecutionId::new(0, Uuid::nil())
}

#[tokio::test]
async fn operations_queued_together_share_a_commit() {
    let place = StoreLocation::new();
    let busy = BusyStore::new(&place);
    let store = busy.store.clone();
    let answers = busy.together(join_all((0..100).map(|_| store.submit(work())))).await;
    let ids: HashSet<_> = answers.into_iter().map(|answer| answer.unwrap().execution_id).collect();
    assert_eq!(ids.len(), 100);
    assert_eq!(store.commits(), 2, "one for the first, one for the hundred");
}

#[tokio::test]
async fn a_single_operation_is_committed_at_once() {
    let place = StoreLocation::new();
    let store = place.open();
    for expected in 1..=5 {
        store.submit(work()).await.unwrap();
        assert_eq!(store.commits(), expected);
    }
}

#[tokio::test]
async fn a_refused_one_writes_nothing_and_the_others_go_on() {
    let place = StoreLocation::new();
    let busy = BusyStore::new(&place);
    let store = busy.store.clone();
    let all = async { tokio::join!(store.submit(work()), store.cancel(cancel(unknown())), store.submit(work())) };
    let (one, refused, two) = busy.together(all).await;
    assert_eq!(refused.unwrap_err().code(), Code::ExecutionNotFound);
    store.describe(&one.unwrap().execution_id).await.unwrap();
    store.describe(&two.unwrap().execution_id).await.unwrap();
    assert_eq!(store.commits(), 2);
    store.cancel(cancel(unknown())).await.unwrap_err();
    assert_eq!(store.commits(), 2, "there was nothing to commit");
}

#[tokio::test]
async fn a_repeat_without_changes_is_not_committed() {
    let place = StoreLocation::new();
    let store = place.open();
    let work = work();
    let id = store.submit(work.clone()).await.unwrap().execution_id;
    store.cancel(cancel(id)).await.unwrap();
    let commits = store.commits();
    assert!(store.cancel(cancel(id)).await.unwrap().already);
    assert!(store.submit(work).await.unwrap().duplicate);
    assert_eq!(store.commits(), commits);
}

/// A replay supersedes the last attempt. The attempt stays readable, although the execution ends again without another one.
#[tokio::test]
async fn an_execution_replayed_and_cancelled_at_once_keeps_its_attempt() {
    let place = StoreLocation::new();
    let store = place.open();
    let execution_id = store.submit(work()).await.unwrap().execution_id;
    let fence = store.claim(claim_on(&execution_id)).await.unwrap().claimed.remove(0).task.fence;
    store.complete(CompleteArgs { execution_id, fence, result: None }).await.unwrap();
    drop(store);
    let busy = BusyStore::new(&place);
    let store = busy.store.clone();
    let both = async { tokio::join!(store.replay(ReplayArgs::new(execution_id)), store.cancel(cancel(execution_id))) };
    let (replayed, cancelled) = busy.together(both).await;
    replayed.unwrap();
    assert!(!cancelled.unwrap().already);
    assert_eq!(store.commits(), 2, "one for the first submission, one for both");
    let attempts = store.attempts(&execution_id).await.unwrap().attempts;
    assert_eq!(
        attempts.iter().map(|attempt| attempt.end.as_ref().unwrap().outcome).collect::<Vec<_>>(),
        [AttemptOutcome::Success]
    );
    store.replay(ReplayArgs::new(execution_id)).await.unwrap();
    assert_eq!(findings(&store).await, []);
}

/// A signal delivered in the same batch is handed to the claim.
#[tokio::test]
async fn a_claim_is_handed_the_signal_that_came_together_with_it() {
    let place = StoreLocation::new();
    let store = place.open();
    let (id, granted) = suspended(&store).await;
    drop(store);
    let busy = BusyStore::new(&place);
    let store = busy.store.clone();
    let args = DeliverArgs { payload: Some(Payload::json("1")), ..signal(&id, &granted, "go") };
    let all = async { tokio::join!(biased; store.deliver(args), store.claim(claim_on(&id))) };
    let (delivered, claims) = busy.together(all).await;
    let signals = claims.unwrap().claimed.remove(0).signals;
    assert_eq!(signals, [store.signal(&id, &delivered.unwrap().signal_id).await.unwrap()]);
    assert_eq!(signals[0].payload, Some(Payload::json("1")));
    assert_eq!(store.commits(), 2);
    assert_eq!(findings(&store).await, []);
}

/// Many workers claim the same few executions, in one batch with their submissions: each execution goes to one worker.
#[tokio::test]
async fn claims_together_take_each_execution_once() {
    let place = StoreLocation::new();
    let busy = BusyStore::new(&place);
    let store = busy.store.clone();
    // One key means one partition. Without a window, the key is forgotten at once.
    let mut keyed = SubmitArgs { idempotency_key: Some(IdempotencyKey::parse("same").unwrap()), ..work() };
    keyed.policy.dedup_window_ms = 0;
    let new = || SubmitArgs { uuid: Uuid::now_v7(), ..keyed.clone() };
    let partition = new().execution_id(&Default::default());
    let submissions = join_all((0..40).map(|_| store.submit(new())));
    let claims = join_all((0..60).map(|_| store.claim(claim_on(&partition))));
    let (submitted, claims) = busy.together(async { tokio::join!(biased; submissions, claims) }).await;
    let ids: HashSet<_> = submitted.into_iter().map(|answer| answer.unwrap().execution_id).collect();
    let taken: Vec<_> = claims.into_iter().flat_map(|claims| claims.unwrap().claimed).collect();
    let held: HashSet<_> = taken.iter().map(|claimed| claimed.task.execution_id).collect();
    assert_eq!((taken.len(), held), (40, ids));
    assert_eq!(store.commits(), 2);
    assert_eq!(findings(&store).await, []);
}
