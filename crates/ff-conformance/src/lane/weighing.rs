//! A lane may weigh age against priority.

use crate::prelude::*;

pub(crate) async fn old_work_goes_before_better_work_where_a_lane_weighs_age(world: World) {
    let old = job(&world, 0, "resize").await;
    world.clock.advance(ms(2_001)).await;
    let better = job(&world, 2, "resize").await;
    weigh(&world, 1_000).await;
    assert_eq!(order(&world, &[]).await, [old, better]);
}

pub(crate) async fn a_claim_across_kinds_keeps_the_ageing_order(world: World) {
    weigh(&world, 1_000).await;
    let first = job(&world, 0, "resize").await;
    world.clock.advance(ms(1_500)).await;
    let third = job(&world, 1, "send").await;
    let second = job(&world, 2, "print").await;
    world.clock.advance(ms(1)).await;
    let last = job(&world, 0, "send").await;
    assert_eq!(order(&world, &["resize", "send", "print"]).await, [second, first, third, last]);
}

pub(crate) async fn a_priority_lead_larger_than_the_ageing_goes_first(world: World) {
    weigh(&world, 1_000).await;
    let old = job(&world, 0, "resize").await;
    world.clock.advance(ms(1_999)).await;
    let better = job(&world, 2, "resize").await;
    assert_eq!(order(&world, &[]).await, [better, old]);
}

async fn job(world: &World, priority: i64, kind: &str) -> ExecutionId {
    world.job(kind).on_partition(1).priority(priority).submit().await
}

async fn weigh(world: &World, ageing_ms: u64) {
    let lane = world.lane("default");
    lane.configure(ConfigureLaneArgs { ageing_ms: Setting::To(ageing_ms), ..lane.args() }).await.unwrap();
}

async fn order(world: &World, kinds: &[&str]) -> Vec<ExecutionId> {
    world.worker("holder").kinds(kinds).claim_on(1, 10).await.iter().map(|held| held.id()).collect()
}
