//! Members that can no longer run are skipped, all of them and no others.

use crate::lease::long_poll::in_time;
use crate::prelude::*;
use crate::world::graph::lenient;

pub(crate) async fn a_failure_skips_exactly_what_can_no_longer_run(world: World) {
    let graph = world.graph("a>b>c a>d x>d x>e a>f x>f f>g c>h x>h").join("f", lenient(1)).join("h", lenient(1));
    let flow = graph.submit().await;
    let started = flow.start().await;
    started["a"].fail_for_good().await;
    assert_eq!(flow.states("b c d").await, ["skipped"; 3]);
    assert_eq!(flow.states("e f g h").await, ["waiting_children"; 4]);
    started["x"].complete(b"done").await.unwrap();
    flow.run().await;
    assert_eq!(flow.states("e f g h").await, ["completed"; 4]);
    assert_eq!(flow.counts().await, [("completed", 5), ("failed", 1), ("skipped", 3)]);
    assert_eq!(flow.stands().await, "failed", "d has no dependents, and it was skipped");
}

pub(crate) async fn a_failure_that_others_have_borne_is_none(world: World) {
    let flow = world.graph("a>z b>z").join("z", lenient(1)).submit().await;
    let started = flow.start().await;
    started["a"].fail_for_good().await;
    started["b"].complete(b"done").await.unwrap();
    flow.run().await;
    assert_eq!(flow.stands().await, "completed");
    assert_eq!(flow.counts().await, [("completed", 2), ("failed", 1)]);
}

pub(crate) async fn a_skipped_member_has_no_attempts(world: World) {
    let flow = world.graph("a>b").submit().await;
    flow.start_one().await.fail_for_good().await;
    let id = flow.member("b");
    let ended = world.ended(&id).await;
    assert_eq!((ended.outcome, ended.by, ended.result), (Outcome::Skipped, FinishedBy::Dependencies, None));
    let info = world.describe(&id).await;
    assert_eq!((info.attempts_made, info.started_at), (0, None));
    assert_eq!(world.attempts(&id).await.attempts, []);
    let cancelled = world.cancel(&id).await;
    assert!(cancelled.is_err() || cancelled.is_ok_and(|cancelled| cancelled.already), "it has ended");
    assert!(world.worker("hand").claim_up_to(9).await.is_empty());
}

pub(crate) async fn a_long_poll_on_a_member_returns_its_skip(world: World) {
    let flow = world.graph("a>b>c").submit().await;
    let held = flow.start_one().await;
    let (long_poll, id) = (world.long_poll.clone(), flow.member("c"));
    let waiting = tokio::spawn(async move { long_poll.ended(&id, 60_000).await });
    held.fail_for_good().await;
    let ended = in_time(waiting).await.unwrap().unwrap().unwrap();
    assert_eq!(ended.outcome, Outcome::Skipped);
}

pub(crate) async fn a_chain_of_two_hundred_is_skipped_to_its_end(world: World) {
    let chain: Vec<_> = (0..=200).map(|nth| format!("n{nth}")).collect();
    let flow = world.graph(&chain.join(">")).submit().await;
    flow.start_one().await.fail_for_good().await;
    flow.settle().await;
    assert_eq!(flow.counts().await, [("failed", 1), ("skipped", 200)]);
    assert_eq!((flow.stands().await, flow.moves_of("n200").await), ("failed", vec!["skipped"]));
    let info = flow.info().await;
    assert_eq!(info.ended_at, Some(world.clock.now()));
}

pub(crate) async fn two_failures_skip_once(world: World) {
    let flow = world.graph("a>c b>c c>d").submit().await;
    let started = flow.start().await;
    started["a"].fail_for_good().await;
    world.clock.advance(ms(10)).await;
    started["b"].fail_for_good().await;
    assert_eq!((flow.moves_of("c").await, flow.moves_of("d").await), (vec!["skipped"], vec!["skipped"]));
    assert_eq!(flow.group("c").await.failed, 2);
}

pub(crate) async fn a_member_that_is_cancelled_before_its_upstreams_end_stays_cancelled(world: World) {
    let flow = world.graph("a>b>c").submit().await;
    world.cancel(&flow.member("b")).await.unwrap();
    assert_eq!(flow.states("b c").await, ["cancelled", "skipped"]);
    flow.start_one().await.complete(b"done").await.unwrap();
    assert_eq!(flow.states("b c").await, ["cancelled", "skipped"]);
    assert_eq!(flow.stands().await, "failed");
}

pub(crate) async fn a_blocked_member_cannot_be_revoked_or_replayed(world: World) {
    let flow = world.graph("a>b").submit().await;
    assert_refused!(world.revoke(&flow.member("b")).await, "no_active_lease");
    assert_refused!(flow.replay("b", false).await, "execution_not_terminal");
    assert_refused!(world.backend.cascade_completion(&flow.member("a")).await, "execution_not_terminal");
}
