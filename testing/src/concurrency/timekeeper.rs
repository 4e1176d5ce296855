//! Time passes while clients ask, and leases run out under them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ff_core::backend::EngineStore;
use ff_core::clock::ManualClock;

use crate::Chance;

/// Moves the clock in small steps and fires what is due, until it is told to stop. Gives how much fired.
pub async fn keep_time(store: Arc<dyn EngineStore>, clock: Arc<ManualClock>, stop: Arc<AtomicBool>) -> usize {
    let mut chance = Chance::new(0);
    let mut fired = 0;
    while !stop.load(Ordering::SeqCst) {
        clock.advance(*chance.pick(&[10, 200, 500, 900]));
        for partition in 0..store.partitions().num_flow_partitions {
            fired += store.pump(partition).await.unwrap().fired;
        }
        tokio::task::yield_now().await;
    }
    fired
}
