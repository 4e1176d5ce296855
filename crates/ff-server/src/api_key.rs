//! The domain of API keys over HTTP.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use ff_api::{CreateKey, KeysQuery, NewKey, RevokeKey};
use ff_core::backend::entropy::SystemEntropy;
use ff_core::contracts::{KeysPage, ListKeysArgs, RevokeKeyArgs, RevokedKey};
use ff_scheduler::Runtime;

use crate::access::audit;
use crate::access::callers::Caller;
use crate::request::body::Body;
use crate::request::params::Params;
use crate::request::path::Key;
use crate::response::problem::Result;

/// Creates an API key. If the server generates the key, only this response contains it.
pub(crate) async fn create(State(ff): State<Runtime>, caller: Caller, Body(call): Body<CreateKey>) -> Result<Response> {
    let (args, drawn) = call.into_args(&SystemEntropy)?;
    let created = ff.backend().create_key(args).await?;
    audit::key_created(&caller, &created);
    let status = if created.already { StatusCode::OK } else { StatusCode::CREATED };
    let answer = Json(NewKey::of(created, drawn.as_ref()));
    Ok((status, [(header::CACHE_CONTROL, "no-store")], answer).into_response())
}

/// Lists all keys ever created, without secrets.
pub(crate) async fn list(State(ff): State<Runtime>, Params(query): Params<KeysQuery>) -> Result<Json<KeysPage>> {
    let args = ListKeysArgs { after: query.after, limit: query.limit.unwrap_or_default().0 };
    Ok(Json(ff.backend().list_keys(args).await?))
}

/// Revokes an API key.
pub(crate) async fn revoke(
    State(ff): State<Runtime>,
    caller: Caller,
    Key(key_id): Key,
    Body(RevokeKey {}): Body<RevokeKey>,
) -> Result<Json<RevokedKey>> {
    let revoked = ff.backend().revoke_key(RevokeKeyArgs { key_id: key_id.clone() }).await?;
    audit::key_revoked(&caller, &key_id, &revoked);
    Ok(Json(revoked))
}
