//! Budgets recover from crashed processes and lost messages.

use ff_core::budget::Budget;

use super::{put, standing, tokens};
use crate::prelude::*;
use crate::quota::{claim_all, get, submit_for, with_engine};

const PLAIN: &str = r#"{"scope":"namespace","limits":{"tokens":{"hard":100}},"estimate":{"*":{"tokens":60}}}"#;

/// Reserves the admissions of a claim in a budget, like a process that crashes right after. Returns the number admitted.
async fn reserve(world: &World, budget: &Budget) -> usize {
    let mut admitted = 0;
    for partition in world.partitions() {
        let claim = world.worker("dies").claim_args(partition, 24);
        for request in world.engine_store.claim(claim).await.unwrap().admissions {
            let key = request.slots[0].key.clone();
            let requests = vec![SlotRequest { key, execution_id: request.execution_id, epoch: request.epoch }];
            let (policy_id, revision) = (budget.id.policy_id(), budget.revision);
            let args = AdmitArgs { policy_id, revision, claim_id: Some(ClaimId::new()), requests };
            let answer = world.engine_store.admit(args).await.unwrap();
            admitted += answer.verdicts.iter().filter(|one| **one == AdmissionVerdict::Admitted).count();
        }
    }
    admitted
}

pub(crate) async fn reservations_of_a_dead_process_are_released(world: World) {
    let budget = put(&world, "all", PLAIN).await;
    submit_for(&world, "acme", 3).await;
    assert_eq!(reserve(&world, &budget).await, 1);
    world.clock.slip(ms(2 * limits::QUOTA_RESERVED_MS));
    with_engine(&world);
    get(&world, 1).await;
    assert_eq!(standing(&world, "all").await, (0, 60, 0));
    assert_eq!(claim_all(&world).await.len(), 0);
}

/// Any engine finishes a usage report that reached the execution but not its budgets.
pub(crate) async fn a_report_that_broke_off_is_finished(world: World) {
    put(&world, "all", PLAIN).await;
    submit_for(&world, "acme", 1).await;
    let held = claim_all(&world).await.pop().unwrap();
    let args = |id: &str| ReportUsageArgs {
        execution_id: held.id(),
        fence: held.fence(),
        report_id: IdempotencyKey::parse(id).unwrap(),
        amounts: tokens(9),
    };
    // This call adds the usage to the execution only, not to the budget.
    assert!(world.engine_store.report_usage(args("a")).await.unwrap().pending.is_some());
    assert_eq!(standing(&world, "all").await.0, 0);
    let backlog = UsageBacklogArgs { namespace: Namespace::default_name(), limit: 10 };
    assert_eq!(world.engine_store.usage_backlog(backlog.clone()).await.unwrap(), [held.id()]);
    world.check_invariants().await;
    // This report reaches the budget and is not settled.
    let pending = world.engine_store.report_usage(args("b")).await.unwrap().pending.unwrap();
    let PendingUsage { execution_id, kind, budgets, total, counted } = *pending;
    let charge = ChargeBudgetArgs { budget_id: budgets[0], execution_id, kind, total, counted };
    world.engine_store.charge_budget(charge).await.unwrap();
    assert_eq!(standing(&world, "all").await.0, 18);
    let again = world.backend.report_usage(args("b")).await.unwrap();
    assert!(again.duplicate && again.budgets.len() == 1);
    assert_eq!(standing(&world, "all").await, (18, 42, 18));
    // The report is settled after the answer.
    while !world.engine_store.usage_backlog(backlog.clone()).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
}
