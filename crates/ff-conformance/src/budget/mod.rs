//! Conformance tests for budgets.

pub(crate) mod admitting;
pub(crate) mod defining;
pub(crate) mod recovering;
pub(crate) mod resetting;
pub(crate) mod spending;
pub(crate) mod suspending;

use ff_core::budget::{Amounts, Budget};

use crate::prelude::*;

pub(crate) fn named(name: &str) -> BudgetRef {
    BudgetRef { namespace: Namespace::default_name(), name: BudgetName::parse(name).unwrap() }
}

/// Defines a budget of the default namespace from JSON.
pub(crate) async fn try_put(world: &World, name: &str, json: &str) -> Answer<Budget> {
    let definition = Some(serde_json::from_str(json).unwrap());
    let BudgetRef { namespace, name } = named(name);
    world.backend.put_budget(PutBudgetArgs { namespace, name, definition }).await
}

pub(crate) async fn put(world: &World, name: &str, json: &str) -> Budget {
    try_put(world, name, json).await.unwrap()
}

pub(crate) fn tokens(amount: u64) -> Amounts {
    Amounts::from([(Dimension::parse("tokens").unwrap(), amount)])
}

/// Reports tokens under a report id.
pub(crate) async fn report(held: &LeasedExecution, world: &World, id: &str, amount: u64) -> Answer<UsageReported> {
    let args = ReportUsageArgs {
        execution_id: held.id(),
        fence: held.fence(),
        report_id: IdempotencyKey::parse(id).unwrap(),
        amounts: tokens(amount),
    };
    world.backend.report_usage(args).await
}

/// Returns the tokens of a budget: used, reserved, and spent since its creation.
pub(crate) async fn standing(world: &World, name: &str) -> (u64, u64, u64) {
    let info = world.backend.describe_budget(named(name)).await.unwrap();
    let balance = info.balance[&Dimension::parse("tokens").unwrap()];
    (balance.used, balance.reserved, balance.spent)
}
