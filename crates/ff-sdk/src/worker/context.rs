//! What a handler knows of the work in its hands.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::sync::Arc;

use ff_core::backend::EngineBackend;
use ff_core::contracts::{ProgressArgs, Task};
use ff_core::payload::Payload;
use serde::de::DeserializeOwned;

use super::Fault;
use super::held::Hold;
use super::waiting::{CreateWaitpoint, Journal, Suspend, WaitForApproval, WaitForSignal};
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
    pub(super) hold: Hold,
    pub(super) journal: Journal,
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

    /// Waits for one signal of this name, at a waitpoint of the same name.
    ///
    /// The wait ends this run of the handler. Once the signal is there, the handler is called again from its start, and this
    /// call returns the signal: so whatever stands before it runs again. A wait is known by its name; the same name again in
    /// one run is the next wait of that name.
    pub fn wait_for_signal(&self, name: &str) -> WaitForSignal {
        WaitForSignal::new(self.clone(), name)
    }

    /// Waits until somebody approves or rejects, as [`wait_for_signal`](Self::wait_for_signal) waits for a signal. The name is
    /// what the approval page shows as its heading.
    pub fn wait_for_approval(&self, name: &str) -> WaitForApproval {
        WaitForApproval::new(self.clone(), name)
    }

    /// Waits for any condition, as [`wait_for_signal`](Self::wait_for_signal) waits for a signal.
    pub fn suspend(&self, name: &str) -> Suspend {
        Suspend::new(self.clone(), name)
    }

    /// Makes a waitpoint ahead of the wait on it, so that its token can be handed out first; `None` once that wait is over.
    pub fn create_waitpoint(&self, key: &str) -> CreateWaitpoint {
        CreateWaitpoint::new(self.clone(), key)
    }

    /// Whether the handler should stop: the work was cancelled, timed out or taken away, or the worker is going down and
    /// cannot wait longer.
    pub fn is_cancelled(&self) -> bool {
        self.inner.hold.cancelled.is_cancelled()
    }

    /// Returns when the handler should stop.
    pub async fn cancelled(&self) {
        self.inner.hold.cancelled.cancelled().await;
    }

    pub(super) fn backend(&self) -> &Arc<dyn EngineBackend> {
        &self.inner.backend
    }

    pub(super) fn hold(&self) -> &Hold {
        &self.inner.hold
    }

    pub(super) fn journal(&self) -> &Journal {
        &self.inner.journal
    }
}
