//! A sender without an answer may send again under its key. The waitpoint takes such a signal once.

use futures_util::future::join_all;

use crate::prelude::*;
use crate::world::conditions::{all, count, signal};

pub(crate) async fn a_duplicate_counts_once(world: World, held: LeasedExecution) {
    let [a] = held.wait_for(count(2, Distinct::Signals, &["a"]), ["a"]).await;
    let once = a.signal_once("vote", "vote-1");
    let first = world.backend.deliver(once.clone()).await.unwrap();
    let before = world.contents().await;
    world.clock.advance(ms(10)).await;
    assert_eq!(world.backend.deliver(once.clone()).await.unwrap(), duplicate(first));
    let other = DeliverArgs { payload: Some(Payload::json("2")), ..a.signal_once("other", "vote-1") };
    assert_eq!(world.backend.deliver(other).await.unwrap(), duplicate(first), "the key decides, not what is sent");
    assert_eq!(world.contents().await, before);
    assert_eq!(world.backend.deliver(a.signal_once("vote", "vote-2")).await.unwrap().effect, Effect::Satisfied);
}

pub(crate) async fn a_duplicate_after_the_resume_answers_with_the_first_signals_id(world: World) {
    let (held, waitpoint) = world.suspended().await;
    let once = waitpoint.signal_once("approved", "answer");
    let first = world.backend.deliver(once.clone()).await.unwrap();
    assert_eq!(first.effect, Effect::Satisfied);
    assert_eq!(world.backend.deliver(once.clone()).await.unwrap(), duplicate(first));
    let resumed = world.worker("next").claim().await;
    assert_eq!(world.backend.deliver(once.clone()).await.unwrap(), duplicate(first));
    let later = resumed.wait_on("more").await;
    assert_eq!(world.backend.deliver(once.clone()).await.unwrap(), duplicate(first), "and in a later suspension");
    later.send("more").await.unwrap();
    world.worker("next").claim().await.complete(b"done").await.unwrap();
    assert_eq!(world.writes_nothing(world.backend.deliver(once)).await.unwrap(), duplicate(first), "and after the end");
    assert_eq!(world.signals(&held.id()).await.len(), 2);
}

pub(crate) async fn a_duplicate_of_an_early_signal_is_kept_once(world: World, held: LeasedExecution) {
    let ahead = held.ahead("votes").await;
    let once = ahead.signal_once("vote", "vote-1");
    let first = world.backend.deliver(once.clone()).await.unwrap();
    assert_eq!(first.effect, Effect::Buffered);
    assert_eq!(world.backend.deliver(once.clone()).await.unwrap(), duplicate(first));
    let mut wish = held.wish_for(count(2, Distinct::Signals, &["votes"]), &["votes"]);
    wish.waitpoints[0] = ahead.binding();
    let [votes] = held.wait(wish).await;
    assert_eq!(world.backend.deliver(once).await.unwrap(), duplicate(first));
    assert_eq!(world.state(&held.id()).await, PublicState::Suspended);
    assert_eq!(votes.effect("vote").await, Effect::Satisfied);
}

pub(crate) async fn a_key_of_a_signal_belongs_to_its_waitpoint(world: World, held: LeasedExecution) {
    let [a, b] = held.wait_for(all([signal("a"), signal("b")]), ["a", "b"]).await;
    let first = world.backend.deliver(a.signal_once("go", "once")).await.unwrap();
    let second = world.backend.deliver(b.signal_once("go", "once")).await.unwrap();
    assert_ne!(first.signal_id, second.signal_id);
    assert_eq!(second.effect, Effect::Satisfied);
    let other = world.worker("next").claim().await.wait_on("a").await;
    assert_eq!(world.backend.deliver(other.signal_once("go", "once")).await.unwrap().effect, Effect::Satisfied);
}

pub(crate) async fn a_key_of_a_signal_is_forgotten_after_its_window(world: World, held: LeasedExecution) {
    let [a] = held.wait_for(count(9, Distinct::Signals, &["a"]), ["a"]).await;
    let once = DeliverArgs { dedup_ttl_ms: 1_000, ..a.signal_once("vote", "once") };
    let first = world.backend.deliver(once.clone()).await.unwrap();
    world.clock.advance(ms(999)).await;
    assert_eq!(world.backend.deliver(once.clone()).await.unwrap(), duplicate(first));
    world.clock.advance(ms(1)).await;
    let second = world.backend.deliver(once).await.unwrap();
    assert_eq!(second.effect, Effect::Appended);
    assert_ne!(second.signal_id, first.signal_id);
}

pub(crate) async fn a_key_of_a_signal_is_remembered_for_a_day_by_default(world: World) {
    let (_, waitpoint) = world.suspended().await;
    let once = waitpoint.signal_once("approved", "answer");
    let first = world.backend.deliver(once.clone()).await.unwrap();
    world.clock.advance(ms(24 * 3_600_000 - 1)).await;
    assert_eq!(world.backend.deliver(once.clone()).await.unwrap(), duplicate(first));
    world.clock.advance(ms(1)).await;
    assert_refused!(world.backend.deliver(once).await, "waitpoint_closed");
}

pub(crate) async fn a_key_sent_by_many_at_once_is_one_signal(world: World, held: LeasedExecution) {
    let [a] = held.wait_for(count(2, Distinct::Signals, &["a"]), ["a"]).await;
    let once = a.signal_once("vote", "once");
    let answers = join_all((0..16).map(|_| world.backend.deliver(once.clone()))).await;
    let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
    assert_eq!(answers.iter().filter(|answer| answer.effect == Effect::Appended).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.effect == Effect::Duplicate).count(), 15);
    assert!(answers.iter().all(|answer| answer.signal_id == answers[0].signal_id));
    assert_eq!(world.signals(&held.id()).await.len(), 1);
}

/// Two signals without a key count separately, even if they are equal.
pub(crate) async fn signals_without_a_key_are_each_their_own(world: World) {
    let held = world.held().await;
    let [a] = held.wait_for(count(3, Distinct::Signals, &["a"]), ["a"]).await;
    for effect in [Effect::Appended, Effect::Appended, Effect::Satisfied] {
        assert_eq!(a.effect("vote").await, effect);
    }
}

fn duplicate(of: DeliveredSignal) -> DeliveredSignal {
    DeliveredSignal { effect: Effect::Duplicate, ..of }
}
