//! The state shared by the handlers. It is one value behind one pointer, and each handler extracts the part it needs. One
//! extension per part would add one layer per part, which costs every request.

use std::sync::Arc;

use axum::extract::FromRef;
use ff_scheduler::Runtime;
use tokio_util::sync::CancellationToken;

use crate::access::sealer::Sealer;
use crate::event::CursorCipher;
use crate::health::Readiness;
use crate::metrics::Metrics;
use crate::routing::links::Links;
use crate::stream::token::StreamTokens;

#[derive(Clone)]
pub(crate) struct ServerState(Arc<Parts>);

struct Parts {
    runtime: Runtime,
    sealer: Arc<Sealer>,
    cipher: Arc<CursorCipher>,
    tokens: Arc<StreamTokens>,
    links: Links,
    readiness: Readiness,
    metrics: Option<Metrics>,
    stopping: CancellationToken,
}

impl ServerState {
    pub(crate) fn new(
        runtime: Runtime,
        sealer: Arc<Sealer>,
        links: Links,
        metrics: Option<Metrics>,
        stopping: CancellationToken,
    ) -> Self {
        let cipher = Arc::new(CursorCipher::new(sealer.clone()));
        let tokens = Arc::new(StreamTokens::new(runtime.engine_store().clone()));
        let readiness = Readiness::default();
        Self(Arc::new(Parts { runtime, sealer, cipher, tokens, links, readiness, metrics, stopping }))
    }
}

macro_rules! parts {
    ($($part:ident: $type:ty;)*) => {$(
        impl FromRef<ServerState> for $type {
            fn from_ref(state: &ServerState) -> Self {
                state.0.$part.clone()
            }
        }
    )*};
}

parts! {
    runtime: Runtime;
    sealer: Arc<Sealer>;
    cipher: Arc<CursorCipher>;
    tokens: Arc<StreamTokens>;
    links: Links;
    readiness: Readiness;
    metrics: Option<Metrics>;
    stopping: CancellationToken;
}
