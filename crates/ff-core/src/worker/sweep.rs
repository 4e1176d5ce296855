//! Sweeping: worker instances that went without a word are taken out.

use super::WorkerChange;
use super::contracts::{SweepWorkerArgs, SweptWorker};
use crate::types::TimestampMs;
use crate::view::{Stop, View};

/// Takes out a worker instance if it is gone; one that was heard of meanwhile stays.
pub fn sweep(
    view: &dyn View,
    args: &SweepWorkerArgs,
    now: TimestampMs,
) -> Result<(SweptWorker, Option<WorkerChange>), Stop> {
    let gone = view.worker(&args.worker_instance_id)?.filter(|known| known.is_gone(now));
    Ok((SweptWorker { gone: gone.is_some() }, gone.map(|known| known.removed())))
}
