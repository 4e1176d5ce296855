//! Bodies: JSON of a known type and size, read so that an error names its field.

use std::time::Duration;

use axum::body::Body as Stream;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use ff_core::engine_error::{Code, Refusal};
use ff_core::limits::CONTROL_BODY_BYTES;
use ff_core::types::Namespace;
use ff_sdk::http::wire::{self, BATCH_BODY_BYTES, FLOW_BODY_BYTES, PAYLOAD_BODY_BYTES, SIGNAL_BODY_BYTES};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;

use crate::params::Params;
use crate::problem::Problem;
use crate::tenant;

/// How long a body may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(30);

/// How much of a body that is too large is taken and thrown away: a client that is still sending does not read, and
/// would see a broken connection in place of the answer.
const DISCARDED_BYTES: usize = 4 * BATCH_BODY_BYTES;

/// The body of a request. An empty one says nothing, as `{}` does.
pub(crate) struct Body<T>(pub(crate) T);

/// The body of a request whose parameters the route reads itself.
pub(crate) struct BodyBeside<T>(pub(crate) T);

/// A request with a limit to its body.
pub(crate) trait Bounded: DeserializeOwned {
    const BODY_BYTES: usize;

    /// Where it says whose it is, if it does.
    fn namespace(&mut self) -> Option<&mut Option<Namespace>> {
        None
    }
}

macro_rules! bounded {
    ($($request:ident at most $bytes:ident $(within $namespace:ident)?;)*) => {
        $(impl Bounded for wire::$request {
            const BODY_BYTES: usize = $bytes;
            $(fn namespace(&mut self) -> Option<&mut Option<Namespace>> {
                Some(&mut self.$namespace)
            })?
        })*
    };
}

bounded! {
    Submit          at most PAYLOAD_BODY_BYTES within namespace;
    Complete        at most PAYLOAD_BODY_BYTES;
    Batch           at most BATCH_BODY_BYTES;
    Cancel          at most CONTROL_BODY_BYTES;
    Replay          at most CONTROL_BODY_BYTES;
    Bulk            at most CONTROL_BODY_BYTES within namespace;
    ChangePriority  at most CONTROL_BODY_BYTES;
    SetTags         at most CONTROL_BODY_BYTES;
    ConfigureLane   at most CONTROL_BODY_BYTES within namespace;
    RegisterWorker  at most CONTROL_BODY_BYTES within namespace;
    Heartbeat       at most CONTROL_BODY_BYTES within namespace;
    Leave           at most CONTROL_BODY_BYTES within namespace;
    Revoke          at most CONTROL_BODY_BYTES;
    Claim           at most CONTROL_BODY_BYTES within namespace;
    Renew           at most CONTROL_BODY_BYTES;
    Progress        at most CONTROL_BODY_BYTES;
    Fail            at most CONTROL_BODY_BYTES;
    Delay           at most CONTROL_BODY_BYTES;
    Suspend         at most PAYLOAD_BODY_BYTES;
    CreateWaitpoint at most CONTROL_BODY_BYTES;
    CloseWaitpoint  at most CONTROL_BODY_BYTES;
    Deliver         at most SIGNAL_BODY_BYTES;
    Decide          at most SIGNAL_BODY_BYTES;
    RotateSecret    at most CONTROL_BODY_BYTES;
    CreateKey       at most CONTROL_BODY_BYTES;
    RevokeKey       at most CONTROL_BODY_BYTES;
    SubmitFlow      at most FLOW_BODY_BYTES within namespace;
    GrowFlow        at most FLOW_BODY_BYTES;
    CloseFlow       at most CONTROL_BODY_BYTES;
    CancelFlow      at most CONTROL_BODY_BYTES;
    TagFlow         at most CONTROL_BODY_BYTES;
    WaitForChildren at most CONTROL_BODY_BYTES;
    Cascade         at most CONTROL_BODY_BYTES;
}

impl<T: Bounded, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        Params::of(request.uri())?.done()?;
        Ok(Self(read(request).await?))
    }
}

impl<T: Bounded, S: Send + Sync> FromRequest<S> for BodyBeside<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        Ok(Self(read(request).await?))
    }
}

async fn read<T: Bounded>(request: Request) -> Result<T, Refusal> {
    said_to_be_json(request.headers())?;
    let (parts, body) = request.into_parts();
    let bytes = arrived(body, T::BODY_BYTES).await?;
    let mut said: T = wire::object(if bytes.is_empty() { b"{}" } else { &bytes })?;
    if let Some(named) = said.namespace() {
        tenant::settle(tenant::of(&parts).as_ref(), named)?;
    }
    Ok(said)
}

/// The whole of a body, unless it is over its limit or takes too long.
pub(crate) async fn arrived(body: Stream, limit: usize) -> Result<Bytes, Refusal> {
    tokio::time::timeout(ARRIVAL, collect(body, limit)).await.map_err(|_| Code::RequestTimeout)?
}

/// Refuses a body that is said to be something else. One of which nothing is said is taken for JSON.
fn said_to_be_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let Some(said) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let essence = said.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Refusal::new(Code::UnsupportedMediaType)
        .at("Content-Type")
        .because(format!("must be application/json, got {said:?}")))
}

async fn collect(mut body: Stream, limit: usize) -> Result<Bytes, Refusal> {
    let mut kept = BytesMut::new();
    let mut sent = 0;
    while sent <= DISCARDED_BYTES
        && let Some(frame) = body.frame().await
    {
        let frame =
            frame.map_err(|error| Refusal::new(Code::InvalidJson).because(format!("the body broke off: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        sent += data.len();
        if sent <= limit {
            kept.extend_from_slice(&data);
        } else {
            kept = BytesMut::new();
        }
    }
    if sent > limit {
        return Err(Refusal::over_limit(Code::PayloadTooLarge, "body", limit, sent));
    }
    Ok(kept.freeze())
}
