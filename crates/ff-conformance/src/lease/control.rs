//! A worker that loses a lease is told at once.

use tokio::time::timeout;

use crate::prelude::*;

pub(crate) async fn a_holder_is_notified_of_a_cancellation(world: World) {
    let (worker, held) = listening(&world).await;
    let control = control_when(&worker, async || world.cancel(&held.id()).await.unwrap()).await;
    assert_eq!(control.lost, [lost(&held, LeaseEnding::Cancelled)]);
}

pub(crate) async fn a_holder_is_notified_of_a_revocation(world: World) {
    let (worker, held) = listening(&world).await;
    let control = control_when(&worker, async || world.revoke(&held.id()).await.unwrap()).await;
    assert_eq!(control.lost, [lost(&held, LeaseEnding::Revoked)]);
}

pub(crate) async fn a_holder_is_notified_of_the_expiry_of_its_lease(world: World) {
    let (worker, held) = listening(&world).await;
    let control = control_when(&worker, async || world.clock.advance(held.lease_ttl()).await).await;
    assert_eq!(control.lost, [lost(&held, LeaseEnding::Expired)]);
}

pub(crate) async fn a_holder_is_notified_of_a_timeout_and_of_a_deadline(world: World) {
    world.job("resize").attempt_timeout(ms(1_000)).submit().await;
    let worker = world.worker("holder");
    let held = worker.claim().await;
    let control = control_when(&worker, async || world.clock.advance(ms(1_000)).await).await;
    assert_eq!(control.lost, [lost(&held, LeaseEnding::TimedOut)]);

    world.job("shrink").deadline(ms(1_000)).submit().await;
    let held = worker.clone().kinds(&["shrink"]).claim().await;
    let control = control_when(&worker, async || world.clock.advance(ms(1_000)).await).await;
    assert_eq!(control.lost, [lost(&held, LeaseEnding::DeadlinePassed)]);
}

pub(crate) async fn a_lease_that_its_holder_ended_is_not_reported_as_lost(world: World) {
    let (worker, finished) = listening(&world).await;
    let after = worker.control(None, ms(0)).await.unwrap().next;
    finished.complete(b"done").await.unwrap();
    world.held().await.fail_with("input", "unreadable", true).await.unwrap();
    world.held().await.delay(ms(1_000)).await.unwrap();
    let control = worker.control(Some(&after), ms(20)).await.unwrap();
    assert_eq!((control.lost, control.missed), (Vec::new(), false));
}

pub(crate) async fn news_goes_to_the_instance_it_is_about(world: World) {
    let (worker, held) = listening(&world).await;
    let bystander = world.worker("bystander");
    let (ours, theirs) = (start(&worker).await, start(&bystander).await);
    world.cancel(&held.id()).await.unwrap();
    let control = news(&worker, &ours).await;
    assert_eq!(control.lost, [lost(&held, LeaseEnding::Cancelled)]);
    assert_eq!(bystander.control(Some(&theirs), ms(20)).await.unwrap().lost, []);
}

/// Between two long polls a worker is busy; a lease lost meanwhile must still be reported.
pub(crate) async fn news_between_two_questions_is_kept(world: World) {
    let worker = world.worker("holder");
    let mut after = start(&worker).await;
    for _ in 0..3 {
        let (one, two) = (world.held().await, world.held().await);
        world.cancel(&one.id()).await.unwrap();
        world.revoke(&two.id()).await.unwrap();
        let mut losses = Vec::new();
        while losses.len() < 2 {
            let control = news(&worker, &after).await;
            assert!(!control.missed);
            losses.extend(control.lost);
            after = control.next;
        }
        assert_eq!(losses, [lost(&one, LeaseEnding::Cancelled), lost(&two, LeaseEnding::Revoked)]);
        world.cancel(&two.id()).await.unwrap();
    }
}

pub(crate) async fn a_lost_lease_is_reported_once_per_cursor(world: World) {
    let (worker, held) = listening(&world).await;
    let after = start(&worker).await;
    world.cancel(&held.id()).await.unwrap();
    let control = news(&worker, &after).await;
    assert_eq!(control.lost.len(), 1);
    assert_eq!(worker.control(Some(&control.next), ms(20)).await.unwrap().lost, []);
    let again = worker.control(Some(&after), ms(60_000)).await.unwrap();
    assert_eq!(again.lost, control.lost, "an answer that got lost can be asked for again");
}

pub(crate) async fn an_invented_control_cursor_is_refused(world: World) {
    let worker = world.worker("holder");
    for made_up in ["", "x", "1-2", &format!("{}9", start(&worker).await)] {
        let refusal = assert_refused!(worker.control(Some(made_up), ms(0)).await, "invalid_cursor");
        assert_eq!(refusal.field.as_deref(), Some("after"), "{made_up:?}");
    }
}

pub(crate) async fn a_wait_for_news_is_refused_when_it_is_too_long(world: World) {
    let worker = world.worker("holder");
    assert_refused!(worker.control(None, ms(60_001)).await, "limit_exceeded", "wait_ms", 60_000, 60_001);
}

async fn listening(world: &World) -> (Worker, LeasedExecution) {
    let held = world.held().await;
    (world.worker("holder"), held)
}

/// Returns the next control message after a cursor.
async fn news(worker: &Worker, after: &str) -> Control {
    timeout(ms(10_000), worker.control(Some(after), ms(60_000))).await.expect("no news in time").unwrap()
}

/// Returns the cursor of a worker that starts to listen now.
async fn start(worker: &Worker) -> String {
    worker.control(None, ms(0)).await.unwrap().next
}

/// Returns the control message that a listening worker gets when `event` happens.
pub(crate) async fn control_when<T>(worker: &Worker, event: impl AsyncFnOnce() -> T) -> Control {
    let after = start(worker).await;
    let listener = worker.clone();
    let listening = tokio::spawn(async move { listener.control(Some(&after), ms(60_000)).await });
    event().await;
    timeout(ms(10_000), listening).await.expect("no news for the holder").unwrap().unwrap()
}

pub(crate) fn lost(held: &LeasedExecution, ended: LeaseEnding) -> LeaseLost {
    LeaseLost { execution_id: held.id(), fence: held.fence(), ended }
}
