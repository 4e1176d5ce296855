//! A value of a signal is accepted at its limit and refused one past it. A refusal writes nothing.

use futures_util::future::join_all;

use crate::prelude::*;
use crate::world::conditions::count;

pub(crate) async fn a_signal_may_have_two_hundred_and_fifty_six_kibibytes(world: World) {
    let (_, waitpoint) = world.suspended().await;
    let sized = |bytes| DeliverArgs { payload: Some(Payload::bytes(vec![7; bytes])), ..waitpoint.signal("go") };
    let over = world.writes_nothing(world.backend.deliver(sized(limits::SIGNAL_BYTES + 1))).await;
    assert_refused!(over, "payload_too_large", "payload", 262_144, 262_145);
    world.backend.deliver(sized(limits::SIGNAL_BYTES)).await.unwrap();
    let resumed = world.worker("next").claim().await;
    assert_eq!(resumed.signals[0].payload, sized(limits::SIGNAL_BYTES).payload);
}

pub(crate) async fn names_and_texts_of_a_signal_may_be_as_long_as_they_may(world: World) {
    let (held, waitpoint) = world.suspended().await;
    let identity = "é".repeat(limits::TEXT_BYTES / 2);
    let sent = DeliverArgs {
        source: Source::parse(&"s".repeat(limits::NAME_BYTES), Some(&identity)).unwrap(),
        dedup_ttl_ms: limits::SPAN_MAX_MS,
        ..waitpoint.signal_once(&"n".repeat(limits::NAME_BYTES), &"ü".repeat(limits::TEXT_BYTES / 2))
    };
    let over = DeliverArgs { dedup_ttl_ms: limits::SPAN_MAX_MS + 1, ..sent.clone() };
    assert_refused!(world.writes_nothing(world.backend.deliver(over)).await, "limit_exceeded", "dedup_ttl_ms");
    world.backend.deliver(sent.clone()).await.unwrap();
    let [read] = &world.signals(&held.id()).await[..] else { panic!("not one signal") };
    assert_eq!((&read.name, &read.source, &read.idempotency_key), (&sent.name, &sent.source, &sent.idempotency_key));
}

/// Senders cannot use the source types operator and engine, so a worker can trust signals of these types.
pub(crate) async fn a_caller_cannot_use_the_operator_or_engine_source(world: World) {
    let (_, waitpoint) = world.suspended().await;
    let before = world.contents().await;
    for kind in ["operator", "engine", "Operator", "ENGINE"] {
        let source = Source::parse(kind, Some("boss")).unwrap();
        let forged = DeliverArgs { source, ..waitpoint.signal("approved") };
        assert_refused!(world.backend.deliver(forged).await, "invalid_input", "source.type");
    }
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn five_hundred_early_signals_are_kept(world: World, held: LeasedExecution) {
    let (ahead, other) = (held.ahead("votes").await, held.ahead("other").await);
    let answers = send_many(&world, &ahead, limits::BUFFERED_SIGNALS).await;
    assert!(answers.iter().all(|answer| answer.effect == Effect::Buffered));
    let before = world.contents().await;
    // One suspension may wait on all of these waitpoints, so they share the limit.
    for waitpoint in [&ahead, &other] {
        assert_refused!(waitpoint.send("more").await, "signal_limit_exceeded", "buffered", 500, 501);
    }
    assert_eq!(world.contents().await, before);
    let mut wish = held.wish_for(count(500, Distinct::Signals, &["votes"]), &["votes"]);
    wish.waitpoints[0] = ahead.binding();
    let SuspendOutcome::AlreadySatisfied { signals } = world.suspend(wish).await.unwrap().outcome else {
        panic!("it waits")
    };
    assert_eq!(signals.len(), 500);
}

/// The feed of a partition keeps as many deliveries as one execution takes signals. A reader that missed the first ones is told so.
pub(crate) async fn an_execution_takes_ten_thousand_signals_and_its_feed_keeps_as_many(world: World) {
    world.job("resize").on_partition(3).submit().await;
    let held = world.worker("holder").claim().await;
    let [a] = held.wait_for(count(2, Distinct::Sources, &["a"]), ["a"]).await;
    let answers = send_many(&world, &a, limits::SIGNALS).await;
    assert_eq!(answers.iter().filter(|answer| answer.effect == Effect::Appended).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.effect == Effect::Recounted).count(), limits::SIGNALS - 1);
    assert_refused!(a.send("more").await, "signal_limit_exceeded", "signals", 10_000, 10_001);

    let from_the_start = async || {
        let args = DeliveriesArgs { after: Some(FeedCursor::default()), limit: 1 };
        world.backend.deliveries(args).await.unwrap()
    };
    let first = from_the_start().await.deliveries.remove(0);
    world.job("resize").on_partition(3).submit().await;
    world.worker("holder").claim().await.wait_on("other").await.send("one-more").await.unwrap();
    let late = from_the_start().await;
    assert!(late.missed && late.deliveries[0].position > first.position);
    world.decide(&held.id(), OperatorDecision::Resume).await.unwrap();
    assert_eq!(world.worker("next").claim().await.signal_names(), ["vote", "resumed"], "an operator is always heard");
}

/// Sends `many` signals, up to `AT_ONCE` at the same time, and returns the answers.
async fn send_many(world: &World, to: &Waitpoint, many: usize) -> Vec<DeliveredSignal> {
    const AT_ONCE: usize = 200;
    let signal = DeliverArgs { payload: None, ..to.signal("vote") };
    let mut answers = Vec::with_capacity(many);
    while answers.len() < many {
        let sent = join_all((answers.len()..many).take(AT_ONCE).map(|_| world.backend.deliver(signal.clone()))).await;
        answers.extend(sent.into_iter().map(Result::unwrap));
    }
    answers
}
