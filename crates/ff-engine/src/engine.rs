//! The engine: what runs beside a store so that due work happens by itself.

use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::EngineStore;
use ff_core::hint::Hint;
use ff_core::types::{EngineId, TimestampMs};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::pump::Pump;
use crate::pump_lag::PumpLag;
use crate::reap_workers::reap_workers;

/// How long an engine that stops waits until the others are told.
const LEAVE: Duration = Duration::from_millis(500);

/// Fires whatever is due on a store and takes out workers that are gone, for as long as it lives. Any number of engines may
/// run on one store.
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
}

impl Engine {
    /// Starts an engine on the current runtime.
    ///
    /// It looks at every partition once and then asks the store nothing until something is due, a hint tells it more, or
    /// the store's hints can be lost and it is some partition's turn to be swept. Who is gone it asks now and then.
    pub fn start(store: Arc<dyn EngineStore>) -> Self {
        let stopped = CancellationToken::new();
        let running = stopped.clone().drop_guard();
        // Made here rather than in the task, so that no hint given from now on is missed.
        let pump_lag = PumpLag::default();
        let engine_id = EngineId::new();
        let pump = Pump::new(store.clone(), engine_id, pump_lag.clone());
        let pump = tokio::spawn(async move {
            let both = async { tokio::join!(pump.run(), reap_workers(store.clone())) };
            stopped.run_until_cancelled(both).await;
            leave(&*store, engine_id).await;
        });
        Self { running, pump, pump_lag }
    }

    /// How long what is due has been due without being seen to, by the store's time.
    pub fn behind(&self, now: TimestampMs) -> Duration {
        self.pump_lag.behind(now)
    }

    /// Stops the engine and waits until it asks the store nothing more. What it had asked for and not heard of is done or
    /// not; the next engine finds out.
    pub async fn stop(self) {
        drop(self.running);
        if let Err(error) = self.pump.await {
            tracing::error!(%error, "the pump broke off");
        }
    }
}

/// Has the other engines take over at once. A store that does not answer is not waited for: they find out.
async fn leave(store: &dyn EngineStore, engine_id: EngineId) {
    if store.sweep_every().is_some() {
        let told = store.announce(vec![Hint::EngineSeen { engine_id, keeps_up: false }]);
        if !matches!(timeout(LEAVE, told).await, Ok(Ok(()))) {
            tracing::debug!("the other engines were not told that this one stops");
        }
    }
}
