//! A redefined schedule continues with its new definition.

use super::{MINUTE, Overlap, Plan, Timing, everything, show};
use crate::prelude::*;

pub(crate) async fn another_time_counts_from_now_on(world: World) {
    let put = Plan::new(&world, "moved").put().await;
    let changed = Plan::new(&world, "moved").with(|it| it.timing = Timing::EveryMs(5 * MINUTE)).put().await;
    assert_eq!((changed.schedule.id, changed.schedule.version), (put.schedule.id, 2));
    world.clock.advance(ms(4 * MINUTE)).await;
    assert_eq!(everything(&world).await.len(), 0);
    world.clock.advance(ms(MINUTE)).await;
    assert_eq!(everything(&world).await.len(), 1);
}

pub(crate) async fn an_earlier_time_is_noticed(world: World) {
    Plan::new(&world, "sooner").with(|it| it.timing = Timing::EveryMs(60 * MINUTE)).put().await;
    Plan::new(&world, "sooner").with(|it| it.timing = Timing::EveryMs(2_000)).put().await;
    world.clock.advance(ms(2_000)).await;
    assert_eq!(everything(&world).await.len(), 1);
}

pub(crate) async fn another_target_keeps_ticks_and_history(world: World) {
    Plan::new(&world, "target").overlap(Overlap::Allow).put().await;
    world.clock.advance(ms(MINUTE)).await;
    let before = show(&world, "target").await;
    let plan = Plan::new(&world, "target").overlap(Overlap::Allow).starts(world.job("other").args());
    let after = plan.put().await;
    assert_eq!((after.schedule.ticks, after.next_ticks), (before.schedule.ticks, before.next_ticks));
    world.clock.advance(ms(MINUTE)).await;
    let kinds: Vec<_> = everything(&world).await.into_iter().map(|one| one.kind.to_string()).collect();
    assert_eq!(kinds, ["other", "report"]);
}

pub(crate) async fn tenants_have_schedules_of_the_same_name(world: World) {
    let acme = Plan::new(&world, "same").of("acme").put().await;
    let own = Plan::new(&world, "same").put().await;
    assert_ne!(acme.schedule.id, own.schedule.id);
    world.clock.advance(ms(MINUTE)).await;
    let filter = Filter::everything(Namespace::parse("acme").unwrap());
    let of_acme = world.backend.list(ListArgs { filter, after: None, limit: 10 }).await.unwrap().executions;
    assert_eq!((of_acme.len(), everything(&world).await.len()), (1, 1));
}
