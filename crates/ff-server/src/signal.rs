//! The domain of signals over HTTP. Delivering a signal needs only the waitpoint's token, or a key with the role `signal`.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use ff_api::{Deliver, DeliveriesQuery, ReceivedSignal, SignalQuery, SignalsQuery};
use ff_core::api_key::Role;
use ff_core::contracts::{
    DeliverArgs, DeliveredSignal, DeliveriesArgs, DeliveriesPage, SignalsArgs, SignalsPage, WaitpointRef, check_wait,
};
use ff_core::engine_error::{Code, EngineError};
use ff_core::token::PresentedToken;
use ff_scheduler::Runtime;

use crate::access::callers::{Caller, CountedCaller};
use crate::execution::{key_in, resolve_idempotency_key};
use crate::request::body::Body;
use crate::request::params::{Params, cursor};
use crate::request::path::{Id, SignalPath};
use crate::response::problem::Result;

/// Delivers a signal for a caller with the waitpoint's token. Callers without it get the same response for existing and missing
/// waitpoints.
pub(crate) async fn deliver(
    State(ff): State<Runtime>,
    CountedCaller(caller): CountedCaller,
    Id(id): Id,
    headers: HeaderMap,
    Body(mut signal): Body<Deliver>,
) -> Result<Json<DeliveredSignal>> {
    signal.idempotency_key = resolve_idempotency_key(key_in(&headers)?, signal.idempotency_key.take())?;
    let mut args = signal.into_args(id)?;
    if args.token.is_missing() && caller.has_shown(Role::Signal) {
        args.token = token_for(&ff, &args).await?;
    }
    let delivered = ff.backend().deliver(args).await;
    count_wrong(&caller, delivered.as_ref().err());
    Ok(Json(delivered?))
}

/// Returns the token of the waitpoint that a signal is for, for a caller whose key replaces it. Refuses if there is no such
/// waitpoint.
async fn token_for(ff: &Runtime, args: &DeliverArgs) -> Result<PresentedToken> {
    let id = match &args.waitpoint {
        WaitpointRef::Id(id) => Some(*id),
        WaitpointRef::Key(key) => {
            let open = ff.backend().waitpoints(&args.execution_id).await?;
            open.into_iter().find(|waitpoint| waitpoint.waitpoint_key == *key).map(|waitpoint| waitpoint.waitpoint_id)
        }
    };
    let id = id.ok_or(Code::WaitpointNotFound)?;
    Ok((&ff.backend().waitpoint_token(&args.execution_id, &id).await?).into())
}

/// Charges a caller for a wrong token.
pub(crate) fn count_wrong(caller: &Caller, error: Option<&EngineError>) {
    let wrong = [Code::InvalidToken, Code::MissingToken, Code::TokenExpired];
    if error.is_some_and(|error| wrong.contains(&error.code())) {
        caller.was_wrong();
    }
}

/// Lists the signals of an execution, oldest first.
pub(crate) async fn list(
    State(ff): State<Runtime>,
    Id(id): Id,
    Params(query): Params<SignalsQuery>,
) -> Result<Json<SignalsPage>> {
    let args =
        SignalsArgs { execution_id: id, skip: query.skip.unwrap_or(0), limit: query.limit.unwrap_or_default().0 };
    Ok(Json(ff.backend().signals(args).await?))
}

/// Returns a signal with its payload.
pub(crate) async fn read(
    State(ff): State<Runtime>,
    Id(id): Id,
    SignalPath(signal): SignalPath,
    Params(query): Params<SignalQuery>,
) -> Result<Json<ReceivedSignal>> {
    Ok(Json(ReceivedSignal::of(ff.backend().signal(&id, &signal).await?, query.encoding.unwrap_or_default())))
}

/// Lists the deliveries since a cursor; can wait for the next one.
pub(crate) async fn deliveries(
    State(ff): State<Runtime>,
    Params(query): Params<DeliveriesQuery>,
) -> Result<Json<DeliveriesPage>> {
    let args = DeliveriesArgs { after: cursor("after", query.after)?, limit: query.limit.unwrap_or_default().0 };
    let wait_ms = query.wait_ms.unwrap_or_default().0;
    check_wait(wait_ms)?;
    args.check()?;
    Ok(Json(ff.long_poll().next_deliveries(args, wait_ms).await?))
}
