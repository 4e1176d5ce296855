//! A finished member may be replayed, and all its dependents with it.

use std::collections::BTreeSet;

use crate::prelude::*;
use crate::world::graph::{input, lenient};

pub(crate) async fn a_member_may_run_again_alone(world: World) {
    let flow = world.graph("a>b").submit().await;
    flow.run().await;
    let replayed = flow.replay("a", false).await.unwrap();
    assert_eq!((replayed.public_state.as_str(), replayed.replays), ("waiting", 1));
    assert_eq!((flow.stands().await, flow.info().await.ended_at), ("running", None));
    assert_eq!((flow.state("b").await, flow.edge_state("a", "b").await), ("completed", EdgeState::Pending));
    assert_eq!(flow.run().await, [["a"]], "what depends on it is not run again");
    assert_eq!((flow.stands().await, flow.edge_state("a", "b").await), ("completed", EdgeState::Satisfied));
    let ended = FlowEventKind::Ended { state: FlowState::Completed };
    assert_eq!(flow.flow_events().await[1..], [ended.clone(), FlowEventKind::Reopened, ended]);
    assert_eq!(flow.group("b").await.succeeded, 1);
}

pub(crate) async fn a_replay_with_dependents_runs_every_downstream_member_again(world: World) {
    let flow = world.graph("a>b>c a>d x").submit().await;
    flow.run().await;
    let replayed = flow.replay("a", true).await.unwrap();
    assert_eq!(replayed.public_state.as_str(), "waiting");
    assert_eq!(
        flow.states("a b c d x").await,
        ["waiting", "waiting_children", "waiting_children", "waiting_children", "completed"]
    );
    assert_eq!(flow.run().await, [vec!["a"], vec!["b", "d"], vec!["c"]]);
    let replays: Vec<_> =
        flow.members_by(10).await.iter().map(|member| (member.node.to_string(), member.replays)).collect();
    let expected = [("a", 1), ("x", 0), ("b", 1), ("d", 1), ("c", 1)].map(|(name, count)| (name.to_owned(), count));
    assert_eq!(BTreeSet::from_iter(replays), expected.into());
    assert_eq!(flow.stands().await, "completed");
}

pub(crate) async fn skipped_members_run_after_a_replay_of_their_upstream(world: World) {
    let flow = world.graph("a>b>c").submit().await;
    flow.start_one().await.fail_for_good().await;
    assert_eq!((flow.stands().await, flow.states("b c").await), ("failed", vec!["skipped", "skipped"]));
    flow.replay("a", true).await.unwrap();
    assert_eq!(flow.states("b c").await, ["waiting_children", "waiting_children"]);
    assert_eq!(flow.run().await, [["a"], ["b"], ["c"]]);
    assert_eq!((flow.stands().await, flow.counts().await), ("completed", vec![("completed", 3)]));
}

pub(crate) async fn a_skipped_member_can_be_replayed_once_its_join_can_be_met(world: World) {
    let flow = world.graph("a>b").submit().await;
    flow.start_one().await.fail_for_good().await;
    assert_refused!(world.writes_nothing(flow.replay("b", false)).await, "deps_not_satisfied");
    flow.replay("a", false).await.unwrap();
    assert_eq!(flow.replay("b", false).await.unwrap().public_state.as_str(), "waiting_children");
    assert_eq!(flow.run().await, [["a"], ["b"]]);
    assert_eq!(flow.stands().await, "completed");
}

pub(crate) async fn a_skipped_quorum_child_is_replayed_by_what_its_upstreams_have_come_to(world: World) {
    let flow = world.graph("a>z b>z c>z").join("z", lenient(2)).submit().await;
    let started = flow.start().await;
    started["a"].fail_for_good().await;
    started["b"].fail_for_good().await;
    started["c"].complete(b"done").await.unwrap();
    assert_eq!(flow.state("z").await, "skipped");
    assert_refused!(flow.replay("z", false).await, "deps_not_satisfied");
    flow.replay("a", false).await.unwrap();
    assert_eq!(flow.replay("z", false).await.unwrap().public_state.as_str(), "waiting_children");
    let group = flow.group("z").await;
    assert_eq!((group.succeeded, group.failed, group.state), (1, 1, GroupState::Pending));
    flow.start_one().await.complete(b"done").await.unwrap();
    let held = flow.start_one().await;
    assert_eq!(held.node(), "z");
    held.complete(b"done").await.unwrap();
    assert_eq!((flow.stands().await, flow.group("z").await.succeeded), ("completed", 2));
}

pub(crate) async fn a_quorum_that_was_met_is_met_again_at_once(world: World) {
    let flow = world.graph("a>z b>z").join("z", lenient(1)).submit().await;
    flow.run().await;
    assert_eq!(flow.replay("z", false).await.unwrap().public_state.as_str(), "waiting");
    assert_eq!(flow.run().await, [["z"]]);
}

pub(crate) async fn a_replay_leaves_dependents_that_have_not_finished(world: World) {
    let flow = world.graph("a>b a>c x>c").submit().await;
    let mut started = flow.start().await;
    started["a"].complete(b"done").await.unwrap();
    let running = flow.start_one().await;
    assert_eq!(running.node(), "b");
    flow.replay("a", true).await.unwrap();
    assert_eq!(flow.states("a b c").await, ["waiting", "active", "waiting_children"]);
    running.complete(b"done").await.unwrap();
    started.remove("x").unwrap().complete(b"done").await.unwrap();
    assert_eq!(flow.state("c").await, "waiting_children", "it waits for the upstream that runs again");
    assert_eq!(flow.run().await, [["a"], ["c"]]);
    assert_eq!(flow.stands().await, "completed");
}

pub(crate) async fn a_replay_that_fails_skips_what_was_opened_for_it(world: World) {
    let flow = world.graph("a>b>c").submit().await;
    flow.run().await;
    flow.replay("a", true).await.unwrap();
    flow.start_one().await.fail_for_good().await;
    assert_eq!((flow.states("a b c").await, flow.stands().await), (vec!["failed", "skipped", "skipped"], "failed"));
}

pub(crate) async fn a_replayed_upstream_passes_on_its_new_result(world: World) {
    let graph = world.graph("a>b a>c").passing("a", "b", input("rows")).passing("a", "c", Some(PassMode::Payload));
    let flow = graph.submit().await;
    for result in [&b"first"[..], b"second"] {
        flow.start_one().await.complete(result).await.unwrap();
        let started = flow.start().await;
        assert_eq!((started["b"].input("rows"), &started["c"].payload.bytes[..]), (Some(result), result));
        assert_eq!(started["b"].inputs.len(), 1);
        for held in started.into_values() {
            held.complete(b"done").await.unwrap();
        }
        if result == b"first" {
            flow.replay("a", true).await.unwrap();
        }
    }
}

pub(crate) async fn a_member_without_replays_left_does_not_run_again_with_its_upstream(world: World) {
    let flow = world.graph("a>b>c").with("b", |node| node.policy.max_replay_count = 0).submit().await;
    flow.run().await;
    flow.replay("a", true).await.unwrap();
    assert_eq!(flow.states("a b c").await, ["waiting", "completed", "completed"]);
    assert_eq!(flow.run().await, [["a"]]);
}

pub(crate) async fn a_member_of_a_cancelled_flow_is_not_replayed(world: World) {
    let flow = world.graph("a>b").submit().await;
    flow.start_one().await.complete(b"done").await.unwrap();
    flow.cancel(CancelPolicy::CancelPending).await.unwrap();
    let before = world.contents().await;
    for name in ["a", "b"] {
        assert_refused!(flow.replay(name, true).await, "flow_already_terminal");
    }
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn a_replayed_member_cannot_be_replayed_before_it_ends(world: World) {
    let flow = world.graph("a>b").submit().await;
    flow.run().await;
    flow.replay("a", true).await.unwrap();
    let before = world.contents().await;
    assert_refused!(flow.replay("a", true).await, "execution_not_terminal");
    assert_refused!(flow.replay("b", false).await, "execution_not_terminal");
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn a_replayed_member_keeps_its_dependents_blocked_until_it_ends(world: World) {
    let flow = world.graph("a>b x>b").submit().await;
    let started = flow.start().await;
    started["a"].complete(b"done").await.unwrap();
    flow.replay("a", false).await.unwrap();
    world.clock.advance(ms(10)).await;
    started["x"].complete(b"done").await.unwrap();
    assert_eq!((flow.state("b").await, flow.group("b").await.succeeded), ("waiting_children", 1));
    flow.start_one().await.complete(b"again").await.unwrap();
    assert_eq!(flow.state("b").await, "waiting");
}

pub(crate) async fn hundreds_of_dependents_are_run_again(world: World) {
    let names: Vec<_> = (0..300).map(|nth| format!("a>n{nth}>z")).collect();
    let flow = world.graph(&names.join(" ")).submit().await;
    flow.run().await;
    flow.replay("a", true).await.unwrap();
    flow.settle().await;
    assert_eq!(flow.counts().await, [("waiting", 1), ("waiting_children", 301)]);
    assert_eq!(flow.group("z").await.succeeded, 0, "each of them is waited for again");
    let rounds: Vec<_> = flow.run().await.iter().map(Vec::len).collect();
    assert_eq!((rounds, flow.stands().await), (vec![1, 300, 1], "completed"));
}
