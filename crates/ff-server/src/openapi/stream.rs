//! The routes of streams.

use ff_api::{MakeStreamToken, StreamPage, StreamTokenReply};

use super::builder::OpenApiBuilder;
use crate::request::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/executions/{id}/stream", "Reads the output stream of an execution, or of one attempt.")
        .refused(&[403, 429])
        .answers::<StreamPage>(200, "One page of items, and the cursor of the next.")
        .streams("One event per item, with the cursor as its id, until the stream has ended.")
        .done();
    api.post("/v1/executions/{id}/stream/token", "Creates a temporary token for reading the stream of an execution.")
        .takes::<MakeStreamToken>(MakeStreamToken::BODY_BYTES)
        .answers::<StreamTokenReply>(200, "The token, for a reader without a key.")
        .refused(&[409])
        .done();
}
