//! What a handler knows of the work in its hands.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::sync::Arc;

use ff_core::backend::EngineBackend;
use ff_core::contracts::{ProgressArgs, Task};
use ff_core::payload::Payload;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use super::Fault;
use crate::Error;

/// Things shared by all handlers of a worker, one of each type.
pub(super) type States = HashMap<TypeId, Arc<dyn Any + Send + Sync>>;

/// The work in a handler's hands. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    inner: Arc<Work>,
}

pub(super) struct Work {
    pub(super) task: Task,
    pub(super) payload: Payload,
    pub(super) backend: Arc<dyn EngineBackend>,
    pub(super) states: Arc<States>,
    pub(super) cancelled: CancellationToken,
}

impl Context {
    pub(super) fn new(work: Work) -> Self {
        Self { inner: Arc::new(work) }
    }

    /// What was claimed: id, kind, tags, attempt, deadline.
    pub fn task(&self) -> &Task {
        &self.inner.task
    }

    /// The bytes that were submitted.
    pub fn payload(&self) -> &Payload {
        &self.inner.payload
    }

    /// The payload read as JSON. One that cannot be read never will be, so the fault is permanent.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        let bytes = &self.inner.payload.bytes;
        let text: &[u8] = if bytes.is_empty() { b"null" } else { bytes };
        serde_json::from_slice(text).map_err(|error| Fault::permanent("invalid_payload", error.to_string()))
    }

    /// What the worker was given with [`super::Worker::state`].
    pub fn state<T: Send + Sync + 'static>(&self) -> Result<Arc<T>, Fault> {
        let found = self.inner.states.get(&TypeId::of::<T>()).cloned();
        found.and_then(|state| state.downcast().ok()).ok_or_else(|| {
            Fault::permanent("missing_state", format!("the worker was given no state of type {}", type_name::<T>()))
        })
    }

    /// Says how far the work is. Percent and message may each be left as they were.
    pub async fn progress(&self, percent: Option<u8>, message: Option<&str>) -> Result<(), Error> {
        let args = ProgressArgs {
            execution_id: self.inner.task.execution_id,
            fence: self.inner.task.fence,
            percent,
            message: message.map(str::to_owned),
        };
        self.inner.backend.progress(args).await?;
        Ok(())
    }

    /// Whether the handler should stop: the work was cancelled, timed out or taken away, or the worker is going down and
    /// cannot wait longer.
    pub fn is_cancelled(&self) -> bool {
        self.inner.cancelled.is_cancelled()
    }

    /// Returns when the handler should stop.
    pub async fn cancelled(&self) {
        self.inner.cancelled.cancelled().await;
    }
}
