//! After a suspension, a worker continues the same attempt and gets the signals.

use std::pin::pin;

use tokio::time::timeout;

use crate::prelude::*;
use crate::world::conditions::{any, count, named, signal};

pub(crate) async fn a_resumed_execution_continues_the_same_attempt(world: World, held: LeasedExecution) {
    held.progress(Some(40), Some("asked")).await.unwrap();
    let [waitpoint] = held.wait(SuspendArgs { continuation: Some("step 3".into()), ..held.wish("approval") }).await;
    let suspension = world.describe(&held.id()).await.suspension.unwrap();
    world.clock.advance(ms(5_000)).await;
    waitpoint.send("approved").await.unwrap();
    assert_eq!(world.state(&held.id()).await, PublicState::Waiting);

    let resumed = world.worker("second").claim().await;
    assert!(resumed.task.resumed);
    assert_eq!((resumed.fence().attempt_id, resumed.task.attempt_index), (held.fence().attempt_id, AttemptIndex(0)));
    assert_eq!(resumed.fence().lease_epoch, held.fence().lease_epoch.next());
    assert_ne!(resumed.fence().lease_id, held.fence().lease_id);
    assert_eq!(resumed.payload, held.payload);
    let resumption = resumed.task.resumption.clone().unwrap();
    assert_eq!((resumption.by, resumption.at), (ResumedBy::Signals, world.clock.now()));
    assert_eq!(resumption.suspension_id, suspension.suspension_id);
    assert_eq!(resumption.continuation.as_deref(), Some("step 3"));
    let read = world.describe(&held.id()).await;
    assert_eq!((read.attempts_made, read.retries, read.suspension), (1, 0, None));
    assert_eq!(read.progress.unwrap().percent, Some(40));
}

pub(crate) async fn a_resumed_worker_is_handed_its_signals_with_their_bytes(world: World, held: LeasedExecution) {
    let [a] = held.wait_for(count(3, Distinct::Signals, &["a"]), ["a"]).await;
    let payloads = [
        Some(Payload::new(ContentType::parse("text/plain; charset=latin1").unwrap(), &b"\x00\xff\r\n\xc3\x28"[..])),
        None,
        Some(Payload::json("{ \"a\":  1.0 }")),
    ];
    let mut delivered = Vec::new();
    for payload in payloads.clone() {
        delivered.push(world.backend.deliver(DeliverArgs { payload, ..a.signal("vote") }).await.unwrap().signal_id);
    }
    let resumed = world.worker("next").claim().await;
    assert_eq!(resumed.task.resumption.as_ref().unwrap().signals, delivered);
    assert_eq!(resumed.task.resumption.as_ref().unwrap().with_payload, 3);
    assert_eq!(resumed.signals.iter().map(|received| received.payload.clone()).collect::<Vec<_>>(), payloads);
    for received in &resumed.signals {
        assert_eq!(world.backend.signal(&held.id(), &received.signal.id).await.unwrap(), *received);
    }
    assert_eq!(world.signals(&held.id()).await.iter().map(|signal| signal.id).collect::<Vec<_>>(), delivered);
}

pub(crate) async fn work_that_never_waited_brings_no_signals(world: World) {
    let held = world.held().await;
    assert!(held.signals.is_empty());
    assert_eq!(held.task.resumption, None);
}

/// Signals that met the condition come first, then others that counted, then signals that did not count.
pub(crate) async fn a_worker_that_requests_all_signals_gets_uncounted_ones_too(world: World, held: LeasedExecution) {
    let either = any([count(2, Distinct::Signals, &["a"]), named("b", "go")]);
    let resume_policy = ResumePolicy { signals: SignalSelection::All, ..ResumePolicy::default() };
    let [a, b] = held.wait(SuspendArgs { resume_policy, ..held.wish_for(either, &["a", "b"]) }).await;
    for (waitpoint, name) in [(&b, "note"), (&a, "half"), (&b, "go")] {
        waitpoint.send(name).await.unwrap();
    }
    assert_eq!(world.worker("next").claim().await.signal_names(), ["go", "half", "note"]);
}

pub(crate) async fn a_resume_delay_is_waited_and_then_runs(world: World, held: LeasedExecution) {
    let resume_policy = ResumePolicy { resume_delay_ms: 5_000, ..ResumePolicy::default() };
    let [waitpoint] = held.wait(SuspendArgs { resume_policy, ..held.wish("approval") }).await;
    assert_eq!(waitpoint.effect("approved").await, Effect::Satisfied);
    let read = world.describe(&held.id()).await;
    assert_eq!((read.public_state, read.delayed_until), (PublicState::Delayed, Some(world.clock.now() + 5_000)));
    assert_eq!(read.state.blocking_reason, BlockingReason::WaitingForResumeDelay);
    world.clock.advance(ms(4_999)).await;
    assert!(world.worker("eager").claim_up_to(1).await.is_empty());
    world.clock.advance(ms(1)).await;
    let resumed = world.worker("next").claim().await;
    assert_eq!(resumed.signal_names(), ["approved"]);
    resumed.complete(b"done").await.unwrap();
}

pub(crate) async fn a_waiting_worker_gets_what_a_signal_releases(world: World) {
    let (held, waitpoint) = world.suspended().await;
    let got = woken_by(&world, async || waitpoint.send("approved").await.unwrap()).await;
    assert_eq!((got.id(), got.signal_names()), (held.id(), vec!["approved"]));
}

pub(crate) async fn a_waiting_worker_gets_what_an_operator_releases(world: World) {
    let (held, _) = world.suspended().await;
    let got = woken_by(&world, async || world.decide(&held.id(), OperatorDecision::Approve).await.unwrap()).await;
    assert_eq!((got.id(), got.signal_names()), (held.id(), vec!["approved"]));
}

pub(crate) async fn a_waiting_worker_gets_what_a_timeout_releases(world: World, held: LeasedExecution) {
    let timeout = Some(Timeout::After(1_000));
    let wish = SuspendArgs { timeout, timeout_behavior: TimeoutBehavior::AutoResume, ..held.wish("approval") };
    let [_] = held.wait(wish).await;
    let got = woken_by(&world, async || world.clock.advance(ms(1_000)).await).await;
    assert_eq!((got.id(), got.signal_names()), (held.id(), vec!["timeout"]));
}

/// The signals belong to the execution, not to the worker that lost it.
pub(crate) async fn a_try_that_starts_over_still_finds_its_signals(world: World) {
    world.job("resize").retries(1, ms(0)).submit().await;
    let waitpoint = world.worker("holder").claim().await.wait_on("approval").await;
    waitpoint.send("approved").await.unwrap();
    let silent = world.worker("silent").claim().await;
    world.clock.advance(silent.lease_ttl()).await;
    let reclaimed = world.worker("second").claim().await;
    assert_eq!(reclaimed.task.attempt, Origin::Reclaim { of: AttemptIndex(0) });
    assert!(!reclaimed.task.resumed);
    assert_eq!((reclaimed.signal_names(), reclaimed.signals.clone()), (vec!["approved"], silent.signals));
    reclaimed.fail("network").await.unwrap();
    let retried = world.worker("third").claim().await;
    assert_eq!(retried.task.attempt, Origin::Retry { of: AttemptIndex(1) });
    assert_eq!(retried.signal_names(), ["approved"]);
}

pub(crate) async fn more_than_four_mebibytes_of_signals_are_read_one_by_one(world: World, held: LeasedExecution) {
    let [a] = held.wait_for(count(17, Distinct::Signals, &["a"]), ["a"]).await;
    let large = |nth: u8| Some(Payload::bytes(vec![nth; limits::SIGNAL_BYTES]));
    for nth in 0..17 {
        world.backend.deliver(DeliverArgs { payload: large(nth), ..a.signal("part") }).await.unwrap();
    }
    let resumed = world.worker("next").claim().await;
    let resumption = resumed.task.resumption.clone().unwrap();
    assert_eq!((resumption.signals.len(), resumption.with_payload), (17, 16));
    assert_eq!(resumed.signals.len(), 17);
    assert!((0..16).all(|nth| resumed.signals[usize::from(nth)].payload == large(nth)));
    assert_eq!(resumed.signals[16].payload, None);
    let last = world.backend.signal(&held.id(), &resumption.signals[16]).await.unwrap();
    assert_eq!((last.payload, last.signal), (large(16), resumed.signals[16].signal.clone()));
}

/// The bytes of signals count towards the limit of one claim.
pub(crate) async fn a_claim_stops_at_four_mebibytes_of_signals_as_well(world: World) {
    let large = Some(Payload::bytes(vec![7; limits::SIGNAL_BYTES]));
    for _ in 0..3 {
        world.job("resize").on_partition(0).submit().await;
    }
    for held in world.worker("holder").claim_up_to(3).await {
        let [a] = held.wait_for(count(8, Distinct::Signals, &["a"]), ["a"]).await;
        for _ in 0..8 {
            world.backend.deliver(DeliverArgs { payload: large.clone(), ..a.signal("part") }).await.unwrap();
        }
    }
    let claims = world.backend.claim(world.worker("next").claim_args(0, 3)).await.unwrap();
    assert_eq!(claims.claimed.len(), 2);
    assert!(claims.next.is_some());
    assert_eq!(world.worker("next").claim_up_to(3).await.len(), 1);
}

pub(crate) async fn a_later_suspension_hands_only_its_own_signals(world: World) {
    let (_, first) = world.suspended().await;
    first.send("first").await.unwrap();
    let second = world.worker("second").claim().await.wait_for(signal("next"), ["next"]).await;
    second[0].send("second").await.unwrap();
    assert_eq!(world.worker("third").claim().await.signal_names(), ["second"]);
}

/// Returns the execution that a waiting worker gets when `event` happens.
async fn woken_by<T>(world: &World, event: impl AsyncFnOnce() -> T) -> LeasedExecution {
    let worker = world.worker("waiting");
    let mut waiting = pin!(worker.next(1, ms(60_000)));
    assert!(timeout(ms(20), &mut waiting).await.is_err(), "there was nothing to wait for");
    event().await;
    timeout(ms(10_000), waiting).await.expect("no waiter was woken").remove(0)
}
