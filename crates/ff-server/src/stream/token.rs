//! Tokens by which a reader without a key reads the stream of one execution: made here, and judged here.

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

use crate::audit;
use crate::body::Body;
use crate::callers::Caller;
use crate::path::Id;
use crate::problem::{Problem, Result};
use crate::signal::count_wrong;

/// The parameter a token is shown in: a browser's `EventSource` sends no header of a page's own.
pub(crate) const PARAMETER: &str = "token";

/// How long the secrets of a partition are used before they are read again.
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

/// The token in an address, if one is shown.
pub(crate) fn presented_in(uri: &Uri) -> Option<PresentedToken> {
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri).ok()?;
    pairs.into_iter().find_map(|(name, value)| (name == PARAMETER).then(|| PresentedToken::new(value)))
}

/// Judges the tokens of streams, with secrets that are cached for a short time.
pub(crate) struct StreamTokens {
    store: Arc<dyn EngineStore>,
    rings: Mutex<HashMap<u16, CachedRing>>,
}

/// The secrets of a partition as they were found.
#[derive(Clone)]
struct CachedRing {
    ring: Arc<KeyRing>,
    /// The time it was read, by this machine and by the store.
    at: Instant,
    now: TimestampMs,
}

impl StreamTokens {
    pub(crate) fn new(store: Arc<dyn EngineStore>) -> Self {
        Self { store, rings: Mutex::default() }
    }

    async fn judge(&self, id: &ExecutionId, token: &PresentedToken) -> Answer<()> {
        let fresh = self.rings().get(&id.partition()).filter(|cached| cached.at.elapsed() < FRESH).cloned();
        match fresh.map(|cached| cached.judge(id, token)) {
            // The secret it was signed under may be newer.
            Some(Err(Code::InvalidToken)) | None => Ok(self.read(id.partition()).await?.judge(id, token)?),
            Some(judged) => Ok(judged?),
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
    fn judge(&self, id: &ExecutionId, token: &PresentedToken) -> std::result::Result<(), Code> {
        let now = self.now + u64::try_from(self.at.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.ring.verify_for_stream(token, id, now)
    }
}

/// The execution an address names, for a reader that may read its stream: by its key, or by the token it shows.
pub(crate) struct StreamReader {
    pub(crate) id: ExecutionId,
    /// The token, where the reader has one in place of a key.
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
        let token = AcceptedToken::judged(FromRef::from_ref(state), &caller, id, token).await?;
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
    /// Judges the token a request was let in with.
    pub(crate) async fn judged(
        tokens: Arc<StreamTokens>,
        caller: &Caller,
        id: ExecutionId,
        token: PresentedToken,
    ) -> Result<Self> {
        caller.ask().map_err(Problem::too_often)?;
        let judged = tokens.judge(&id, &token).await;
        count_wrong(caller, judged.as_ref().err());
        judged?;
        caller.prove_connection();
        Ok(Self { tokens, id, token })
    }

    /// Why it is not accepted any more. While the store does not answer it stays accepted: the stream has no data then
    /// either.
    pub(crate) async fn refused(&self) -> Option<Refusal> {
        match self.tokens.judge(&self.id, &self.token).await {
            Err(EngineError::Refused(refusal)) => Some(refusal),
            Ok(()) | Err(_) => None,
        }
    }
}
