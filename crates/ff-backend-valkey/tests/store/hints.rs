//! Hints from the server, and the loss of their connection.

use ff_core::backend::hint::{Hint, Hints};
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{CancelArgs, RevokeArgs, Start, SubmitArgs};
use ff_core::types::WorkerInstanceId;
use futures_util::{FutureExt, StreamExt};

use crate::look::listeners;
use crate::support::{Cluster, Flavour, Process};
use crate::{PATIENCE, claim, connect, insist, start, work};

#[tokio::test]
async fn hints_reach_another_process() {
    let server = Process::start(Flavour::Valkey, &[]);
    let (here, there) = (connect(&server.url()).await, connect(&server.url()).await);
    let mut hints = there.hints();
    let id = here.submit(work()).await.unwrap().execution_id;
    let ready = hear(&mut hints, |hint| matches!(hint, Hint::Ready { .. })).await;
    assert!(matches!(ready, Hint::Ready { partition, .. } if partition == id.partition()), "{ready:?}");

    let task = claim(&here, &id).await.task;
    let due = hear(&mut hints, |hint| matches!(hint, Hint::Due { .. })).await;
    assert_eq!(due, Hint::Due { partition: id.partition(), at: task.lease_expires_at });

    here.revoke(RevokeArgs { execution_id: id, lease_id: None, reason: None }).await.unwrap();
    let lost = hear(&mut hints, |hint| matches!(hint, Hint::LeaseLost { .. })).await;
    let Hint::LeaseLost { worker_instance_id, lost } = lost else { panic!("{lost:?}") };
    assert_eq!(worker_instance_id, WorkerInstanceId::parse("w-1").unwrap());
    assert_eq!((lost.execution_id, lost.fence), (id, task.fence));

    assert_eq!(there.end_of(&id).await.unwrap(), None);
    here.cancel(CancelArgs { execution_id: id, reason: None, requested_by: None }).await.unwrap();
    assert_eq!(hear(&mut hints, |hint| matches!(hint, Hint::Ended { .. })).await, Hint::Ended { execution_id: id });
}

/// A hint travels from the node of its partition to the node that a program listens to, on another connection than the reply.
#[tokio::test]
async fn a_flush_returns_once_the_hints_of_earlier_calls_have_arrived() {
    let cluster = Cluster::start();
    let (here, there) = (connect(&cluster.url()).await, connect(&cluster.url()).await);
    let mut hints = there.hints();
    for _ in 0..200 {
        let id = here.submit(work()).await.unwrap().execution_id;
        there.flush_hints().await;
        let arrived = std::iter::from_fn(|| hints.next().now_or_never().flatten());
        let ready =
            arrived.filter(|hint| matches!(hint, Hint::Ready { partition, .. } if *partition == id.partition()));
        assert_eq!(ready.count(), 1);
        // An empty queue announces its next execution.
        here.cancel(CancelArgs { execution_id: id, reason: None, requested_by: None }).await.unwrap();
    }
}

#[tokio::test]
async fn a_listener_that_was_cut_off_says_so_and_hears_again() {
    let (server, store) = start().await;
    let mut hints = store.hints();
    for _ in 0..3 {
        assert_eq!(server.ask(&["CLIENT", "KILL", "TYPE", "pubsub"]), ":1", "one connection listened");
        assert_eq!(hear(&mut hints, |_| true).await, Hint::Missed);
        let later = SubmitArgs { start: Start::After(60_000), ..work() };
        let id = store.submit(later).await.unwrap().execution_id;
        assert_eq!(store.end_of(&id).await.unwrap(), None);
        store.cancel(CancelArgs { execution_id: id, reason: None, requested_by: None }).await.unwrap();
        hear(&mut hints, |hint| *hint == Hint::Ended { execution_id: id }).await;
    }
}

#[tokio::test]
async fn a_listener_hears_again_after_the_server_was_away() {
    let mut server = Process::start(Flavour::Valkey, &[]);
    let store = connect(&server.url()).await;
    let mut hints = store.hints();
    server.restart();
    assert_eq!(hear(&mut hints, |_| true).await, Hint::Missed);
    let args = work();
    let id = insist(|| store.submit(args.clone())).await.execution_id;
    let ready = hear(&mut hints, |_| true).await;
    assert!(matches!(ready, Hint::Ready { partition, .. } if partition == id.partition()), "{ready:?}");
}

#[tokio::test]
async fn a_foreign_message_on_the_channel_becomes_a_missed_hint() {
    let (server, store) = start().await;
    let mut hints = store.hints();
    server.ask(&["PUBLISH", "ff:hints", "something else"]);
    assert_eq!(hear(&mut hints, |_| true).await, Hint::Missed);
}

#[tokio::test]
async fn a_store_that_is_dropped_listens_no_more() {
    let (server, store) = start().await;
    assert!(listeners(&server) == 1);
    drop(store);
    let gone = async {
        while listeners(&server) > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("its connection is closed");
}

/// Returns the next hint that is wanted.
async fn hear(hints: &mut Hints, wanted: impl Fn(&Hint) -> bool) -> Hint {
    let next = async {
        loop {
            let hint = hints.next().await.expect("hints go on");
            if wanted(&hint) {
                return hint;
            }
        }
    };
    tokio::time::timeout(PATIENCE, next).await.expect("a hint comes")
}
