//! A lane may set how long its finished executions are kept.

use crate::prelude::*;

pub(crate) async fn work_is_kept_as_its_lane_says(world: World) {
    keep(&world, 5_000).await;
    let id = world.job("send").lane("mail").submit().await;
    world.cancel(&id).await.unwrap();
    world.clock.advance(ms(4_999)).await;
    world.describe(&id).await;
    world.clock.advance(ms(1)).await;
    assert_refused!(world.backend.describe(&id).await, "execution_not_found");
}

pub(crate) async fn the_retention_of_an_execution_overrides_that_of_its_lane(world: World) {
    keep(&world, 5_000).await;
    let id = world.job("send").lane("mail").retention(ms(10_000)).submit().await;
    world.cancel(&id).await.unwrap();
    world.clock.advance(ms(9_999)).await;
    world.describe(&id).await;
    world.clock.advance(ms(1)).await;
    assert_refused!(world.backend.describe(&id).await, "execution_not_found");
}

pub(crate) async fn a_change_of_a_lanes_retention_leaves_earlier_executions(world: World) {
    let id = world.job("send").lane("mail").submit().await;
    keep(&world, 5_000).await;
    world.cancel(&id).await.unwrap();
    world.clock.advance(ms(limits::RETENTION_MS - 1)).await;
    world.describe(&id).await;
}

async fn keep(world: &World, ms: u64) {
    let lane = world.lane("mail");
    lane.configure(ConfigureLaneArgs { retention_ms: Setting::To(ms), ..lane.args() }).await.unwrap();
}
