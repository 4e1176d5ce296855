//! The engine: the background tasks that fire due work on a store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ff_core::backend::EngineStore;
use ff_core::backend::hint::Hint;
use ff_core::types::{EngineId, TimestampMs};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::pump::{Pump, PumpLag, QuotaChannels};
use crate::quota_keeper::QuotaKeeper;
use crate::reap_workers::reap_workers;
use crate::routing::{Routing, RoutingNews};

/// Maximum time a stopping engine waits for its notice to the other engines.
const LEAVE: Duration = Duration::from_millis(500);

/// The background tasks of a store: they fire due work and remove workers that are gone. Any number of engines may run on one store.
///
/// ```
/// # use std::sync::Arc;
/// # use ff_backend_memory::MemoryBackend;
/// use ff_engine::Engine;
///
/// # #[tokio::main]
/// # async fn main() {
/// let engine = Engine::start(Arc::new(MemoryBackend::default()));
/// // Delays end, leases expire and deadlines pass by themselves from here on.
/// engine.stop().await;
/// # }
/// ```
pub struct Engine {
    running: DropGuard,
    pump: JoinHandle<()>,
    pump_lag: PumpLag,
    quota_corrections: Arc<AtomicU64>,
}

/// Options of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineOptions {
    /// Time that ready work whose requirements no live worker meets stays in its queue before it is blocked.
    pub routing_grace: Duration,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self { routing_grace: Duration::from_secs(5) }
    }
}

impl Engine {
    /// Starts an engine on the current runtime.
    ///
    /// It sweeps every partition once. After that it calls the store only when work is due, when a hint arrives, when a partition
    /// is swept because hints can be lost, and at intervals to find workers that are gone.
    pub fn start(store: Arc<dyn EngineStore>) -> Self {
        Self::start_with(store, EngineOptions::default())
    }

    /// Starts an engine with these options on the current runtime.
    pub fn start_with(store: Arc<dyn EngineStore>, options: EngineOptions) -> Self {
        let stopped = CancellationToken::new();
        let running = stopped.clone().drop_guard();
        // Created here rather than in the task, so that no hint sent after this call is missed.
        let pump_lag = PumpLag::default();
        let engine_id = EngineId::new();
        let routing_news = RoutingNews::default();
        let ((news, receiver), (owned, owns)) = (mpsc::unbounded_channel(), watch::channel(None));
        let quotas = QuotaChannels { news, owned };
        let pump = Pump::new(store.clone(), engine_id, pump_lag.clone(), routing_news.clone(), quotas);
        let routing = Routing::new(store.clone(), routing_news, options.routing_grace);
        let quota_corrections = Arc::new(AtomicU64::new(0));
        let keeper = QuotaKeeper::new(store.clone(), receiver, owns, quota_corrections.clone());
        let pump = tokio::spawn(async move {
            let all = async { tokio::join!(pump.run(), routing.run(), reap_workers(store.clone()), keeper.run()) };
            stopped.run_until_cancelled(all).await;
            leave(&*store, engine_id).await;
        });
        Self { running, pump, pump_lag, quota_corrections }
    }

    /// Returns the number of corrections since the start: slots without a lease, and waiting executions that were not in line.
    /// Normally 0.
    pub fn quota_corrections(&self) -> u64 {
        self.quota_corrections.load(Ordering::Relaxed)
    }

    /// Returns how long the oldest due work has been waiting for the pump, by the store's clock.
    pub fn behind(&self, now: TimestampMs) -> Duration {
        self.pump_lag.behind(now)
    }

    /// Stops the engine and waits for its last call to the store. The outcome of a call under way may be unknown; the
    /// next engine repeats it.
    pub async fn stop(self) {
        drop(self.running);
        if let Err(error) = self.pump.await {
            tracing::error!(%error, "the pump stopped after a panic");
        }
    }
}

/// Tells the other engines to take over at once. If the store does not answer, they find out by the missing announcements.
async fn leave(store: &dyn EngineStore, engine_id: EngineId) {
    if store.sweep_every().is_some() {
        let notice = store.announce(vec![Hint::EngineSeen { engine_id, keeps_up: false }]);
        if !matches!(timeout(LEAVE, notice).await, Ok(Ok(()))) {
            tracing::debug!("the other engines were not told that this one stops");
        }
    }
}
