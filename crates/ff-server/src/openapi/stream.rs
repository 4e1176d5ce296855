//! The routes of streams.

use ff_api::{MakeStreamToken, StreamPage, StreamTokenReply};
use serde_json::json;

use super::builder::OpenApiBuilder;
use crate::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/executions/{id}/stream", "Tells what an execution puts out, or one attempt at it.")
        .query_of("attempt", json!({ "type": "integer", "minimum": 0 }), "Of this attempt alone.")
        .query_of("from", json!({ "type": "string" }), "Where the page before ended, or the number of a frame.")
        .limit()
        .wait()
        .refused(&[403, 429])
        .answers::<StreamPage>(200, "What there is, and where to go on.")
        .streams("An event per item, whose id is where to go on, until the output has ended.")
        .done();
    api.post("/v1/executions/{id}/stream/token", "Makes a token that reads the stream of an execution for a while.")
        .takes::<MakeStreamToken>(MakeStreamToken::BODY_BYTES)
        .answers::<StreamTokenReply>(200, "The token, for a reader without a key.")
        .refused(&[409])
        .done();
}
