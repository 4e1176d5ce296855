//! The row of a worker instance.

use ff_core::worker::Worker;

use crate::error::SqlError;
use crate::record;
use crate::session::Put;

/// The row of what is known of a worker instance.
pub(crate) fn worker_of(worker: &Worker) -> Result<Put, SqlError> {
    let values = vec![worker.worker_instance_id.as_str().into(), worker.partition.into(), record::written(worker)?];
    Ok(Put::whole(values))
}
