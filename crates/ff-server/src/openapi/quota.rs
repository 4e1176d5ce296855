//! The routes of quotas.

use ff_api::{DeleteQuota, PutQuota};
use ff_core::contracts::{QuotaDeleted, QuotaInfo, Quotas};
use ff_core::quota::QuotaPolicy;

use super::builder::OpenApiBuilder;
use crate::request::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/quotas", "Lists the quota policies of a namespace.")
        .answers::<Quotas>(200, "All of them, ordered by name.")
        .done();
    api.get("/v1/quotas/{quota}", "Returns a quota policy and its usage.")
        .answers::<QuotaInfo>(200, "The policy, and its key values in use.")
        .done();
    api.post("/v1/quotas/{quota}", "Creates or replaces a quota policy. It is in force when the response arrives.")
        .takes::<PutQuota>(PutQuota::BODY_BYTES)
        .answers::<QuotaPolicy>(200, "The policy as it is now.")
        .done();
    api.post("/v1/quotas/{quota}/delete", "Deletes a quota policy. Executions that waited for it are ready again.")
        .takes::<DeleteQuota>(DeleteQuota::BODY_BYTES)
        .answers::<QuotaDeleted>(200, "Whether it existed.")
        .done();
}
