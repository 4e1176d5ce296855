//! The notifier answers a long poll as soon as there is something to report, and wakes no other caller.

use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::{EngineStore, Perform};
use ff_core::engine_error::Code;
use ff_core::event::EventKind;
use ff_core::event::contracts::EventsArgs;
use ff_core::execution::Outcome;
use ff_core::execution::contracts::{CancelArgs, SubmitArgs};
use ff_core::lease::LeaseEnding;
use ff_core::lease::contracts::{Control, ControlArgs};
use ff_core::signal::contracts::{DeliverArgs, DeliveriesArgs, WaitpointRef};
use ff_core::stream::Frame;
use ff_core::stream::contracts::{AppendFramesArgs, ReadStreamArgs};
use ff_core::suspension::contracts::SuspendArgs;
use ff_core::token::PresentedToken;
use ff_core::types::{ExecutionId, Namespace, SignalName, WaitpointKey, WorkerInstanceId};
use ff_engine::Notifier;
use futures_util::FutureExt;
use uuid::Uuid;

use crate::support::{WatchedStore, hold, let_pass, store, work};

fn started() -> (Arc<WatchedStore>, Arc<Notifier>) {
    let store = store(4);
    (store.clone(), Notifier::start(store))
}

async fn submit(store: &WatchedStore) -> ExecutionId {
    store.submit(work("resize")).await.unwrap().execution_id
}

async fn cancel(store: &WatchedStore, id: ExecutionId) {
    store.cancel(CancelArgs { execution_id: id, reason: None, requested_by: None }).await.unwrap();
}

fn news(worker: &str, after: Option<&Control>, wait_ms: u64) -> ControlArgs {
    ControlArgs {
        worker_instance_id: WorkerInstanceId::parse(worker).unwrap(),
        after: after.map(|control| control.next.clone()),
        wait_ms,
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_an_end_returns_when_the_execution_ends() {
    let (store, notifier) = started();
    let id = submit(&store).await;
    let started = tokio::time::Instant::now();
    let waiting = tokio::spawn({
        let notifier = notifier.clone();
        async move { notifier.ended(&id, 60_000).await }
    });
    let_pass(Duration::from_secs(5)).await;
    cancel(&store, id).await;
    let ended = waiting.await.unwrap().unwrap().unwrap();
    assert_eq!((ended.execution_id, ended.outcome), (id, Outcome::Cancelled));
    assert_eq!(started.elapsed(), Duration::from_secs(5));
    assert_eq!(store.call_count("end_of"), 2, "once before waiting, once when told");
    assert_eq!(notifier.ended(&id, 0).await.unwrap().unwrap(), ended);
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_runs_out_is_not_an_error() {
    let (store, notifier) = started();
    let id = submit(&store).await;
    let started = tokio::time::Instant::now();
    assert_eq!(notifier.ended(&id, 0).await, Ok(None));
    assert_eq!(started.elapsed(), Duration::ZERO);
    assert_eq!(notifier.ended(&id, 700).await, Ok(None));
    assert!((700..705).contains(&started.elapsed().as_millis()));
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_an_unknown_execution_or_beyond_the_limit_is_refused() {
    let (_store, notifier) = started();
    let unknown = ExecutionId::new(1, Uuid::nil());
    assert_eq!(notifier.ended(&unknown, 60_000).await.unwrap_err().code(), Code::ExecutionNotFound);
    assert_eq!(notifier.ended(&unknown, 60_001).await.unwrap_err().code(), Code::LimitExceeded);
    assert_eq!(notifier.control(news("a", None, 60_001)).await.unwrap_err().code(), Code::LimitExceeded);
}

#[tokio::test(start_paused = true)]
async fn an_end_wakes_only_the_waiter_of_its_execution() {
    let (store, notifier) = started();
    let mut waiting = Vec::new();
    let mut ids = Vec::new();
    for _ in 0..1_000 {
        let (id, notifier) = (submit(&store).await, notifier.clone());
        ids.push(id);
        waiting.push(tokio::spawn(async move { notifier.ended(&id, 60_000).await }));
    }
    let_pass(Duration::from_secs(1)).await;
    assert_eq!(store.call_count("end_of"), 1_000);
    cancel(&store, ids[500]).await;
    assert!(waiting.swap_remove(500).await.unwrap().unwrap().is_some());
    assert_eq!(store.call_count("end_of"), 1_001);
    notifier.stop();
    for one in waiting {
        assert_eq!(one.await.unwrap(), Ok(None));
    }
}

#[tokio::test(start_paused = true)]
async fn an_end_without_a_hint_is_found_when_hints_are_known_to_be_lost() {
    let (store, notifier) = started();
    let id = submit(&store).await;
    let waiting = tokio::spawn(async move { notifier.ended(&id, 60_000).await });
    let_pass(Duration::from_secs(1)).await;
    store.lose_hints();
    cancel(&store, id).await;
    let_pass(Duration::from_secs(1)).await;
    assert!(!waiting.is_finished());
    store.find_hints();
    assert!(waiting.await.unwrap().unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_worker_learns_at_once_which_lease_it_lost() {
    let (store, notifier) = started();
    let start = notifier.control(news("mine", None, 0)).await.unwrap();
    assert_eq!((start.lost.len(), start.missed), (0, false));
    let engine_store: Arc<dyn EngineStore> = store.clone();
    let (mine, other) = (submit(&store).await, submit(&store).await);
    let held = hold(&engine_store, mine, "mine").await;
    hold(&engine_store, other, "other").await;
    let waiting = tokio::spawn({
        let (notifier, args) = (notifier.clone(), news("mine", Some(&start), 60_000));
        async move { notifier.control(args).await }
    });
    cancel(&store, other).await;
    let_pass(Duration::from_secs(1)).await;
    assert!(!waiting.is_finished(), "another's loss is no news");
    cancel(&store, mine).await;
    let reply = waiting.await.unwrap().unwrap();
    assert_eq!(reply.lost.len(), 1);
    assert_eq!((reply.lost[0].execution_id, reply.lost[0].fence), (mine, held.task.fence));
    assert_eq!((reply.lost[0].ended, reply.missed), (LeaseEnding::Cancelled, false));
    let after = notifier.control(news("mine", Some(&reply), 0)).await.unwrap();
    assert_eq!((after.lost.len(), after.missed), (0, false));
    assert_eq!(
        notifier.control(news("mine", Some(&start), 0)).await.unwrap().lost,
        reply.lost,
        "a lost reply is repeated"
    );
}

#[tokio::test(start_paused = true)]
async fn a_worker_learns_that_it_may_have_missed_hints() {
    let (store, notifier) = started();
    let elsewhere = Notifier::start(store.clone()).control(news("a", None, 0)).await.unwrap();
    let reply = notifier.control(news("a", Some(&elsewhere), 60_000)).now_or_never().unwrap().unwrap();
    assert!(reply.missed, "the cursor is another notifier's");
    let waiting = tokio::spawn({
        let (notifier, args) = (notifier.clone(), news("a", Some(&reply), 60_000));
        async move { notifier.control(args).await }
    });
    let_pass(Duration::from_secs(1)).await;
    store.find_hints();
    let reply = waiting.await.unwrap().unwrap();
    assert!(reply.missed, "hints were lost");
    assert!(!notifier.control(news("a", Some(&reply), 0)).await.unwrap().missed);
}

#[tokio::test(start_paused = true)]
async fn a_stopped_notifier_lets_no_caller_wait() {
    let (store, notifier) = started();
    let id = submit(&store).await;
    let waiting = tokio::spawn({
        let notifier = notifier.clone();
        async move { (notifier.ended(&id, 60_000).await, notifier.control(news("a", None, 60_000)).await) }
    });
    let_pass(Duration::from_secs(1)).await;
    let started = tokio::time::Instant::now();
    notifier.stop();
    let (ended, control) = waiting.await.unwrap();
    assert_eq!(ended, Ok(None));
    assert_eq!(control.unwrap().lost, []);
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_notifier_that_is_dropped_no_longer_listens() {
    let (store, notifier) = started();
    let_pass(Duration::from_secs(1)).await;
    let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    assert_eq!(alive(), 1);
    drop(notifier);
    let_pass(Duration::from_secs(1)).await;
    assert_eq!((alive(), Arc::strong_count(&store)), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_reader_of_the_feed_is_answered_when_something_happens() {
    let (store, notifier) = started();
    let follow = |after| EventsArgs { after, namespace: None, execution: None, limit: 10 };
    let start = notifier.next_events(follow(None), 0).await.unwrap();
    let waiting = tokio::spawn({
        let (notifier, args) = (notifier.clone(), follow(Some(start.next)));
        async move { notifier.next_events(args, 60_000).await }
    });
    let_pass(Duration::from_secs(1)).await;
    assert!(!waiting.is_finished());
    let id = submit(&store).await;
    let page = waiting.await.unwrap().unwrap();
    assert_eq!(
        page.events.iter().map(|event| (event.execution_id, event.what)).collect::<Vec<_>>(),
        [(id, EventKind::Submitted)]
    );
    let nothing = notifier.next_events(follow(Some(page.next)), 1_000).await.unwrap();
    assert_eq!((nothing.events, nothing.missed), (vec![], false));
}

/// Readers begin at different times, so their cursors differ.
#[tokio::test(start_paused = true)]
async fn readers_of_the_feed_share_their_reads() {
    const READERS: usize = 200;
    let (store, notifier) = started();
    let other = Namespace::parse("other").unwrap();
    let mut readers = Vec::new();
    for nth in 0..READERS {
        let namespace = (nth % 2 == 0).then(|| other.clone());
        let args = EventsArgs { after: None, namespace, execution: None, limit: 10 };
        let read = tokio::spawn({
            let notifier = notifier.clone();
            async move { notifier.next_events(args, 60_000).await.unwrap() }
        });
        readers.push(read);
        let_pass(Duration::from_millis(1)).await;
    }
    let before = store.call_count("events");
    let id = submit(&store).await;
    let (all, others): (Vec<_>, Vec<_>) = readers.into_iter().enumerate().partition(|(nth, _)| nth % 2 == 1);
    for (_, reader) in all {
        assert_eq!(reader.await.unwrap().events.iter().map(|event| event.execution_id).collect::<Vec<_>>(), [id]);
    }
    let_pass(Duration::from_secs(1)).await;
    assert!(others.iter().all(|(_, reader)| !reader.is_finished()), "the event is not theirs");
    let args = SubmitArgs { namespace: other, ..work("resize") };
    let id = store.submit(args).await.unwrap().execution_id;
    for (_, reader) in others {
        assert_eq!(reader.await.unwrap().events.iter().map(|event| event.execution_id).collect::<Vec<_>>(), [id]);
    }
    let reads = store.call_count("events") - before;
    assert!(reads <= 6, "{READERS} readers of two events made {reads} reads");
}

/// Readers fall behind at different speeds, and come back with their cursors.
#[tokio::test(start_paused = true)]
async fn every_reader_of_the_feed_gets_each_event_once() {
    const EVENTS: usize = 300;
    let (store, notifier) = started();
    let start = notifier.next_events(EventsArgs { after: None, namespace: None, execution: None, limit: 10 }, 0).await;
    let start = start.unwrap().next;
    let reader = |nth: usize| {
        let (notifier, start) = (notifier.clone(), start.clone());
        tokio::spawn(async move {
            let (mut after, mut read) = (start, Vec::new());
            while read.len() < EVENTS {
                // Some readers never wait long, some never wait at all.
                let (wait_ms, limit) = ([0, 7, 60_000][nth % 3], 1 + nth * 5);
                let args = EventsArgs { after: Some(after), namespace: None, execution: None, limit };
                let page = notifier.next_events(args, wait_ms).await.unwrap();
                assert!(!page.missed);
                read.extend(page.events.iter().map(|event| event.execution_id));
                after = page.next;
                let_pass(Duration::from_millis((nth * nth) as u64)).await;
            }
            read
        })
    };
    let readers: Vec<_> = (1..12).map(reader).collect();
    let mut submitted = Vec::new();
    for nth in 0..EVENTS {
        submitted.push(submit(&store).await);
        let_pass(Duration::from_millis(nth as u64 % 4)).await;
    }
    submitted.sort_unstable();
    for reader in readers {
        let mut read = reader.await.unwrap();
        read.sort_unstable();
        assert_eq!(read, submitted);
    }
}

/// A delivery wakes all readers, which are all at the same cursor.
#[tokio::test(start_paused = true)]
async fn readers_of_deliveries_share_their_reads() {
    const READERS: usize = 200;
    let (store, notifier) = started();
    let id = submit(&store).await;
    let held = hold(&(store.clone() as Arc<dyn EngineStore>), id, "approver").await;
    let wish = SuspendArgs::new(id, held.task.fence, WaitpointKey::parse("approval").unwrap());
    let granted = store.suspend(wish).await.unwrap().waitpoints.remove(0);
    let read = |_| {
        let notifier = notifier.clone();
        let args = DeliveriesArgs { after: None, limit: 10 };
        tokio::spawn(async move { notifier.next_deliveries(args, 60_000).await.unwrap() })
    };
    let readers: Vec<_> = (0..READERS).map(read).collect();
    let_pass(Duration::from_millis(1)).await;
    let (to, token) = (WaitpointRef::Id(granted.waitpoint_id), PresentedToken::from(&granted.waitpoint_token));
    let sent = DeliverArgs::new(id, to, token, SignalName::parse("approved").unwrap());
    let sent = store.deliver(sent).await.unwrap().signal_id;
    for reader in readers {
        let page = reader.await.unwrap();
        assert_eq!(page.deliveries.iter().map(|delivery| delivery.signal_id).collect::<Vec<_>>(), [sent]);
    }
    let reads = store.call_count("deliveries");
    assert!(reads <= 6, "{READERS} readers of one delivery made {reads} reads");
}

/// A frame wakes all readers of its stream, which are all at the same cursor.
#[tokio::test(start_paused = true)]
async fn readers_of_one_stream_share_their_reads() {
    const READERS: usize = 200;
    let (store, notifier) = started();
    let id = submit(&store).await;
    let held = hold(&(store.clone() as Arc<dyn EngineStore>), id, "speaker").await;
    let mut from = None;
    for word in ["a", "b", "c"] {
        let args = ReadStreamArgs { execution_id: id, attempt: None, from, limit: 100 };
        let read = |_| {
            tokio::spawn({
                let (notifier, args) = (notifier.clone(), args.clone());
                async move { notifier.next_frames(args, 60_000).await.unwrap() }
            })
        };
        let readers: Vec<_> = (0..READERS).map(read).collect();
        let_pass(Duration::from_millis(1)).await;
        let before = store.call_count("read_stream");
        let frames = vec![Frame::text(word)];
        let appended = AppendFramesArgs {
            execution_id: id,
            fence: held.task.fence,
            from: None,
            mode: None,
            max_frames: None,
            max_bytes: None,
            frames,
        };
        store.append_frames(appended).await.unwrap();
        for reader in readers {
            let page = reader.await.unwrap();
            assert_eq!(page.items.len(), 1);
            from = Some(page.next);
        }
        let reads = store.call_count("read_stream") - before;
        assert!(reads <= 3, "{READERS} readers of one frame made {reads} reads");
    }
}
