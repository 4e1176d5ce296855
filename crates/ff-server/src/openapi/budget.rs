//! The routes of budgets and usage.

use ff_api::{DeleteBudget, PutBudget, ResetBudget};
use ff_core::budget::Budget;
use ff_core::contracts::{BudgetDeleted, BudgetInfo, BudgetReset, Budgets, UsageInfo};
use ff_core::types::Namespace;

use super::builder::OpenApiBuilder;
use crate::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/budgets", "Lists the budgets of a namespace.")
        .query::<Namespace>("namespace", "Of this namespace; `default` unless given.")
        .answers::<Budgets>(200, "All of them, by name.")
        .done();
    api.get("/v1/budgets/{budget}", "Says how a budget is defined, and how it stands.")
        .query::<Namespace>("namespace", "Of this namespace; `default` unless given.")
        .answers::<BudgetInfo>(200, "The budget, its period and its balance.")
        .done();
    api.post("/v1/budgets/{budget}", "Defines a budget, or defines it anew. It holds once this is answered.")
        .takes::<PutBudget>(PutBudget::BODY_BYTES)
        .answers::<Budget>(200, "The budget as it is now.")
        .done();
    api.post("/v1/budgets/{budget}/reset", "Has a budget begin anew; what it kept waiting is ready again.")
        .takes::<ResetBudget>(ResetBudget::BODY_BYTES)
        .answers::<BudgetReset>(200, "When it begins anew by itself.")
        .done();
    api.post("/v1/budgets/{budget}/delete", "Deletes a budget; what it kept waiting is ready again.")
        .takes::<DeleteBudget>(DeleteBudget::BODY_BYTES)
        .answers::<BudgetDeleted>(200, "Whether there was none.")
        .done();
    api.get("/v1/executions/{id}/usage", "Says what an execution has spent.")
        .answers::<UsageInfo>(200, "In all, and by attempt.")
        .done();
    api.get("/v1/flows/{flow}/usage", "Says what the members of a flow have spent.")
        .answers::<UsageInfo>(200, "In all.")
        .done();
}
