//! Health checks: the process is alive, and the store answers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use ff_api::NoQuery;
use ff_core::backend::Answer;
use ff_core::contracts::ListKeysArgs;
use ff_core::engine_error::EngineError;
use ff_scheduler::Runtime;
use schemars::JsonSchema;
use serde::Serialize;

use crate::request::params::Params;
use crate::response::problem::Result;

/// Maximum time for the store to answer before the server counts as not ready.
const PATIENCE: Duration = Duration::from_secs(2);

/// Maximum age of a cached answer of the store. Everyone may call the health checks, at any rate.
const GOOD_FOR: Duration = Duration::from_millis(250);

/// Health of the server.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Health {
    status: &'static str,
}

/// The last answer of the store. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Readiness(Arc<Mutex<Option<LastAnswer>>>);

/// The last answer of the store, and its time.
#[derive(Clone)]
struct LastAnswer {
    at: Instant,
    answer: Answer<()>,
}

/// Reports that the process is alive, without a call to the store.
pub(crate) async fn healthz(_: Params<NoQuery>) -> Json<Health> {
    Json(Health { status: "ok" })
}

/// Reports whether the store answers.
pub(crate) async fn readyz(
    State(ff): State<Runtime>,
    State(readiness): State<Readiness>,
    _: Params<NoQuery>,
) -> Result<Json<Health>> {
    readiness.of(&ff).await?;
    Ok(Json(Health { status: "ready" }))
}

impl Readiness {
    async fn of(&self, ff: &Runtime) -> Answer<()> {
        let recent = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(last) = recent.filter(|last| last.at.elapsed() < GOOD_FOR) {
            return last.answer;
        }
        let answer = ask(ff).await;
        let last = LastAnswer { at: Instant::now(), answer: answer.clone() };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
        answer
    }
}

/// Sends a query that every store must read data for.
async fn ask(ff: &Runtime) -> Answer<()> {
    let store = ff.engine_store();
    let query = store.list_keys(ListKeysArgs { after: None, limit: 1 });
    let answered = tokio::time::timeout(PATIENCE, query).await;
    let late = |_| EngineError::Unavailable(format!("it has not answered for {} s", PATIENCE.as_secs()));
    answered.map_err(late)?.map(drop)
}
