//! The routes of quotas.

use ff_api::{DeleteQuota, PutQuota};
use ff_core::contracts::{QuotaDeleted, QuotaInfo, Quotas};
use ff_core::quota::QuotaPolicy;
use ff_core::types::Namespace;

use super::builder::OpenApiBuilder;
use crate::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/quotas", "Lists the quota policies of a namespace.")
        .query::<Namespace>("namespace", "Of this namespace; `default` unless given.")
        .answers::<Quotas>(200, "All of them, by name.")
        .done();
    api.get("/v1/quotas/{quota}", "Says how a quota policy is defined, and what is used of it.")
        .query::<Namespace>("namespace", "Of this namespace; `default` unless given.")
        .answers::<QuotaInfo>(200, "The policy, and the values of its key that are in use.")
        .done();
    api.post("/v1/quotas/{quota}", "Defines a quota policy, or defines it anew. It holds once this is answered.")
        .takes::<PutQuota>(PutQuota::BODY_BYTES)
        .answers::<QuotaPolicy>(200, "The policy as it is now.")
        .done();
    api.post("/v1/quotas/{quota}/delete", "Deletes a quota policy; what it kept waiting is ready again.")
        .takes::<DeleteQuota>(DeleteQuota::BODY_BYTES)
        .answers::<QuotaDeleted>(200, "Whether there was none.")
        .done();
}
