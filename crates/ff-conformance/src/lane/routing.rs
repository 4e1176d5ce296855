//! An execution may require capabilities of its worker. Each set of requirements has its own queues.

use crate::prelude::*;

pub(crate) async fn work_is_handed_to_workers_that_meet_its_requirements_and_to_no_others(world: World) {
    let gpu = job(&world, &["gpu"], 0).submit().await;
    let both = job(&world, &["region=eu", "gpu"], 0).submit().await;
    let plain = job(&world, &[], 0).submit().await;
    assert_eq!(claim(&world, "cpu", &[]).await, [plain]);
    assert_eq!(claim(&world, "ssd", &["ssd", "region=eu"]).await, []);
    assert_eq!(claim(&world, "us", &["gpu", "region=us"]).await, [gpu]);
    assert_eq!(claim(&world, "eu", &["gpu", "ssd", "region=eu"]).await, [both]);
}

pub(crate) async fn a_capable_worker_takes_plain_work_and_work_with_requirements_in_one_order(world: World) {
    let third = job(&world, &["gpu"], 1).submit().await;
    let first = job(&world, &["gpu"], 5).submit().await;
    let second = job(&world, &[], 3).submit().await;
    let last = job(&world, &["gpu", "ssd"], 0).submit().await;
    assert_eq!(claim(&world, "able", &["gpu", "ssd"]).await, [first, second, third, last]);
}

pub(crate) async fn a_claim_of_a_kind_looks_at_that_kind_in_every_class_it_can_run(world: World) {
    let mut ids = Vec::new();
    for (kind, required) in [("resize", &["gpu"][..]), ("send", &["gpu"]), ("resize", &[]), ("send", &[])] {
        ids.push(world.job(kind).on_partition(1).require(required).submit().await);
    }
    let held = world.worker("able").kinds(&["resize"]).capabilities(&["gpu"]).claim_on(1, 10).await;
    let mut held: Vec<_> = held.iter().map(LeasedExecution::id).collect();
    let mut expected = vec![ids[0], ids[2]];
    held.sort_unstable();
    expected.sort_unstable();
    assert_eq!(held, expected);
}

pub(crate) async fn age_is_weighed_across_classes(world: World) {
    let lane = world.lane("default");
    lane.configure(ConfigureLaneArgs { ageing_ms: Setting::To(1_000), ..lane.args() }).await.unwrap();
    let old = job(&world, &["gpu"], 0).submit().await;
    world.clock.advance(ms(2_001)).await;
    let better = job(&world, &[], 2).submit().await;
    assert_eq!(claim(&world, "able", &["gpu"]).await, [old, better]);
}

pub(crate) async fn a_waiting_worker_is_not_woken_for_an_execution_it_cannot_run(world: World) {
    let waiting = |name: &'static str, words: &'static [&'static str]| {
        let worker = world.worker(name).capabilities(words);
        tokio::spawn(
            async move { worker.next(1, ms(20_000)).await.iter().map(LeasedExecution::id).collect::<Vec<_>>() },
        )
    };
    let (cpu, gpu) = (waiting("cpu", &[]), waiting("gpu", &["gpu"]));
    let required = job(&world, &["gpu"], 0).submit().await;
    assert_eq!(gpu.await.unwrap(), [required]);
    let plain = job(&world, &[], 0).submit().await;
    assert_eq!(cpu.await.unwrap(), [plain]);
}

pub(crate) async fn requirements_hold_through_retries_priorities_and_replays(world: World) {
    let id = job(&world, &["gpu"], 0).retries(3, ms(0)).submit().await;
    let able = world.worker("able").capabilities(&["gpu"]);
    able.claim().await.fail("again").await.unwrap();
    assert_eq!(claim(&world, "cpu", &[]).await, []);
    let args = ChangePriorityArgs { execution_id: id, priority: Priority::new(7).unwrap() };
    world.backend.change_priority(args).await.unwrap();
    assert_eq!(claim(&world, "other", &[]).await, []);
    able.claim().await.complete(b"done").await.unwrap();
    world.replay(&id).await.unwrap();
    assert_eq!(claim(&world, "third", &[]).await, []);
    assert_eq!(able.claim().await.id(), id);
}

pub(crate) async fn members_of_a_flow_have_requirements_of_their_own(world: World) {
    let gpu = |node: &mut NodeSpec| node.policy.routing_requirements.required_capabilities = words(&["gpu"]);
    let flow = world.graph("a>b").with("a", gpu).submit().await;
    let taken = |held: Vec<LeasedExecution>| held.iter().map(LeasedExecution::id).collect::<Vec<_>>();
    assert_eq!(taken(world.worker("cpu").claim_up_to(5).await), []);
    let held = world.worker("able").capabilities(&["gpu"]).claim().await;
    assert_eq!(held.id(), flow.member("a"));
    held.complete(b"1").await.unwrap();
    flow.settle().await;
    assert_eq!(taken(world.worker("cpu").claim_up_to(5).await), [flow.member("b")]);
    let mut growth = flow.growth(&["c"], &[]);
    growth.nodes[0].policy.routing_requirements.required_capabilities = words(&["ssd"]);
    let open = world.held_open().await;
    let growth = GrowFlowArgs { flow_id: open.id, ..growth };
    world.backend.grow_flow(growth).await.unwrap();
    assert_eq!(world.worker("able").capabilities(&["ssd"]).claim().await.id(), open.member("c"));
}

pub(crate) async fn a_lane_counts_what_waits_with_requirements_and_without(world: World) {
    job(&world, &["gpu"], 0).submit().await;
    job(&world, &["gpu", "ssd"], 0).submit().await;
    job(&world, &[], 0).submit().await;
    assert_eq!(world.lane("default").depth(LanePlace::Waiting).await.count, 3);
    let listing = ListLanesArgs { namespace: None, after: None, limit: 10, finished: false };
    let page = world.backend.list_lanes(listing).await.unwrap();
    assert_eq!(page.lanes[0].depths[&LanePlace::Waiting].count, 3);
    claim(&world, "able", &["gpu", "ssd"]).await;
    assert_eq!(world.lane("default").depth(LanePlace::Waiting).await.count, 0);
}

pub(crate) async fn a_resumed_lane_announces_its_executions_with_requirements(world: World) {
    let lane = world.lane("default");
    lane.configure(ConfigureLaneArgs { state: Some(LaneState::Paused), ..lane.args() }).await.unwrap();
    let id = job(&world, &["gpu"], 0).submit().await;
    assert_eq!(claim(&world, "early", &["gpu"]).await, []);
    let worker = world.worker("able").capabilities(&["gpu"]);
    let taken =
        tokio::spawn(
            async move { worker.next(1, ms(20_000)).await.iter().map(LeasedExecution::id).collect::<Vec<_>>() },
        );
    lane.configure(ConfigureLaneArgs { state: Some(LaneState::Active), ..lane.args() }).await.unwrap();
    assert_eq!(taken.await.unwrap(), [id]);
}

pub(crate) async fn a_lane_with_a_limit_hands_out_work_with_requirements_within_it(world: World) {
    let lane = world.lane("default");
    lane.limit(2).await;
    for _ in 0..3 {
        job(&world, &["gpu"], 0).submit().await;
    }
    let able = world.worker("able").capabilities(&["gpu"]);
    let held = able.claim_on(1, 3).await;
    assert_eq!(held.len(), 2);
    for one in held {
        one.complete(b"1").await.unwrap();
    }
    // The count of leases is reused for `RECOUNT_MS`; after that the ended leases no longer count.
    world.clock.advance(ms(limits::RECOUNT_MS)).await;
    assert_eq!(able.claim_on(1, 3).await.len(), 1);
}

pub(crate) async fn requirements_and_capabilities_over_their_limits_are_refused(world: World) {
    let many = |count: usize| (0..count).map(|nth| Capability::parse(&format!("c{nth}")).unwrap()).collect();
    let mut work = job(&world, &[], 0).args();
    work.policy.routing_requirements.required_capabilities = many(limits::REQUIREMENTS + 1);
    let refusal = assert_refused!(world.backend.submit(work).await, "invalid_capabilities");
    assert!(refusal.field.as_deref().unwrap().ends_with("routing_requirements.required_capabilities"), "{refusal:?}");
    assert_eq!(refusal.limit, Some((32, 33)));
    let claim = ClaimArgs { capabilities: many(limits::CAPABILITIES + 1), ..world.worker("w").claim_args(1, 1) };
    assert_eq!(
        assert_refused!(world.backend.claim(claim).await, "invalid_capabilities").field.as_deref(),
        Some("capabilities")
    );
    assert!(world.contents().await.iter().all(|partition| partition.executions.is_empty()));
}

pub(crate) async fn a_lane_takes_so_many_sets_of_requirements_and_refuses_the_next(world: World) {
    for nth in 0..limits::LANE_CLASSES {
        job(&world, &[&format!("c{nth}")], 0).submit().await;
    }
    let one_more = world.job("resize").on_partition(2).require(&["one-more"]);
    let refusal = assert_refused!(one_more.try_submit().await, "limit_exceeded");
    assert_eq!(refusal.field.as_deref(), Some("policy.routing_requirements.required_capabilities"));
    assert_eq!(refusal.limit, Some((256, 257)));
    world.job("resize").on_partition(2).require(&["c3"]).submit().await;
    let count = world.contents().await.iter().map(|partition| partition.executions.len()).sum::<usize>();
    assert_eq!(count, limits::LANE_CLASSES + 1);
}

fn words(words: &[&str]) -> std::collections::BTreeSet<Capability> {
    words.iter().map(|word| Capability::parse(word).unwrap()).collect()
}

fn job(world: &World, required: &[&str], priority: i64) -> Submission {
    world.job("resize").on_partition(1).priority(priority).require(required)
}

async fn claim(world: &World, name: &str, capabilities: &[&str]) -> Vec<ExecutionId> {
    let held = world.worker(name).capabilities(capabilities).claim_on(1, 10).await;
    held.iter().map(LeasedExecution::id).collect()
}
