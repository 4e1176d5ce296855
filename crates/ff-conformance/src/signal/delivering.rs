//! A sender with the token of a waitpoint delivers a signal and gets its effect.

use std::collections::BTreeSet;

use futures_util::future::join_all;

use crate::prelude::*;
use crate::world::conditions::{all, count, named};

/// Every signal is recorded with its effect, counted or not. Only a duplicate is not recorded.
pub(crate) async fn every_delivery_returns_the_effect_of_its_signal(world: World, held: LeasedExecution) {
    let ahead = held.ahead("b").await;
    let mut effects = vec![ahead.effect("go").await];
    let mut wish = held.wish_for(all([named("a", "go"), count(2, Distinct::Sources, &["b"])]), &["a", "b"]);
    wish.waitpoints[1] = ahead.binding();
    let [a, b] = held.wait(wish).await;
    effects.push(a.effect("other").await);
    effects.push(a.effect("go").await);
    effects.push(b.effect("go").await);
    effects.push(b.effect_from("ada", "go").await);
    assert_eq!(
        effects,
        [Effect::Buffered, Effect::MatcherFailed, Effect::Appended, Effect::Recounted, Effect::Satisfied]
    );
    let resumed = world.worker("next").claim().await;
    let [operated] = resumed.wait_for(Condition::OperatorOnly, ["review"]).await;
    let once = operated.signal_once("go", "once");
    effects.push(world.backend.deliver(once.clone()).await.unwrap().effect);
    assert_eq!(effects.last(), Some(&Effect::NotInCondition));
    assert_eq!(world.backend.deliver(once).await.unwrap().effect, Effect::Duplicate);
    let recorded: Vec<_> = world.signals(&held.id()).await.iter().map(|signal| signal.effect).collect();
    assert_eq!(recorded, effects);
}

pub(crate) async fn a_signal_reads_back_as_it_was_sent(world: World, held: LeasedExecution) {
    let [a] = held.wait_for(count(9, Distinct::Signals, &["a"]), ["a"]).await;
    world.clock.advance(ms(77)).await;
    for bytes in [&b"\x00\xff\r\n\xc3\x28"[..], b"{ \"a\":  1.0 }", &[0; 100_000]] {
        let content_type = ContentType::parse("application/x.odd+json; v=2").unwrap();
        let sent = DeliverArgs {
            source: Source::parse("webhook", Some("Zoë <zoe@example.org>")).unwrap(),
            payload: Some(Payload::new(content_type, bytes)),
            ..a.signal_once("build.finished", &format!("build:{}", bytes.len()))
        };
        let delivered = world.backend.deliver(sent.clone()).await.unwrap();
        let read = world.backend.signal(&held.id(), &delivered.signal_id).await.unwrap();
        assert_eq!((&read.payload, &read.signal.source), (&sent.payload, &sent.source));
        assert_eq!((&read.signal.name, &read.signal.idempotency_key), (&sent.name, &sent.idempotency_key));
        assert_eq!((read.signal.execution_id, read.signal.waitpoint_id), (held.id(), Some(a.id())));
        assert_eq!((read.signal.received_at, read.signal.effect), (world.clock.now(), delivered.effect));
        assert_eq!(read.signal.payload_bytes, bytes.len() as u64);
    }
}

pub(crate) async fn a_signal_may_carry_nothing(world: World, held: LeasedExecution) {
    let [a] = held.wait_for(count(2, Distinct::Signals, &["a"]), ["a"]).await;
    for payload in [None, Some(Payload::json(""))] {
        let delivered = world.backend.deliver(DeliverArgs { payload, ..a.signal("ping") }).await.unwrap();
        let read = world.backend.signal(&held.id(), &delivered.signal_id).await.unwrap();
        assert_eq!((read.payload, read.signal.payload_bytes), (None, 0));
        assert_eq!(read.signal.source, Source::external());
    }
    assert!(world.worker("next").claim().await.signals.iter().all(|received| received.payload.is_none()));
}

pub(crate) async fn a_waitpoint_is_known_by_its_key_as_well(world: World, held: LeasedExecution) {
    let ahead = held.ahead("Freigabe für Zoë").await;
    assert_eq!(world.backend.deliver(by_key(&ahead, "go")).await.unwrap().effect, Effect::Buffered);
    let waitpoint = held.wait_on("approval").await;
    assert_eq!(world.backend.deliver(by_key(&waitpoint, "go")).await.unwrap().effect, Effect::Satisfied);
    assert_refused!(world.backend.deliver(by_key(&waitpoint, "go")).await, "waitpoint_closed");
}

/// A key is a name within one execution: the same name elsewhere is another waitpoint.
pub(crate) async fn a_waitpoints_key_belongs_to_its_execution(world: World) {
    let mut waitpoints = Vec::new();
    for _ in 0..3 {
        world.job("resize").on_partition(2).submit().await;
        waitpoints.push(world.worker("holder").claim().await.wait_on("approval").await);
    }
    for waitpoint in waitpoints.iter().rev() {
        assert_eq!(world.backend.deliver(by_key(waitpoint, "go")).await.unwrap().effect, Effect::Satisfied);
        assert_eq!(world.state(&waitpoint.execution_id).await, PublicState::Waiting);
    }
}

/// The key of a closed waitpoint may be used again. A signal by key reaches the open waitpoint.
pub(crate) async fn a_key_means_the_waitpoint_that_is_open(world: World) {
    let (_, first) = world.suspended().await;
    first.send("first").await.unwrap();
    let second = world.worker("next").claim().await.wait_on("approval").await;
    let crossed = DeliverArgs { token: first.token(), ..by_key(&second, "second") };
    assert_refused!(world.backend.deliver(crossed).await, "invalid_token");
    assert_eq!(world.backend.deliver(by_key(&second, "second")).await.unwrap().effect, Effect::Satisfied);
}

pub(crate) async fn an_old_token_cannot_touch_a_later_suspension(world: World) {
    let (held, old) = world.suspended().await;
    old.send("first").await.unwrap();
    assert_refused!(old.send("late").await, "waitpoint_closed");
    let resumed = world.worker("next").claim().await;
    assert_refused!(old.send("late").await, "waitpoint_closed");
    let new = resumed.wait_on("approval").await;
    assert_ne!(new.granted.waitpoint_token, old.granted.waitpoint_token);
    let before = world.contents().await;
    assert_refused!(old.send("late").await, "waitpoint_closed");
    let crossed = DeliverArgs { token: old.token(), ..new.signal("late") };
    assert_refused!(world.backend.deliver(crossed).await, "invalid_token");
    assert_eq!(world.contents().await, before);
    assert_eq!(world.state(&held.id()).await, PublicState::Suspended);
}

pub(crate) async fn an_old_token_is_worth_nothing_after_an_operator(world: World) {
    let (held, old) = world.suspended().await;
    world.decide(&held.id(), OperatorDecision::Resume).await.unwrap();
    assert_refused!(old.send("late").await, "waitpoint_closed");
    let new = world.worker("next").claim().await.wait_on("approval").await;
    let before = world.contents().await;
    assert_refused!(old.send("late").await, "waitpoint_closed");
    let crossed = DeliverArgs { token: old.token(), ..new.signal("late") };
    assert_refused!(world.backend.deliver(crossed).await, "invalid_token");
    assert_eq!(world.contents().await, before);
    assert_eq!(world.state(&held.id()).await, PublicState::Suspended);
}

pub(crate) async fn finished_work_takes_no_signals(world: World) {
    let (held, waitpoint) = world.suspended().await;
    waitpoint.send("go").await.unwrap();
    world.worker("next").claim().await.complete(b"done").await.unwrap();
    let answer = world.writes_nothing(waitpoint.send("late")).await;
    assert_refused!(answer, "target_not_signalable", PublicState::Completed);
    assert_eq!(world.result(&held.id()).await, b"done");
}

/// Exactly one of many concurrent signals meets the condition, and signals after it do not count.
pub(crate) async fn of_many_signals_at_once_one_meets_the_condition(world: World, held: LeasedExecution) {
    let [a] = held.wait_for(count(5, Distinct::Signals, &["a"]), ["a"]).await;
    let answers = join_all((0..20).map(|nth| {
        let a = a.clone();
        async move { a.send(&format!("vote-{nth}")).await }
    }))
    .await;
    let mut ids = BTreeSet::new();
    let mut effects = Vec::new();
    for answer in answers {
        match answer {
            Ok(delivered) => {
                ids.insert(delivered.signal_id);
                effects.push(delivered.effect);
            }
            Err(EngineError::Refused(refusal)) => assert_eq!(refusal.code.as_str(), "waitpoint_closed"),
            Err(trouble) => panic!("{trouble}"),
        }
    }
    effects.sort_by_key(|effect| effect.as_str());
    assert_eq!(effects, [[Effect::Appended].repeat(4), vec![Effect::Satisfied]].concat());
    let claimed_ids: BTreeSet<_> =
        world.worker("next").claim().await.signals.iter().map(|received| received.signal.id).collect();
    assert_eq!(claimed_ids, ids);
}

pub(crate) async fn work_has_been_suspended_since_before_its_signals(world: World, held: LeasedExecution) {
    let [a] = held.wait_for(count(2, Distinct::Signals, &["a"]), ["a"]).await;
    let since = world.describe(&held.id()).await.changed_at;
    world.clock.advance(ms(1_000)).await;
    a.send("one").await.unwrap();
    assert_eq!(world.describe(&held.id()).await.changed_at, since, "it has been suspended since");
    a.send("two").await.unwrap();
    assert_eq!(world.describe(&held.id()).await.changed_at, world.clock.now());
}

fn by_key(waitpoint: &Waitpoint, name: &str) -> DeliverArgs {
    DeliverArgs { waitpoint: WaitpointRef::Key(waitpoint.granted.waitpoint_key.clone()), ..waitpoint.signal(name) }
}
