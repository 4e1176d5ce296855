//! The routes of steps that are not calls.

use ff_api::StepsPage;
use serde_json::json;

use super::builder::OpenApiBuilder;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/executions/{id}/steps", "Lists the recorded steps of an execution, in the order of recording.")
        .query_of("after", json!({ "type": "integer", "minimum": 0 }), "Number of the last step of the previous page.")
        .limit()
        .answers::<StepsPage>(200, "Steps with their results, and the start of the next page.")
        .done();
}
