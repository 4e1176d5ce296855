//! Request bodies: JSON of a known type and size. A parse error names its field.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body as Stream;
use axum::extract::{FromRequest, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use ff_api::{self, BATCH_BODY_BYTES, FLOW_BODY_BYTES, PAYLOAD_BODY_BYTES, SCHEDULE_BODY_BYTES, SIGNAL_BODY_BYTES};
use ff_core::engine_error::{Code, Refusal};
use ff_core::limits::CONTROL_BODY_BYTES;
use ff_core::types::Namespace;
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use crate::access::tenant;
use crate::capacity::{IncomingBody, Slot};
use crate::request::params::Fields;
use crate::response::problem::Problem;

/// Maximum time for the first bytes of a body, and the minimum rate after that.
const GRACE: Duration = Duration::from_secs(5);
const BYTES_A_SECOND: usize = 16 * 1024;

/// Maximum time for any body to arrive.
const ARRIVAL: Duration = Duration::from_secs(60);

/// Maximum number of bytes read and discarded of a refused body, and maximum time for that. A client that is still sending does
/// not read, and would see a broken connection in place of the response.
const DISCARDED_BYTES: usize = 4 * BATCH_BODY_BYTES;
const DISCARDING: Duration = Duration::from_secs(5);

/// The body of a request. An empty body means `{}`.
pub(crate) struct Body<T>(pub(crate) T);

/// The body of a request whose handler reads the parameters itself.
pub(crate) struct BodyOnly<T>(pub(crate) T);

/// A request type with a limit for its body.
pub(crate) trait BodyLimit: DeserializeOwned {
    const BODY_BYTES: usize;

    /// Returns the namespace field of the request, if it has one.
    fn namespace(&mut self) -> Option<&mut Option<Namespace>> {
        None
    }
}

macro_rules! bounded {
    ($($request:ident at most $bytes:ident $(within $namespace:ident)?;)*) => {
        $(impl BodyLimit for ff_api::$request {
            const BODY_BYTES: usize = $bytes;
            $(fn namespace(&mut self) -> Option<&mut Option<Namespace>> {
                Some(&mut self.$namespace)
            })?
        })*
    };
}

macro_rules! bounded_calls {
    ($($path:literal $access:ident $name:path:
        $body:ident($args:ty, $subject:ident: $type:ty) -> $answer:ty, at most $bytes:ident $(within $namespace:ident)?,
        refused [$($status:literal),*] $($mark:ident)*, $does:literal => $says:literal;)*) => {
        bounded! { $($body at most $bytes $(within $namespace)?;)* }
    };
}

ff_api::calls!(bounded_calls);

bounded! {
    Submit          at most PAYLOAD_BODY_BYTES within namespace;
    Batch           at most BATCH_BODY_BYTES;
    WorkerBatch     at most BATCH_BODY_BYTES;
    Bulk            at most CONTROL_BODY_BYTES within namespace;
    ConfigureLane   at most CONTROL_BODY_BYTES within namespace;
    PutBudget       at most CONTROL_BODY_BYTES within namespace;
    DeleteBudget    at most CONTROL_BODY_BYTES within namespace;
    ResetBudget     at most CONTROL_BODY_BYTES within namespace;
    PutQuota        at most CONTROL_BODY_BYTES within namespace;
    DeleteQuota     at most CONTROL_BODY_BYTES within namespace;
    PutSchedule     at most SCHEDULE_BODY_BYTES within namespace;
    DeleteSchedule  at most CONTROL_BODY_BYTES within namespace;
    PauseSchedule   at most CONTROL_BODY_BYTES within namespace;
    ResumeSchedule  at most CONTROL_BODY_BYTES within namespace;
    TriggerSchedule at most CONTROL_BODY_BYTES within namespace;
    BackfillSchedule at most CONTROL_BODY_BYTES within namespace;
    Claim           at most CONTROL_BODY_BYTES within namespace;
    Suspend         at most PAYLOAD_BODY_BYTES;
    CloseWaitpoint  at most CONTROL_BODY_BYTES;
    MakeStreamToken at most CONTROL_BODY_BYTES;
    Deliver         at most SIGNAL_BODY_BYTES;
    Decide          at most SIGNAL_BODY_BYTES;
    RotateSecret    at most CONTROL_BODY_BYTES;
    CreateKey       at most CONTROL_BODY_BYTES;
    RevokeKey       at most CONTROL_BODY_BYTES;
    BeginSession    at most CONTROL_BODY_BYTES;
    EndSession      at most CONTROL_BODY_BYTES;
    SubmitFlow      at most FLOW_BODY_BYTES within namespace;
    GrowFlow        at most FLOW_BODY_BYTES;
    CancelFlow      at most CONTROL_BODY_BYTES;
}

impl<T: BodyLimit, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        Fields::of(request.uri())?.done()?;
        Ok(Self(read(request).await?))
    }
}

impl<T: BodyLimit, S: Send + Sync> FromRequest<S> for BodyOnly<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        Ok(Self(read(request).await?))
    }
}

async fn read<T: BodyLimit>(request: Request) -> Result<T, Problem> {
    check_content_type(request.headers())?;
    let (parts, body) = request.into_parts();
    let bytes = arrived(&parts, body, T::BODY_BYTES).await?;
    let call = ff_api::object(if bytes.is_empty() { b"{}" } else { &bytes });
    let mut call: T = call.map_err(|refusal: Refusal| match refusal.field {
        Some(_) => refusal,
        None => refusal.at("body"),
    })?;
    if let Some(named) = call.namespace() {
        tenant::settle(tenant::of(&parts).as_ref(), named)?;
    }
    Ok(call)
}

/// Reads a whole body, unless it exceeds its limit, arrives too slowly, or does not fit into the memory for bodies. Only then
/// the request takes its place among the running ones.
pub(crate) async fn arrived(parts: &Parts, mut body: Stream, limit: usize) -> Result<Bytes, Problem> {
    let slot = parts.extensions.get::<Arc<Slot>>().filter(|slot| slot.since().is_none());
    let mut arriving = slot.map(Slot::arriving).transpose()?;
    let bytes = match collected(&parts.headers, &mut body, limit, arriving.as_mut()).await {
        Ok(bytes) => bytes,
        Err(problem) => {
            // A client that sent `Expect` sends no body after it is refused.
            if !parts.headers.contains_key(header::EXPECT) {
                tokio::spawn(tokio::time::timeout(DISCARDING, discard(body, arriving)));
            }
            return Err(problem);
        }
    };
    arriving.map_or(Ok(()), IncomingBody::complete)?;
    Ok(bytes)
}

/// Refuses a body with a content type other than JSON. A body without a content type counts as JSON.
fn check_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let Some(content_type) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let essence = content_type.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Refusal::new(Code::UnsupportedMediaType)
        .at("Content-Type")
        .because(format!("must be application/json, got {content_type:?}")))
}

async fn collected(
    headers: &HeaderMap,
    body: &mut Stream,
    limit: usize,
    mut arriving: Option<&mut IncomingBody>,
) -> Result<Bytes, Problem> {
    let too_large = |sent| Refusal::over_limit(Code::PayloadTooLarge, "body", limit, sent);
    if let Some(declared) = declared_length(headers).filter(|declared| *declared > limit) {
        return Err(too_large(declared).into());
    }
    let began = Instant::now();
    let mut buffer = BytesMut::new();
    loop {
        let frame = tokio::time::timeout_at(began + allowed(buffer.len()), body.frame()).await;
        let Some(frame) = frame.map_err(|_| too_slow(buffer.len()))? else { return Ok(buffer.freeze()) };
        let frame =
            frame.map_err(|error| Refusal::new(Code::InvalidJson).at("body").because(format!("broke off: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        if buffer.len() + data.len() > limit {
            return Err(too_large(buffer.len() + data.len()).into());
        }
        if let Some(arriving) = &mut arriving {
            arriving.received(data.len())?;
        }
        buffer.extend_from_slice(&data);
    }
}

fn declared_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Returns the time limit for a body of which this many bytes have arrived.
fn allowed(received: usize) -> Duration {
    let seconds = u64::try_from(received / BYTES_A_SECOND).unwrap_or(u64::MAX);
    GRACE.saturating_add(Duration::from_secs(seconds)).min(ARRIVAL)
}

fn too_slow(received: usize) -> Refusal {
    let why = format!("must come with at least {BYTES_A_SECOND} bytes a second; {received} came in time");
    Refusal::new(Code::RequestTimeout).at("body").because(why)
}

/// Reads and discards the rest of a body, which still counts as an arriving body.
async fn discard(mut body: Stream, _arriving: Option<IncomingBody>) {
    let mut discarded = 0;
    while discarded <= DISCARDED_BYTES
        && let Some(Ok(frame)) = body.frame().await
    {
        discarded += frame.data_ref().map_or(0, Bytes::len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_comes_steadily_has_time_and_one_that_stalls_has_little() {
        assert_eq!(allowed(0), GRACE);
        assert_eq!(allowed(1), GRACE);
        assert_eq!(allowed(10 * BYTES_A_SECOND), GRACE + Duration::from_secs(10));
        assert_eq!(allowed(FLOW_BODY_BYTES), ARRIVAL);
        assert_eq!(allowed(usize::MAX), ARRIVAL);
    }
}
