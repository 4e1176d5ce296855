//! The deliveries of all partitions form one feed that is read with a cursor.

use std::pin::pin;

use tokio::time::timeout;

use crate::prelude::*;
use crate::world::conditions::count;

pub(crate) async fn everything_delivered_is_in_the_feed_once(world: World) {
    let waitpoints = on_every_partition(&world).await;
    let mut sent = Vec::new();
    for nth in 0..3 {
        for waitpoint in &waitpoints {
            sent.push(waitpoint.send(&format!("vote-{nth}")).await.unwrap().signal_id);
            world.clock.advance(ms(1)).await;
        }
    }
    for limit in [1, 2, 5, 12, 1_000] {
        let mut cursor = FeedCursor::default();
        let mut read = Vec::new();
        loop {
            let page = after(&world, &cursor, limit).await;
            assert!(!page.missed && page.deliveries.len() <= limit);
            if page.deliveries.is_empty() {
                assert_eq!(page.next, cursor, "a reader at the end stays there");
                break;
            }
            read.extend(ids(&page.deliveries));
            cursor = page.next.to_string().parse().unwrap();
        }
        assert_eq!(read, sent, "in the order of time, pages of {limit}");
    }
}

pub(crate) async fn a_delivery_says_what_was_delivered(world: World) {
    world.job("resize").namespace("acme").submit().await;
    let held = world.worker("holder").namespace("acme").claim().await;
    let waitpoint = held.wait_on("approval").await;
    let delivered = waitpoint.send("approved").await.unwrap();
    let [delivery] = &everything(&world).await[..] else { panic!("not one delivery") };
    let signal = world.backend.signal(&held.id(), &delivered.signal_id).await.unwrap().signal;
    let expected = Delivery {
        position: delivery.position,
        namespace: held.task.namespace.clone(),
        execution_id: held.id(),
        signal_id: signal.id,
        waitpoint_id: Some(waitpoint.id()),
        name: signal.name,
        source: signal.source,
        effect: Effect::Satisfied,
    };
    assert_eq!(*delivery, expected);
    assert_eq!(delivery.position.at, world.clock.now());
}

pub(crate) async fn decisions_and_timeouts_are_in_the_feed_and_duplicates_are_not(world: World, held: LeasedExecution) {
    let ahead = held.ahead("early").await;
    ahead.send("early").await.unwrap();
    let timeout = Some(Timeout::After(1_000));
    let wish = SuspendArgs { timeout, timeout_behavior: TimeoutBehavior::AutoResume, ..held.wish("approval") };
    let [_] = held.wait(wish).await;
    world.clock.advance(ms(1_000)).await;
    let waitpoint = world.worker("next").claim().await.wait_on("again").await;
    world.clock.advance(ms(1)).await;
    world.decide(&held.id(), OperatorDecision::Approve).await.unwrap();
    assert_refused!(waitpoint.send("late").await, "waitpoint_closed");
    let last = world.worker("next").claim().await.wait_on("last").await;
    world.clock.advance(ms(1)).await;
    for _ in 0..2 {
        world.backend.deliver(last.signal_once("once", "once")).await.unwrap();
    }
    let deliveries = everything(&world).await;
    assert_eq!(
        deliveries.iter().map(|delivery| delivery.name.as_str()).collect::<Vec<_>>(),
        ["early", "timeout", "approved", "once"]
    );
    let recorded: Vec<_> = world.signals(&held.id()).await.iter().map(|signal| signal.id).collect();
    assert_eq!(ids(&deliveries), recorded);
}

pub(crate) async fn a_reader_without_a_cursor_begins_now(world: World) {
    let waitpoints = on_every_partition(&world).await;
    for waitpoint in &waitpoints {
        waitpoint.send("before").await.unwrap();
    }
    let start = world.backend.deliveries(DeliveriesArgs { after: None, limit: 9 }).await.unwrap();
    assert_eq!((start.deliveries, start.missed), (Vec::new(), false));
    let sent = waitpoints[1].send("after").await.unwrap().signal_id;
    assert_eq!(ids(&after(&world, &start.next, 9).await.deliveries), [sent]);
}

/// A reader also gets the first deliveries of a partition that had none when the reader began.
pub(crate) async fn a_reader_that_began_before_everything_misses_nothing(world: World) {
    let start = world.backend.deliveries(DeliveriesArgs { after: None, limit: 9 }).await.unwrap();
    let mut sent = Vec::new();
    for waitpoint in on_every_partition(&world).await {
        sent.push(waitpoint.send("vote").await.unwrap().signal_id);
        world.clock.advance(ms(1)).await;
    }
    assert_eq!(ids(&after(&world, &start.next, 9).await.deliveries), sent);
}

pub(crate) async fn a_waiting_reader_is_notified_at_once(world: World) {
    for waitpoint in on_every_partition(&world).await {
        let deliveries = deliveries_when(&world, async || waitpoint.send("vote").await.unwrap()).await;
        assert_eq!(deliveries[0].execution_id, waitpoint.execution_id);
        assert_eq!(deliveries.len(), 1);
    }
}

pub(crate) async fn a_waiting_reader_is_notified_of_decisions_and_timeouts(world: World) {
    let (held, _) = world.suspended().await;
    let deliveries =
        deliveries_when(&world, async || world.decide(&held.id(), OperatorDecision::Reject).await.unwrap()).await;
    assert_eq!(deliveries.iter().map(|delivery| delivery.name.as_str()).collect::<Vec<_>>(), ["rejected"]);
    let next = world.worker("next").claim().await;
    let timeout = Some(Timeout::After(1_000));
    let wish = SuspendArgs { timeout, timeout_behavior: TimeoutBehavior::AutoResume, ..next.wish("approval") };
    let [_] = next.wait(wish).await;
    let deliveries = deliveries_when(&world, async || world.clock.advance(ms(1_000)).await).await;
    assert_eq!(deliveries.iter().map(|delivery| delivery.name.as_str()).collect::<Vec<_>>(), ["timeout"]);
}

pub(crate) async fn deliveries_in_the_feed_are_returned_without_waiting(world: World) {
    let waitpoints = on_every_partition(&world).await;
    let sent = waitpoints[0].send("vote").await.unwrap().signal_id;
    let args = DeliveriesArgs { after: Some(FeedCursor::default()), limit: 9 };
    let page = timeout(ms(10_000), world.long_poll.next_deliveries(args, 60_000)).await.expect("it waits").unwrap();
    assert_eq!(ids(&page.deliveries), [sent]);
}

pub(crate) async fn a_wait_for_deliveries_runs_out(world: World) {
    for wait_ms in [0, 20] {
        let args = DeliveriesArgs { after: None, limit: 9 };
        let page = world.long_poll.next_deliveries(args, wait_ms).await.unwrap();
        assert_eq!((page.deliveries, page.missed), (Vec::new(), false));
    }
}

pub(crate) async fn a_reader_that_asks_too_much_is_refused(world: World) {
    let of = |limit| DeliveriesArgs { after: Some(FeedCursor::default()), limit };
    for limit in [0, 1_001] {
        let code = if limit == 0 { "invalid_input" } else { "limit_exceeded" };
        assert_refused!(world.backend.deliveries(of(limit)).await, code, "limit");
        assert_refused!(world.long_poll.next_deliveries(of(limit), 0).await, code);
    }
    assert!(world.backend.deliveries(of(1_000)).await.unwrap().deliveries.is_empty());
    assert_refused!(world.long_poll.next_deliveries(of(1), 60_001).await, "limit_exceeded", "wait_ms", 60_000, 60_001);
}

/// Suspends one execution on each partition, and returns the waitpoints. Each takes many signals.
async fn on_every_partition(world: &World) -> Vec<Waitpoint> {
    let mut waitpoints = Vec::new();
    for partition in world.partitions() {
        world.job("resize").on_partition(partition).submit().await;
        let held = world.worker("holder").claim().await;
        let [waitpoint] = held.wait_for(count(100, Distinct::Signals, &["votes"]), ["votes"]).await;
        waitpoints.push(waitpoint);
    }
    waitpoints
}

/// Returns the deliveries that a waiting reader gets when `event` happens.
async fn deliveries_when<T>(world: &World, event: impl AsyncFnOnce() -> T) -> Vec<Delivery> {
    let start = world.backend.deliveries(DeliveriesArgs { after: None, limit: 1 }).await.unwrap().next;
    let args = DeliveriesArgs { after: Some(start), limit: 9 };
    let mut waiting = pin!(world.long_poll.next_deliveries(args, 60_000));
    assert!(timeout(ms(20), &mut waiting).await.is_err(), "there is no delivery yet");
    event().await;
    timeout(ms(10_000), waiting).await.expect("no reader was woken").unwrap().deliveries
}

async fn everything(world: &World) -> Vec<Delivery> {
    after(world, &FeedCursor::default(), 1_000).await.deliveries
}

async fn after(world: &World, cursor: &FeedCursor, limit: usize) -> DeliveriesPage {
    world.backend.deliveries(DeliveriesArgs { after: Some(cursor.clone()), limit }).await.unwrap()
}

fn ids(deliveries: &[Delivery]) -> Vec<SignalId> {
    deliveries.iter().map(|delivery| delivery.signal_id).collect()
}
