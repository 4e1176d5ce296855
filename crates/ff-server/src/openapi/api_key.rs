//! The routes of API keys.

use ff_api::{CreateKey, NewKey, RevokeKey};
use ff_core::contracts::{KeysPage, RevokedKey};

use super::builder::OpenApiBuilder;
use crate::request::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/keys", "Lists all keys ever created, without secrets.").answers::<KeysPage>(200, "One page.").done();
    api.post("/v1/keys", "Creates an API key.")
        .takes::<CreateKey>(CreateKey::BODY_BYTES)
        .answers::<NewKey>(201, "The key. If the server generated it, it is shown only once.")
        .answers::<NewKey>(200, "The same key was created before.")
        .refused(&[409])
        .done();
    api.post("/v1/keys/{key}/revoke", "Revokes an API key.")
        .takes::<RevokeKey>(RevokeKey::BODY_BYTES)
        .answers::<RevokedKey>(200, "The key is revoked.")
        .done();
}
