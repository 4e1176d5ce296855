//! The registration of a worker, with its heartbeats, and the list of registered workers.

use std::sync::Arc;
use std::time::Duration;

use ff_core::contracts::{HeartbeatArgs, LeaveArgs, ListWorkersArgs, RegisterWorkerArgs, WorkersPage};
use ff_core::engine_error::{Code, EngineError};
use ff_core::limits;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::setup::Setup;
use crate::{Client, Error};

/// Maximum time that a stopping worker spends on unregistering.
const UNREGISTERING: Duration = Duration::from_secs(2);

/// The registration of a worker. Claims and leases do not depend on it, so an error here is only logged.
pub(super) struct Registration {
    setup: Arc<Setup>,
    beating: AbortOnDropHandle<()>,
}

impl Registration {
    /// Registers the worker and sends heartbeats.
    pub(super) fn begin(setup: &Arc<Setup>) -> Self {
        let beating = {
            let setup = setup.clone();
            tokio::spawn(async move { beat(&setup).await })
        };
        Self { setup: setup.clone(), beating: AbortOnDropHandle::new(beating) }
    }

    /// Unregisters the worker.
    pub(super) async fn end(self) {
        let Self { setup, beating } = self;
        // No heartbeat may follow, which would register the worker again.
        beating.abort();
        drop(beating.await);
        let args = LeaveArgs {
            namespace: setup.namespace.clone(),
            worker_instance_id: setup.holder.worker_instance_id.clone(),
        };
        match timeout(UNREGISTERING, setup.backend.leave(args)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot unregister; the worker is listed until its TTL has passed")
            }
            Err(_) => tracing::warn!("no answer to unregistering; the worker is listed until its TTL has passed"),
        }
    }
}

/// Registers, and then sends a heartbeat every third of the TTL, in an endless loop.
async fn beat(setup: &Setup) {
    let mut beats = interval(Duration::from_millis(limits::WORKER_TTL_MS / 3));
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut known = false;
    loop {
        beats.tick().await;
        let answer = if known { heartbeat(setup).await } else { register(setup).await };
        match answer {
            Ok(still_known) => known = still_known,
            Err(error) => setup.outages.log_failure("heartbeat", &error),
        }
    }
}

/// Registers the worker, and returns true: it is registered now.
async fn register(setup: &Setup) -> Result<bool, EngineError> {
    let args = RegisterWorkerArgs {
        namespace: setup.namespace.clone(),
        lanes: setup.lanes.iter().cloned().collect(),
        kinds: setup.kinds.iter().cloned().collect(),
        capabilities: setup.capabilities.clone(),
        ..RegisterWorkerArgs::new(setup.holder.worker_instance_id.clone(), setup.holder.worker_id.clone())
    };
    setup.backend.register_worker(args).await.map(|_| true)
}

/// Sends a heartbeat, and returns true when the worker is registered. A worker whose TTL has passed registers again.
async fn heartbeat(setup: &Setup) -> Result<bool, EngineError> {
    let args = HeartbeatArgs {
        namespace: setup.namespace.clone(),
        worker_instance_id: setup.holder.worker_instance_id.clone(),
    };
    match setup.backend.heartbeat(args).await {
        Ok(_) => Ok(true),
        Err(EngineError::Refused(refusal)) if refusal.code == Code::NotFound => register(setup).await,
        Err(error) => Err(error),
    }
}

impl Client {
    /// Returns a page of the registered worker instances, in the order of their ids.
    pub async fn workers(&self, args: ListWorkersArgs) -> Result<WorkersPage, Error> {
        Ok(self.backend().list_workers(args).await?)
    }
}

/// Waits until the process receives SIGTERM or Ctrl-C.
pub(super) async fn stop_signal() {
    let interrupted = async {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::warn!(%error, "Ctrl-C cannot be listened for");
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = interrupted => {}
        () = terminated() => {}
    }
}

#[cfg(unix)]
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            terminate.recv().await;
        }
        Err(error) => {
            tracing::warn!(%error, "SIGTERM cannot be listened for");
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending::<()>().await;
}
