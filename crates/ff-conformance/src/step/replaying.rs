//! A replay runs some recorded steps again, and keeps the others.

use super::{point, record, recorded, words};
use crate::prelude::*;

async fn from(world: &World, id: &ExecutionId, name: &str, key: &str) -> Answer<ReplayedExecution> {
    world.backend.replay(ReplayArgs { from_step: Some(point(name, key)), ..ReplayArgs::new(*id) }).await
}

/// Returns an execution that recorded these steps and failed permanently.
async fn failed(world: &World, steps: &str) -> LeasedExecution {
    let held = world.held().await;
    record(&held, world, steps).await;
    held.fail_with("network", "gone", true).await.unwrap();
    held
}

async fn completed(world: &World, steps: &str) -> LeasedExecution {
    let held = world.held().await;
    record(&held, world, steps).await;
    held.complete(b"done").await.unwrap();
    held
}

pub(crate) async fn a_replay_of_a_completed_execution_discards_its_steps(world: World) {
    let held = completed(&world, "a (b) c").await;
    assert_eq!(recorded(&world, &held.id()).await, ["a", "(b)", "c"], "steps are kept with what has ended");
    world.replay(&held.id()).await.unwrap();
    assert_eq!(recorded(&world, &held.id()).await, [] as [&str; 0]);
    let again = world.worker("again").claim().await;
    assert_eq!(again.steps, Default::default());
    assert_eq!(again.step("c", b"").await.seq, 0, "its numbers begin anew");
}

pub(crate) async fn a_replay_of_a_failed_execution_keeps_its_successful_steps(world: World) {
    let held = failed(&world, "a b! (c) d").await;
    world.replay(&held.id()).await.unwrap();
    let again = world.worker("again").claim().await;
    assert_eq!(words(&again.steps.steps), ["a", "(c)", "d"]);
    record(&again, &world, "b e").await;
    assert_eq!(recorded(&world, &held.id()).await, ["a", "(c)", "d", "b", "e"]);
    world.check_invariants().await;
    again.complete(b"done").await.unwrap();
    for end in ["cancelled", "expired"] {
        let id = world.job("resize").deadline(ms(1_000)).submit().await;
        let held = world.worker("holder").claim().await;
        record(&held, &world, "a b!").await;
        match end {
            "cancelled" => drop(world.cancel(&id).await.unwrap()),
            _ => world.clock.advance(ms(1_000)).await,
        }
        assert_eq!(world.state(&id).await.as_str(), end);
        world.replay(&id).await.unwrap();
        assert_eq!(recorded(&world, &id).await, ["a"], "{end}");
        world.cancel(&id).await.unwrap();
    }
}

pub(crate) async fn a_replay_discards_steps_that_were_undone(world: World) {
    let held = failed(&world, "a b#1 b#2 c ~failed ~c ~b#2").await;
    world.replay(&held.id()).await.unwrap();
    assert_eq!(recorded(&world, &held.id()).await, ["a", "b#1"]);
    let again = world.worker("again").claim().await;
    assert_eq!(again.step("d", b"").await.seq, 2, "numbers at the end are used again");
}

pub(crate) async fn from_a_step_it_and_what_was_recorded_after_it_are_done_again(world: World) {
    let held = completed(&world, "a b#1 b#2 c! d").await;
    from(&world, &held.id(), "b", "2").await.unwrap();
    assert_eq!(recorded(&world, &held.id()).await, ["a", "b#1"]);
    let again = world.worker("again").claim().await;
    assert_eq!(words(&again.steps.steps), ["a", "b#1"]);
    record(&again, &world, "b#2 e").await;
    again.fail_with("network", "gone", true).await.unwrap();
    from(&world, &held.id(), "a", "").await.unwrap();
    assert_eq!(recorded(&world, &held.id()).await, [] as [&str; 0]);
}

pub(crate) async fn a_failure_before_that_step_stays_one_and_what_was_undone_does_not_stay(world: World) {
    let held = failed(&world, "a b! c d ~failed ~d ~a").await;
    from(&world, &held.id(), "d", "").await.unwrap();
    assert_eq!(recorded(&world, &held.id()).await, ["b!", "c"]);
}

pub(crate) async fn a_step_that_is_not_recorded_is_no_place_to_begin(world: World) {
    let held = completed(&world, "a#1 ~b").await;
    let bare = completed(&world, "").await;
    let before = world.contents().await;
    for (id, name, key) in [(held.id(), "a", ""), (held.id(), "b", ""), (held.id(), "c", "1"), (bare.id(), "a", "")] {
        assert_refused!(from(&world, &id, name, key).await, "invalid_input", "from_step");
    }
    assert_eq!(world.contents().await, before);
    let running = world.held().await;
    assert_refused!(from(&world, &running.id(), "a", "").await, "execution_not_terminal");
}

pub(crate) async fn a_replay_with_dependents_discards_the_steps_of_all_its_members(world: World) {
    let flow = world.graph("a>b").submit().await;
    for name in ["a", "b"] {
        let held = flow.start().await.remove(name).unwrap();
        record(&held, &world, "x y").await;
        held.complete(b"done").await.unwrap();
        flow.settle().await;
    }
    flow.replay("a", true).await.unwrap();
    flow.settle().await;
    for name in ["a", "b"] {
        assert_eq!(recorded(&world, &flow.member(name)).await, [] as [&str; 0], "{name}");
        let held = flow.start().await.remove(name).unwrap();
        assert_eq!(held.steps, Default::default());
        record(&held, &world, "y").await;
        held.complete(b"done").await.unwrap();
        flow.settle().await;
    }
}
