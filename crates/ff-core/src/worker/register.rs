//! Registering: a worker instance says that it is there, and what it takes.

use super::contracts::{RegisterWorkerArgs, RegisteredWorker};
use super::{Worker, WorkerChange};
use crate::engine_error::Code;
use crate::partition::{PartitionConfig, worker_partition};
use crate::types::TimestampMs;
use crate::view::{Stop, View};

/// Enters a worker instance, or what is new about one that is there already. Another worker's name cannot be taken while
/// that one lives.
pub fn register(
    view: &dyn View,
    args: &RegisterWorkerArgs,
    partitions: &PartitionConfig,
    now: TimestampMs,
) -> Result<(RegisteredWorker, WorkerChange), Stop> {
    let known = view.worker(&args.worker_instance_id)?.filter(|known| !known.is_gone(now));
    if known.is_some_and(|known| (&known.worker_id, &known.namespace) != (&args.worker_id, &args.namespace)) {
        let refusal = Code::IdempotencyConflict.refusal().at("worker_instance_id");
        return Err(refusal.because("is the name of another worker that is there").into());
    }
    let worker = Worker {
        worker_instance_id: args.worker_instance_id.clone(),
        worker_id: args.worker_id.clone(),
        namespace: args.namespace.clone(),
        lanes: args.lanes.clone(),
        kinds: args.kinds.clone(),
        capabilities: args.capabilities.clone(),
        registered_at: known.map_or(now, |known| known.registered_at),
        seen_at: now,
        ttl_ms: args.ttl_ms,
        partition: worker_partition(&args.worker_instance_id, partitions),
    };
    let registered = RegisteredWorker { expires_at: worker.expires_at(), already: known.is_some() };
    Ok((registered, WorkerChange::Put(worker)))
}
