//! The routes of budgets and usage.

use ff_api::{DeleteBudget, PutBudget, ResetBudget};
use ff_core::budget::Budget;
use ff_core::contracts::{BudgetDeleted, BudgetInfo, BudgetReset, Budgets, UsageInfo};

use super::builder::OpenApiBuilder;
use crate::request::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/budgets", "Lists the budgets of a namespace.")
        .answers::<Budgets>(200, "All of them, ordered by name.")
        .done();
    api.get("/v1/budgets/{budget}", "Returns a budget and its usage.")
        .answers::<BudgetInfo>(200, "The budget, its period and its balance.")
        .done();
    api.post("/v1/budgets/{budget}", "Creates or replaces a budget. It is in force when the response arrives.")
        .takes::<PutBudget>(PutBudget::BODY_BYTES)
        .answers::<Budget>(200, "The budget as it is now.")
        .done();
    api.post("/v1/budgets/{budget}/reset", "Resets a budget. Executions that waited for it are ready again.")
        .takes::<ResetBudget>(ResetBudget::BODY_BYTES)
        .answers::<BudgetReset>(200, "When it next resets by itself.")
        .done();
    api.post("/v1/budgets/{budget}/delete", "Deletes a budget. Executions that waited for it are ready again.")
        .takes::<DeleteBudget>(DeleteBudget::BODY_BYTES)
        .answers::<BudgetDeleted>(200, "Whether it existed.")
        .done();
    api.get("/v1/executions/{id}/usage", "Returns the usage of an execution.")
        .answers::<UsageInfo>(200, "In total, and by attempt.")
        .done();
    api.get("/v1/flows/{flow}/usage", "Returns the usage of the members of a flow.")
        .answers::<UsageInfo>(200, "In total.")
        .done();
}
