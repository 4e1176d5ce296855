//! Hearing at once that work was taken away.

use std::time::Duration;

use ff_core::contracts::ControlArgs;
use tokio::time::Instant;

use super::claiming::Backoff;
use super::held::Held;
use super::options::Setup;

/// How long one question may stay open.
const WAIT_MS: u64 = 30_000;

/// Passes news of lost leases to their handlers, for ever. Renewals find out the same, only later, so trouble here is
/// only worth a warning.
pub(super) async fn listen(setup: &Setup, held: &Held) {
    let mut after = None;
    let mut backoff = Backoff::default();
    loop {
        let asked = Instant::now();
        let args = ControlArgs {
            worker_instance_id: setup.holder.worker_instance_id.clone(),
            after: after.clone(),
            wait_ms: WAIT_MS,
        };
        match setup.waits.control(args).await {
            Ok(control) => {
                for lost in &control.lost {
                    held.lost(&lost.execution_id, &lost.fence);
                }
                if control.missed {
                    held.renew_all();
                }
                // A server that is stopping answers at once with nothing; asking again at once would only load it.
                let idle = control.lost.is_empty() && asked.elapsed() < Duration::from_millis(1);
                after = Some(control.next);
                if idle {
                    backoff.pause().await;
                } else {
                    backoff.reset();
                }
            }
            Err(error) => {
                setup.outages.noted("control", &error);
                backoff.pause().await;
            }
        }
    }
}
