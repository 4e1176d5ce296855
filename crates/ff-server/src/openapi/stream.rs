//! The routes of streams.

use ff_api::StreamPage;
use serde_json::json;

use super::builder::OpenApiBuilder;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/executions/{id}/stream", "Tells what an execution puts out, or one attempt at it.")
        .query_of("attempt", json!({ "type": "integer", "minimum": 0 }), "Of this attempt alone.")
        .query_of("from", json!({ "type": "string" }), "Where the page before ended, or the number of a frame.")
        .limit()
        .wait()
        .answers::<StreamPage>(200, "What there is, and where to go on.")
        .streams("An event per item, whose id is where to go on, until the output has ended.")
        .done();
}
