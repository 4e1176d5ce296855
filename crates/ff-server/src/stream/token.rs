//! Tokens that let a reader without a key read the stream of one execution: creation and verification.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::{FromRef, FromRequestParts, Query, State};
use axum::http::request::Parts;
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use ff_api::{MakeStreamToken, StreamTokenReply};
use ff_core::backend::{Answer, EngineStore};
use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::token::{KeyRing, PresentedToken};
use ff_core::types::{ExecutionId, TimestampMs};
use ff_scheduler::Runtime;

use crate::access::audit;
use crate::access::callers::Caller;
use crate::request::body::Body;
use crate::request::path::Id;
use crate::response::problem::{Problem, Result};
use crate::routing::route_table;
use crate::signal::count_wrong;

/// Maximum age of the cached secrets of a partition.
const FRESH: Duration = Duration::from_secs(5);

/// Creates a temporary token for reading the stream of an execution.
pub(crate) async fn make(
    State(ff): State<Runtime>,
    caller: Caller,
    Id(id): Id,
    Body(call): Body<MakeStreamToken>,
) -> Result<Response> {
    let token = ff.backend().stream_token(call.into_args(id)).await?;
    audit::stream_token_made(&caller, &id, token.expires_at);
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(StreamTokenReply::from(token))).into_response())
}

/// Returns the token in a URL, if there is one.
pub(crate) fn presented_in(uri: &Uri) -> Option<PresentedToken> {
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri).ok()?;
    pairs
        .into_iter()
        .find_map(|(name, value)| (name == route_table::STREAM_TOKEN_PARAMETER).then(|| PresentedToken::new(value)))
}

/// Verifier of stream tokens, with secrets that are cached for a short time.
pub(crate) struct StreamTokens {
    store: Arc<dyn EngineStore>,
    rings: Mutex<HashMap<u16, CachedRing>>,
}

/// The secrets of a partition, as they were read.
#[derive(Clone)]
struct CachedRing {
    ring: Arc<KeyRing>,
    /// The time of the read, by the clock of this machine and by the store's.
    at: Instant,
    now: TimestampMs,
}

impl StreamTokens {
    pub(crate) fn new(store: Arc<dyn EngineStore>) -> Self {
        Self { store, rings: Mutex::default() }
    }

    async fn verify(&self, id: &ExecutionId, token: &PresentedToken) -> Answer<()> {
        let fresh = self.rings().get(&id.partition()).filter(|cached| cached.at.elapsed() < FRESH).cloned();
        match fresh.map(|cached| cached.verify(id, token)) {
            // The token may be signed under a newer secret.
            Some(Err(Code::InvalidToken)) | None => Ok(self.read(id.partition()).await?.verify(id, token)?),
            Some(result) => Ok(result?),
        }
    }

    async fn read(&self, partition: u16) -> Answer<CachedRing> {
        let (ring, now) = (self.store.key_ring(partition).await?, self.store.now().await?);
        let read = CachedRing { ring: Arc::new(ring), at: Instant::now(), now };
        self.rings().insert(partition, read.clone());
        Ok(read)
    }

    fn rings(&self) -> MutexGuard<'_, HashMap<u16, CachedRing>> {
        self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CachedRing {
    fn verify(&self, id: &ExecutionId, token: &PresentedToken) -> std::result::Result<(), Code> {
        let now = self.now + u64::try_from(self.at.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.ring.verify_for_stream(token, id, now)
    }
}

/// The execution named in the path, for a reader that may read its stream by its key or its token.
pub(crate) struct StreamReader {
    pub(crate) id: ExecutionId,
    /// The token, if the reader sent one in place of a key.
    pub(crate) token: Option<AcceptedToken>,
}

impl<S: Send + Sync> FromRequestParts<S> for StreamReader
where
    Runtime: FromRef<S>,
    Arc<StreamTokens>: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let Id(id) = Id::from_request_parts(parts, state).await?;
        let Some(token) = parts.extensions.remove::<PresentedToken>() else { return Ok(Self { id, token: None }) };
        let Ok(caller) = Caller::from_request_parts(parts, state).await;
        let token = AcceptedToken::verify(FromRef::from_ref(state), &caller, id, token).await?;
        Ok(Self { id, token: Some(token) })
    }
}

/// A token that was accepted for the stream of an execution.
#[derive(Clone)]
pub(crate) struct AcceptedToken {
    tokens: Arc<StreamTokens>,
    id: ExecutionId,
    token: PresentedToken,
}

impl AcceptedToken {
    /// Verifies the token of a request, and counts a wrong one.
    pub(crate) async fn verify(
        tokens: Arc<StreamTokens>,
        caller: &Caller,
        id: ExecutionId,
        token: PresentedToken,
    ) -> Result<Self> {
        caller.ask().map_err(Problem::too_often)?;
        let result = tokens.verify(&id, &token).await;
        count_wrong(caller, result.as_ref().err());
        result?;
        caller.prove_connection();
        Ok(Self { tokens, id, token })
    }

    /// Returns the reason why the token is no longer accepted, if any. If the store does not answer, the token stays accepted:
    /// the stream has no data then either.
    pub(crate) async fn refused(&self) -> Option<Refusal> {
        match self.tokens.verify(&self.id, &self.token).await {
            Err(EngineError::Refused(refusal)) => Some(refusal),
            Ok(()) | Err(_) => None,
        }
    }
}
