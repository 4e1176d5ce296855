//! A budget resets at the end of its period, or when an operator resets it.

use super::{named, put, report, standing};
use crate::prelude::*;
use crate::quota::{claim_all, submit_for};

const MINUTE: &str =
    r#"{"scope":"namespace","limits":{"tokens":{"hard":10,"soft":5}},"reset":{"interval":{"every_ms":60000}}}"#;

pub(crate) async fn a_new_period_lets_work_start_again(world: World) {
    let budget = put(&world, "minute", MINUTE).await;
    submit_for(&world, "acme", 3).await;
    let first = world.worker("holder").next(1, ms(0)).await.pop().unwrap();
    report(&first, &world, "a", 10).await.unwrap();
    assert_eq!(claim_all(&world).await.len(), 0);
    first.complete(b"done").await.unwrap();
    world.clock.advance(ms(60_000)).await;
    assert_eq!(standing(&world, "minute").await, (0, 0, 10));
    assert_eq!(claim_all(&world).await.len(), 2, "they come by themselves when the period ends");
    let period = world.backend.describe_budget(named("minute")).await.unwrap().period;
    assert_eq!((period.from.since(budget.created_at) % 60_000, period.until), (0, Some(period.from + 60_000)));
}

/// No engine has to run at the moment a period ends.
pub(crate) async fn budget_periods_without_a_running_engine_are_skipped(world: World) {
    let budget = put(&world, "minute", MINUTE).await;
    submit_for(&world, "acme", 1).await;
    let held = claim_all(&world).await.pop().unwrap();
    report(&held, &world, "a", 10).await.unwrap();
    world.clock.slip(ms(10 * 60_000 + 5_000));
    report(&held, &world, "b", 3).await.unwrap();
    assert_eq!(standing(&world, "minute").await, (3, 0, 13));
    let period = world.backend.describe_budget(named("minute")).await.unwrap().period;
    assert_eq!(period.from, budget.created_at + 600_000);
}

pub(crate) async fn an_operator_has_it_begin_anew(world: World) {
    put(&world, "ever", r#"{"scope":"namespace","limits":{"tokens":{"hard":10}}}"#).await;
    submit_for(&world, "acme", 2).await;
    let held = world.worker("holder").next(1, ms(0)).await.pop().unwrap();
    report(&held, &world, "a", 12).await.unwrap();
    assert_eq!(claim_all(&world).await.len(), 0);
    assert_eq!(world.backend.reset_budget(named("ever")).await.unwrap().next_reset_at, None);
    assert_eq!(standing(&world, "ever").await, (0, 0, 12));
    assert_eq!(claim_all(&world).await.len(), 1, "what waited is ready at once");
}
