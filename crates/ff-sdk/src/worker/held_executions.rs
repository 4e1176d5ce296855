//! The executions a worker holds, so that a control message about a lost lease reaches the handler.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ff_core::contracts::ControlArgs;
use ff_core::lease::Fence;
use ff_core::types::ExecutionId;
use tokio::sync::{Mutex as AsyncMutex, Notify, RwLock};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::backoff::Backoff;
use super::setup::Setup;

/// The executions that a worker holds, by their ids.
#[derive(Clone, Default)]
pub(super) struct HeldExecutions {
    by_id: Arc<Mutex<HashMap<ExecutionId, HeldExecution>>>,
}

/// One execution that a worker holds.
#[derive(Clone)]
pub(super) struct HeldExecution {
    pub(super) fence: Fence,
    /// Fires when the handler should stop.
    pub(super) cancelled: CancellationToken,
    /// Fires when the worker has lost the lease.
    pub(super) lost: CancellationToken,
    /// Requests an early renewal, which shows whether the lease is still held.
    pub(super) renew_now: Arc<Notify>,
    /// Fires when the handler has given up the lease in order to wait.
    pub(super) suspended: CancellationToken,
    /// Fires when the handler has been dropped after its lease was given up or lost.
    pub(super) dropped: CancellationToken,
    /// Locked while the lease is renewed or given up.
    pub(super) lease: Arc<AsyncMutex<()>>,
    /// Locked during a wait: a handler has one wait at a time.
    pub(super) turn: Arc<AsyncMutex<()>>,
    /// Locked for reading while a step is recorded, for writing while the lease is given up.
    pub(super) recording: Arc<RwLock<()>>,
}

impl HeldExecution {
    pub(super) fn new(fence: Fence) -> Self {
        let lost = CancellationToken::new();
        Self {
            fence,
            cancelled: lost.child_token(),
            lost,
            renew_now: Arc::default(),
            suspended: CancellationToken::new(),
            dropped: CancellationToken::new(),
            lease: Arc::default(),
            turn: Arc::default(),
            recording: Arc::default(),
        }
    }
}

impl HeldExecutions {
    pub(super) fn insert(&self, id: ExecutionId, hold: HeldExecution) {
        self.lock().insert(id, hold);
    }

    pub(super) fn remove(&self, id: &ExecutionId, fence: &Fence) {
        let mut by_id = self.lock();
        if by_id.get(id).is_some_and(|hold| hold.fence == *fence) {
            by_id.remove(id);
        }
    }

    /// Cancels the handler of a lease that was lost. A message about an earlier lease is ignored.
    pub(super) fn lost(&self, id: &ExecutionId, fence: &Fence) {
        if let Some(hold) = self.lock().get(id).filter(|hold| hold.fence == *fence) {
            hold.lost.cancel();
        }
    }

    /// Asks every handler to stop. A result that it still returns counts.
    pub(super) fn cancel_all(&self) {
        self.lock().values().for_each(|hold| hold.cancelled.cancel());
    }

    /// Requests the renewal of all leases, because messages about lost leases may have been missed.
    pub(super) fn renew_all(&self) {
        self.lock().values().for_each(|hold| hold.renew_now.notify_one());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ExecutionId, HeldExecution>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Maximum waiting time of one long poll.
const WAIT_MS: u64 = 30_000;

/// Passes messages about lost leases to the handlers, in an endless loop. Renewals also detect a lost lease, only later,
/// so an error here is only logged.
pub(super) async fn listen(setup: &Setup, held: &HeldExecutions) {
    let mut after = None;
    let mut backoff = Backoff::default();
    loop {
        let start = Instant::now();
        let args = ControlArgs {
            worker_instance_id: setup.holder.worker_instance_id.clone(),
            after: after.clone(),
            wait_ms: WAIT_MS,
        };
        match setup.long_poll.control(args).await {
            Ok(control) => {
                for lost in &control.lost {
                    held.lost(&lost.execution_id, &lost.fence);
                }
                if control.missed {
                    held.renew_all();
                }
                // A server that is stopping answers at once with nothing; asking again at once would only load it.
                let idle = control.lost.is_empty() && start.elapsed() < Duration::from_millis(1);
                after = Some(control.next);
                if idle {
                    backoff.pause().await;
                } else {
                    backoff.reset();
                }
            }
            Err(error) => {
                setup.outages.log_failure("control", &error);
                backoff.pause().await;
            }
        }
    }
}
