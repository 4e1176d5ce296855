//! A budget may ask that an execution which overspent suspends until an operator decides. An approval lets it continue.

use ff_core::budget::OnHardLimit;

use super::{put, report, standing};
use crate::prelude::*;
use crate::quota::{claim_all, submit_for};
use crate::world::flow::complete_all;

const ASKS: &str = r#"{"scope":"namespace","limits":{"tokens":{"hard":10}},"on_hard_limit":"suspend"}"#;

/// Claims one of two executions, lets it exceed the budget, and suspends it.
async fn spent_and_waiting(world: &World) -> LeasedExecution {
    put(world, "asks", ASKS).await;
    submit_for(world, "acme", 2).await;
    let held = world.worker("holder").claim_up_to(1).await.pop().unwrap();
    let reported = report(&held, world, "a", 11).await.unwrap();
    assert!(!reported.failed, "the worker decides how it waits");
    let status = &reported.budgets[0];
    assert_eq!((status.status, status.on_hard_limit), (BudgetStatus::HardExceeded, OnHardLimit::Suspend));
    let _: [_; 1] = held.wait(SuspendArgs { reason: SuspendReason::PausedByBudget, ..held.wish("budget asks") }).await;
    held
}

pub(crate) async fn an_answer_lets_the_execution_go_on_and_no_other(world: World) {
    for decision in [OperatorDecision::Approve, OperatorDecision::Reject] {
        let held = spent_and_waiting(&world).await;
        assert_eq!(claim_all(&world).await.len(), 0, "nothing is left for the other");
        assert_eq!(world.describe(&held.id()).await.state.blocking_reason, BlockingReason::WaitingForBudget);
        world.decide(&held.id(), decision).await.unwrap();
        let resumed = claim_all(&world).await;
        assert_eq!(resumed.iter().map(LeasedExecution::id).collect::<Vec<_>>(), [held.id()]);
        assert_eq!(resumed[0].task.attempt_index, held.task.attempt_index, "the same attempt goes on");
        report(&resumed[0], &world, "b", 1).await.unwrap();
        assert_eq!(standing(&world, "asks").await.0, 12, "and is still charged");
        resumed[0].complete(b"done").await.unwrap();
        world.backend.delete_budget(super::named("asks")).await.unwrap();
        complete_all(claim_all(&world).await).await;
        world.check_invariants().await;
    }
}

/// An approval also covers the attempts after a lost lease, until the execution suspends for another reason or is replayed.
pub(crate) async fn an_answer_outlives_the_worker_that_went_on_with_it(world: World) {
    let held = spent_and_waiting(&world).await;
    world.decide(&held.id(), OperatorDecision::Approve).await.unwrap();
    let lost = claim_all(&world).await.pop().unwrap();
    world.clock.advance(lost.lease_ttl() + ms(1)).await;
    let again = claim_all(&world).await;
    assert_eq!(again.iter().map(LeasedExecution::id).collect::<Vec<_>>(), [held.id()]);
    again[0].wait_on("something else").await;
    world.decide(&held.id(), OperatorDecision::Resume).await.unwrap();
    assert_eq!(claim_all(&world).await.len(), 0, "the answer was about the budget");
}

/// A blocking budget blocks regardless of the decision about another budget.
pub(crate) async fn an_answer_is_not_for_budgets_that_do_not_ask(world: World) {
    let held = spent_and_waiting(&world).await;
    put(&world, "blocks", r#"{"scope":"namespace","limits":{"calls":{"hard":0}}}"#).await;
    world.decide(&held.id(), OperatorDecision::Approve).await.unwrap();
    assert_eq!(claim_all(&world).await.len(), 0);
    world.backend.delete_budget(super::named("blocks")).await.unwrap();
    assert_eq!(claim_all(&world).await.len(), 1);
}
