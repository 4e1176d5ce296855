//! Leaving: a worker instance says that it goes.

use super::WorkerChange;
use super::contracts::{LeaveArgs, LeftWorker};
use crate::view::{Stop, View};

/// Takes out a worker instance. What it holds is its own to finish or to lose.
pub fn leave(view: &dyn View, args: &LeaveArgs) -> Result<(LeftWorker, Option<WorkerChange>), Stop> {
    let known = view.worker(&args.worker_instance_id)?.filter(|known| known.namespace == args.namespace);
    Ok((LeftWorker { already: known.is_none() }, known.map(|known| known.removed())))
}
