//! The domain of budgets over HTTP.

use axum::Json;
use axum::extract::State;
use ff_api::{DeleteBudget, NamespaceQuery, NoQuery, PutBudget, ResetBudget};
use ff_core::contracts::{BudgetDeleted, BudgetInfo, BudgetRef, BudgetReset, Budgets, UsageInfo};
use ff_core::types::Namespace;
use ff_scheduler::Runtime;

use crate::request::body::Body;
use crate::request::params::Params;
use crate::request::path::{Budget, Flow, Id};
use crate::response::problem::Result;

/// Lists the budgets of a namespace.
pub(crate) async fn list(State(ff): State<Runtime>, Params(query): Params<NamespaceQuery>) -> Result<Json<Budgets>> {
    let namespace = query.namespace.unwrap_or_else(Namespace::default_name);
    Ok(Json(ff.backend().list_budgets(&namespace).await?))
}

/// Returns a budget and its usage.
pub(crate) async fn describe(
    State(ff): State<Runtime>,
    Budget(name): Budget,
    Params(query): Params<NamespaceQuery>,
) -> Result<Json<BudgetInfo>> {
    let namespace = query.namespace.unwrap_or_else(Namespace::default_name);
    Ok(Json(ff.backend().describe_budget(BudgetRef { namespace, name }).await?))
}

/// Creates or replaces a budget.
pub(crate) async fn put(
    State(ff): State<Runtime>,
    Budget(name): Budget,
    Body(put): Body<PutBudget>,
) -> Result<Json<ff_core::budget::Budget>> {
    Ok(Json(ff.backend().put_budget(put.into_args(name)).await?))
}

/// Resets a budget.
pub(crate) async fn reset(
    State(ff): State<Runtime>,
    Budget(name): Budget,
    Body(ResetBudget { namespace }): Body<ResetBudget>,
) -> Result<Json<BudgetReset>> {
    let namespace = namespace.unwrap_or_else(Namespace::default_name);
    Ok(Json(ff.backend().reset_budget(BudgetRef { namespace, name }).await?))
}

/// Deletes a budget.
pub(crate) async fn delete(
    State(ff): State<Runtime>,
    Budget(name): Budget,
    Body(DeleteBudget { namespace }): Body<DeleteBudget>,
) -> Result<Json<BudgetDeleted>> {
    let namespace = namespace.unwrap_or_else(Namespace::default_name);
    Ok(Json(ff.backend().delete_budget(BudgetRef { namespace, name }).await?))
}

/// Returns the usage of an execution.
pub(crate) async fn of_execution(State(ff): State<Runtime>, Id(id): Id, _: Params<NoQuery>) -> Result<Json<UsageInfo>> {
    Ok(Json(ff.backend().usage(&id).await?))
}

/// Returns the total usage of the members of a flow.
pub(crate) async fn of_flow(State(ff): State<Runtime>, Flow(id): Flow, _: Params<NoQuery>) -> Result<Json<UsageInfo>> {
    Ok(Json(ff.backend().flow_usage(&id).await?))
}
