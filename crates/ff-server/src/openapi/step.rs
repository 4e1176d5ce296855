//! The routes of steps that are not calls.

use ff_api::StepsPage;

use super::builder::OpenApiBuilder;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/executions/{id}/steps", "Lists the recorded steps of an execution, in the order of recording.")
        .answers::<StepsPage>(200, "Steps with their results, and the start of the next page.")
        .done();
}
