//! The domain of quotas over HTTP.

use axum::Json;
use axum::extract::State;
use ff_api::{DeleteQuota, NamespaceQuery, PutQuota};
use ff_core::contracts::{QuotaDeleted, QuotaInfo, QuotaRef, Quotas};
use ff_core::quota::QuotaPolicy;
use ff_core::types::Namespace;
use ff_scheduler::Runtime;

use crate::request::body::Body;
use crate::request::params::Params;
use crate::request::path::Quota;
use crate::response::problem::Result;

/// Lists the quota policies of a namespace.
pub(crate) async fn list(State(ff): State<Runtime>, Params(query): Params<NamespaceQuery>) -> Result<Json<Quotas>> {
    let namespace = query.namespace.unwrap_or_else(Namespace::default_name);
    Ok(Json(ff.backend().list_quotas(&namespace).await?))
}

/// Returns a quota policy and its usage.
pub(crate) async fn describe(
    State(ff): State<Runtime>,
    Quota(name): Quota,
    Params(query): Params<NamespaceQuery>,
) -> Result<Json<QuotaInfo>> {
    let namespace = query.namespace.unwrap_or_else(Namespace::default_name);
    Ok(Json(ff.backend().describe_quota(QuotaRef { namespace, name }).await?))
}

/// Creates or replaces a quota policy.
pub(crate) async fn put(
    State(ff): State<Runtime>,
    Quota(name): Quota,
    Body(put): Body<PutQuota>,
) -> Result<Json<QuotaPolicy>> {
    Ok(Json(ff.backend().put_quota(put.into_args(name)).await?))
}

/// Deletes a quota policy.
pub(crate) async fn delete(
    State(ff): State<Runtime>,
    Quota(name): Quota,
    Body(DeleteQuota { namespace }): Body<DeleteQuota>,
) -> Result<Json<QuotaDeleted>> {
    let namespace = namespace.unwrap_or_else(Namespace::default_name);
    Ok(Json(ff.backend().delete_quota(QuotaRef { namespace, name }).await?))
}
