//! An explanation says why an execution or a lane does not run. It is the same on every store, and nothing is written.

use ff_core::explain::{Explanation, TermKind, Verdict};

use crate::prelude::*;

pub(crate) async fn work_without_a_worker_says_that_none_takes_it(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let before = world.contents().await;
    let explained = explain(&world, &id).await;
    assert_eq!(keeps(&explained), ["workers"]);
    assert!(explained.summary.starts_with("No worker takes it"), "{}", explained.summary);
    assert!(explained.actions.iter().any(|action| action.command.contains("ff worker")), "{:?}", explained.actions);
    assert_eq!(world.contents().await, before, "nothing is written");
    register(&world, "w-1", "send").await;
    let explained = explain(&world, &id).await;
    assert!(explained.summary.contains("no worker takes kind resize"), "{}", explained.summary);
    register(&world, "w-2", "resize").await;
    assert_eq!(keeps(&explain(&world, &id).await), Vec::<&str>::new());
}

pub(crate) async fn work_says_how_many_are_ahead_of_it(world: World) {
    register(&world, "w-1", "resize").await;
    let first = world.job("resize").submit().await;
    let mut last = first;
    for nth in 0..12 {
        world.clock.advance(ms(1)).await;
        let kind = if nth % 4 == 0 { "send" } else { "resize" };
        last = world.job(kind).priority(nth % 3).submit().await;
    }
    let place = |explained: &Explanation| {
        let term = explained.terms.iter().find(|term| term.term == TermKind::Position).unwrap().clone();
        (term.verdict, term.detail)
    };
    let (verdict, detail) = place(&explain(&world, &last).await);
    assert_eq!((verdict, detail.as_str()), (Verdict::Waits, "2 of kind resize are ahead of it in lane default"));
    let (_, detail) = place(&explain(&world, &first).await);
    assert_eq!(detail, "6 of kind resize are ahead of it in lane default");
}

pub(crate) async fn explain_names_a_paused_lane_and_a_full_lane(world: World) {
    register(&world, "w-1", "resize").await;
    let lane = world.lane("default");
    lane.configure(ConfigureLaneArgs { concurrency: Setting::To(1), ..lane.args() }).await.unwrap();
    let held = world.held().await;
    let id = world.submit("resize", b"cat.png").await;
    let explained = explain(&world, &id).await;
    assert_eq!(keeps(&explained), ["lane_limit"]);
    assert_eq!(explained.holders.iter().map(|holder| holder.execution_id).collect::<Vec<_>>(), [held.id()]);
    lane.pause().await;
    let explained = explain(&world, &id).await;
    assert_eq!(keeps(&explained), ["lane", "lane_limit"]);
    assert!(explained.actions.iter().any(|action| action.command == "ff lanes resume default"));
    let running = explain(&world, &held.id()).await;
    assert!(running.summary.starts_with("It is running"), "{}", running.summary);
    assert_eq!(running.holders[0].execution_id, held.id());
}

pub(crate) async fn held_blocked_and_delayed_work_says_why(world: World) {
    register(&world, "w-1", "resize").await;
    let held = world.submit("resize", b"cat.png").await;
    let reason = Some("bad images".to_owned());
    world.backend.hold(HoldArgs { execution_id: held, reason, requested_by: Some("ada".into()) }).await.unwrap();
    let explained = explain(&world, &held).await;
    assert_eq!(keeps(&explained), ["hold"]);
    assert_eq!(explained.summary, "An operator holds it (held by ada: bad images).");
    let delayed = world.job("resize").after(ms(500)).submit().await;
    let explained = explain(&world, &delayed).await;
    assert_eq!(keeps(&explained), ["delay"]);
    assert_eq!(explained.next.unwrap().at, Some(world.clock.now() + 500));
    let routed = world.submit("resize", b"cat.png").await;
    let detail = BlockDetail::Route { class: "gpu".into() };
    let executions = vec![BlockTarget { execution_id: routed, lease_epoch: LeaseEpoch(0), detail }];
    world.engine_store.block(BlockArgs { partition: routed.partition(), executions }).await.unwrap();
    assert_eq!(keeps(&explain(&world, &routed).await), ["requirements"]);
}

pub(crate) async fn members_of_flows_and_suspended_work_say_what_they_wait_for(world: World) {
    register(&world, "w-1", "step").await;
    let flow = world.graph("a>c b>c").submit().await;
    let explained = explain(&world, &flow.member("c")).await;
    assert_eq!(keeps(&explained)[0], "dependencies");
    assert!(
        explained.summary.contains("a (waiting)") && explained.summary.contains("b (waiting)"),
        "{}",
        explained.summary
    );
    let (suspended, _) = world.suspended().await;
    let explained = explain(&world, &suspended.id()).await;
    assert_eq!(keeps(&explained)[0], "suspension");
    assert_eq!(explained.public_state, PublicState::Suspended);
}

pub(crate) async fn explain_reports_an_end_and_refuses_an_unknown_execution(world: World, held: LeasedExecution) {
    held.complete(b"done").await.unwrap();
    let explained = explain(&world, &held.id()).await;
    assert_eq!((explained.summary.as_str(), explained.next), ("It has ended: it is completed.", None));
    let unknown = ExecutionId::new(0, Uuid::now_v7());
    assert_refused!(world.backend.explain(&unknown).await, "execution_not_found");
}

pub(crate) async fn a_lane_is_explained_by_its_causes(world: World) {
    let namespace = Namespace::default_name();
    let name = LaneId::default_name();
    let nothing = world.backend.explain_lane(&namespace, &name).await.unwrap();
    assert!(nothing.causes.is_empty() && nothing.summary.starts_with("Nothing waits"), "{}", nothing.summary);
    for _ in 0..3 {
        let id = world.submit("resize", b"cat.png").await;
        world.backend.hold(HoldArgs { execution_id: id, reason: None, requested_by: None }).await.unwrap();
    }
    world.submit("resize", b"cat.png").await;
    world.job("resize").after(ms(500)).submit().await;
    world.lane("default").pause().await;
    let explained = world.backend.explain_lane(&namespace, &name).await.unwrap();
    let causes: Vec<_> = explained.causes.iter().map(|cause| (cause.term.as_str(), cause.count)).collect();
    assert_eq!(causes, [("hold", 3), ("lane", 1), ("delay", 1)]);
    assert!(explained.summary.starts_with("3 of lane default do not run"), "{}", explained.summary);
}

/// Returns the names of the terms that keep an execution from running, without its position.
fn keeps(explained: &Explanation) -> Vec<&'static str> {
    let keeps = explained.terms.iter().filter(|term| term.verdict != Verdict::Passes);
    keeps.map(|term| term.term.as_str()).filter(|term| *term != "position").collect()
}

async fn explain(world: &World, id: &ExecutionId) -> Explanation {
    world.backend.explain(id).await.unwrap()
}

async fn register(world: &World, instance: &str, kind: &str) {
    let args = RegisterWorkerArgs {
        worker_instance_id: WorkerInstanceId::parse(instance).unwrap(),
        worker_id: WorkerId::parse("w").unwrap(),
        namespace: Namespace::default_name(),
        lanes: [LaneId::default_name()].into(),
        kinds: [Kind::parse(kind).unwrap()].into(),
        capabilities: [].into(),
        ttl_ms: 60_000,
    };
    world.backend.register_worker(args).await.unwrap();
}
