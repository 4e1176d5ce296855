//! The reply to a suspend call may be lost. A repeated call gets the first answer and suspends nothing anew.

use crate::prelude::*;

pub(crate) async fn suspending_twice_with_one_idempotency_key_is_one_suspension(world: World, held: LeasedExecution) {
    let wish = under("once", held.wish("approval"));
    let first = world.suspend(wish.clone()).await.unwrap();
    let before = world.contents().await;
    world.clock.advance(ms(100)).await;
    assert_eq!(world.suspend(wish).await.unwrap(), first);
    let other = SuspendArgs { continuation: Some("elsewhere".into()), ..under("once", held.wish("other")) };
    assert_eq!(world.suspend(other).await.unwrap(), first, "the key decides, not what is asked");
    assert_eq!(world.contents().await, before);
}

/// A later holder that repeats the call under the old key gets the old answer and keeps its lease.
pub(crate) async fn a_key_gives_the_first_answer_after_the_resume_as_well(world: World) {
    let (held, first) = resumed_under(&world, "once").await;
    let wish = under("once", held.wish("approval"));
    assert_eq!(world.writes_nothing(world.suspend(wish)).await.unwrap(), first);
    assert_eq!(world.state(&held.id()).await, PublicState::Active);
    let second = world.suspend(under("twice", held.wish("approval"))).await.unwrap();
    assert_ne!(second.suspension_id, first.suspension_id);
    assert_eq!(world.state(&held.id()).await, PublicState::Suspended);
}

pub(crate) async fn a_key_of_a_suspension_is_forgotten_after_its_window(world: World, held: LeasedExecution) {
    let wish = SuspendArgs { dedup_ttl_ms: 1_000, ..under("once", held.wish("approval")) };
    let [waitpoint] = held.wait(wish.clone()).await;
    let first = waitpoint.granted.waitpoint_id;
    world.clock.advance(ms(999)).await;
    waitpoint.send("go").await.unwrap();
    let again = world.worker("again").claim().await;
    let wish = SuspendArgs { fence: again.fence(), ..wish };
    assert_eq!(world.suspend(wish.clone()).await.unwrap().waitpoints[0].waitpoint_id, first);
    world.clock.advance(ms(1)).await;
    assert_ne!(world.suspend(wish).await.unwrap().waitpoints[0].waitpoint_id, first);
    assert_eq!(world.state(&held.id()).await, PublicState::Suspended);
}

pub(crate) async fn a_key_of_a_suspension_is_remembered_for_a_week_by_default(world: World) {
    let (held, first) = resumed_under(&world, "once").await;
    held.delay(ms(7 * 24 * 3_600_000 - 1)).await.unwrap();
    world.clock.advance(ms(7 * 24 * 3_600_000 - 1)).await;
    let late = world.worker("late").claim().await;
    assert_eq!(world.suspend(under("once", late.wish("approval"))).await.unwrap(), first);
    world.clock.advance(ms(1)).await;
    let second = world.suspend(under("once", late.wish("approval"))).await.unwrap();
    assert_ne!(second.suspension_id, first.suspension_id);
}

pub(crate) async fn a_key_of_a_suspension_belongs_to_its_execution(world: World) {
    let (one, other) = (world.held().await, world.held().await);
    let first = world.suspend(under("once", one.wish("approval"))).await.unwrap();
    let second = world.suspend(under("once", other.wish("approval"))).await.unwrap();
    assert_ne!(first.suspension_id, second.suspension_id);
    assert_eq!(world.state(&other.id()).await, PublicState::Suspended);
}

/// Without a key, the released fence identifies a repeated call.
pub(crate) async fn a_holder_whose_reply_got_lost_is_answered_as_the_first_time(world: World, held: LeasedExecution) {
    let [waitpoint] = held.wait(held.wish("approval")).await;
    let first = world.writes_nothing(world.suspend(held.wish("approval"))).await.unwrap();
    assert_eq!((&first.outcome, &first.waitpoints), (&SuspendOutcome::Suspended, &vec![waitpoint.granted.clone()]));
    waitpoint.send("go").await.unwrap();
    assert_eq!(world.suspend(held.wish("approval")).await.unwrap(), first, "even when the suspension is over");
    world.worker("again").claim().await;
    assert_refused!(world.suspend(held.wish("approval")).await, "stale_lease");
}

pub(crate) async fn a_repeated_suspend_returns_already_satisfied_again(world: World, held: LeasedExecution) {
    let ahead = held.ahead("approval").await;
    ahead.send("approved").await.unwrap();
    let wish = SuspendArgs { waitpoints: vec![ahead.binding()], ..held.wish("approval") };
    let first = world.suspend(wish.clone()).await.unwrap();
    let before = world.contents().await;
    world.clock.advance(ms(10)).await;
    assert_eq!(world.suspend(wish).await.unwrap(), first);
    assert_eq!(world.contents().await, before);
    assert!(matches!(first.outcome, SuspendOutcome::AlreadySatisfied { .. }));
}

fn under(key: &str, wish: SuspendArgs) -> SuspendArgs {
    SuspendArgs { idempotency_key: IdempotencyKey::parse(key).ok(), ..wish }
}

/// Returns the new lease of an execution that was suspended under a key, and the reply its holder got then.
async fn resumed_under(world: &World, key: &str) -> (LeasedExecution, SuspendedExecution) {
    let held = world.held().await;
    let wish = under(key, held.wish("approval"));
    let [waitpoint] = held.wait(wish.clone()).await;
    let first = world.suspend(wish).await.unwrap();
    waitpoint.send("go").await.unwrap();
    (world.worker("again").claim().await, first)
}
