//! The routes of leases: the worker protocol, and an operator's way to take a lease away.

use ff_api::{Claim, Claims};
use ff_core::contracts::Control;

use super::builder::OpenApiBuilder;
use crate::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.post("/v1/workers/{instance}/claim", "Hands out work, waiting for some if asked to.")
        .takes::<Claim>(Claim::BODY_BYTES)
        .answers::<Claims>(200, "What was claimed: nothing, when there was none in time.")
        .done();
    api.get("/v1/workers/{instance}/control", "Tells an instance which of its leases it lost.")
        .cursor("after")
        .wait()
        .answers::<Control>(200, "The leases lost since.")
        .done();
}
