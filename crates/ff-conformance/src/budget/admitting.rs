//! A budget reserves the estimate of each claim, and blocks executions that do not fit.

use super::{named, put, report, standing};
use crate::prelude::*;
use crate::quota::{claim_all, get, submit_for, with_engine};

const FORTY_OF_A_HUNDRED: &str =
    r#"{"scope":"namespace","limits":{"tokens":{"hard":100}},"estimate":{"*":{"tokens":40}}}"#;

pub(crate) async fn a_claim_reserves_and_a_report_settles(world: World) {
    put(&world, "all", FORTY_OF_A_HUNDRED).await;
    submit_for(&world, "acme", 3).await;
    let held = claim_all(&world).await;
    assert_eq!((held.len(), standing(&world, "all").await), (2, (0, 80, 0)));
    let reported = report(&held[0], &world, "a", 30).await.unwrap();
    let status = &reported.budgets[0];
    assert_eq!((status.budget.as_str(), status.status), ("all", BudgetStatus::Ok));
    assert_eq!(status.remaining.values().copied().collect::<Vec<_>>(), [20]);
    assert_eq!(standing(&world, "all").await, (30, 50, 30));
}

pub(crate) async fn an_execution_blocked_by_a_budget_shows_the_reason(world: World) {
    let json = r#"{"scope":"namespace","limits":{"tokens":{"hard":10}},"reset":{"interval":{"every_ms":60000}}}"#;
    let budget = put(&world, "small", json).await;
    let ids = submit_for(&world, "acme", 2).await;
    let first = world.worker("holder").next(1, ms(0)).await.pop().unwrap();
    report(&first, &world, "a", 10).await.unwrap();
    assert_eq!(claim_all(&world).await.len(), 0, "nothing is left");
    let waiting = ids.into_iter().find(|id| *id != first.id()).unwrap();
    let info = world.describe(&waiting).await;
    assert_eq!(info.state.blocking_reason, BlockingReason::WaitingForBudget);
    let retry_at = Some(budget.created_at + 60_000);
    let detail = BlockDetail::Budget { name: "small".into(), dimension: "tokens".into(), retry_at };
    assert_eq!(info.blocking_detail.as_deref(), Some(&detail));
    assert_eq!(world.backend.describe_budget(named("small")).await.unwrap().waiting, 1);
    let explained = world.backend.explain(&waiting).await.unwrap();
    assert!(format!("{explained:?}").contains("ff budgets show small"), "{explained:?}");
}

/// Waiting workers do not poll. The end of a lease releases its reservation and wakes them.
pub(crate) async fn room_that_is_given_back_goes_to_those_that_wait(world: World) {
    with_engine(&world);
    put(&world, "all", FORTY_OF_A_HUNDRED).await;
    submit_for(&world, "acme", 4).await;
    let held = get(&world, 2).await;
    let worker = world.worker("waiting");
    let waiting = tokio::spawn(async move { worker.next(1, ms(50_000)).await });
    held[0].complete(b"done").await.unwrap();
    assert_eq!(waiting.await.unwrap().len(), 1);
    assert_eq!(standing(&world, "all").await, (0, 80, 0));
}

pub(crate) async fn a_higher_limit_lets_more_start_at_once(world: World) {
    put(&world, "all", FORTY_OF_A_HUNDRED).await;
    submit_for(&world, "acme", 4).await;
    assert_eq!(claim_all(&world).await.len(), 2);
    let json = r#"{"scope":"namespace","limits":{"tokens":{"hard":120}},"estimate":{"*":{"tokens":40}}}"#;
    put(&world, "all", json).await;
    assert_eq!(claim_all(&world).await.len(), 1);
    assert_eq!(claim_all(&world).await.len(), 0);
    world.backend.delete_budget(named("all")).await.unwrap();
    assert_eq!(claim_all(&world).await.len(), 1, "a budget that is gone keeps nothing back");
}

pub(crate) async fn every_budget_that_applies_has_to_have_room(world: World) {
    put(&world, "all", r#"{"scope":"namespace","limits":{"tokens":{"hard":100}}}"#).await;
    put(&world, "acme", r#"{"scope":"tag:customer=acme","limits":{"tokens":{"hard":5}}}"#).await;
    put(&world, "other", r#"{"scope":"kind:other","limits":{"tokens":{"hard":1}}}"#).await;
    submit_for(&world, "acme", 1).await;
    let held = claim_all(&world).await.pop().unwrap();
    let reported = report(&held, &world, "a", 6).await.unwrap();
    let statuses: Vec<_> = reported.budgets.iter().map(|one| (one.budget.as_str(), one.status)).collect();
    assert_eq!(statuses, [("acme", BudgetStatus::HardExceeded), ("all", BudgetStatus::Ok)]);
    assert_eq!(standing(&world, "other").await, (0, 0, 0));
    submit_for(&world, "acme", 1).await;
    submit_for(&world, "globex", 1).await;
    let held = claim_all(&world).await;
    assert_eq!(held.len(), 1, "acme has nothing left");
    assert_eq!(held[0].task.tags.values().next().unwrap().as_str(), "globex");
}

/// With estimates, no execution starts that could overspend the budget, however many workers claim at once.
pub(crate) async fn with_estimates_nothing_is_overspent(world: World) {
    with_engine(&world);
    let json = r#"{"scope":"namespace","limits":{"tokens":{"hard":100}},"estimate":{"*":{"tokens":10}}}"#;
    put(&world, "all", json).await;
    submit_for(&world, "acme", 40).await;
    let mut workers = tokio::task::JoinSet::new();
    let together = std::sync::Arc::new(tokio::sync::Barrier::new(32));
    for nth in 0..32 {
        let (world, together) = (world.clone(), together.clone());
        workers.spawn(async move {
            together.wait().await;
            for _ in 0..3 {
                for held in world.worker(&format!("w{nth}")).claim_up_to(2).await {
                    report(&held, &world, "only", 10).await.unwrap();
                    held.complete(b"done").await.unwrap();
                }
            }
        });
    }
    while let Some(done) = workers.join_next().await {
        done.unwrap();
    }
    let (used, _, spent) = standing(&world, "all").await;
    assert_eq!((used, spent), (100, 100), "ten of forty, and not one more");
}
