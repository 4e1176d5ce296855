//! The functions of worker instances. Their keys belong to no partition and so have no clock; the caller sends the
//! time.

use ff_core::contracts::{
    HeartbeatArgs, LeaveArgs, LeftWorker, RegisterWorkerArgs, RegisteredWorker, SeenWorker, SweptWorker,
};
use ff_core::keys::worker_key;
use ff_core::types::{TimestampMs, WorkerInstanceId};
use ff_core::worker::Worker;

use crate::execution::moment;
use crate::record::{Hash, worker};
use crate::server::ask;
use crate::signature::{HeartbeatWorker, LeaveWorker, RegisterWorker, SweepWorker};
use crate::{ScriptError, Server, Value};

/// Registers a worker instance, or updates one that is registered already.
pub async fn ff_register_worker(
    server: &dyn Server,
    args: &RegisterWorkerArgs,
    now: TimestampMs,
) -> Result<RegisteredWorker, ScriptError> {
    let register = RegisterWorker {
        worker: worker_key(&args.worker_instance_id),
        moment: moment(now),
        worker_id: args.worker_id.to_string(),
        namespace: args.namespace.to_string(),
        lanes: names(&args.lanes),
        kinds: Some(names(&args.kinds)).filter(|kinds| !kinds.is_empty()),
        capabilities: Some(names(&args.capabilities)).filter(|capabilities| !capabilities.is_empty()),
        ttl_ms: args.ttl_ms,
    };
    let mut fields = ask(server, register.call()).await?;
    Ok(RegisteredWorker { expires_at: TimestampMs(fields.read()?), already: fields.maybe_text()?.is_some() })
}

/// Records that a worker instance is alive.
pub async fn ff_heartbeat_worker(
    server: &dyn Server,
    args: &HeartbeatArgs,
    now: TimestampMs,
) -> Result<SeenWorker, ScriptError> {
    let worker = worker_key(&args.worker_instance_id);
    let heartbeat = HeartbeatWorker { worker, moment: moment(now), namespace: args.namespace.to_string() };
    let mut fields = ask(server, heartbeat.call()).await?;
    Ok(SeenWorker { expires_at: TimestampMs(fields.read()?) })
}

/// Removes a worker instance.
pub async fn ff_leave_worker(server: &dyn Server, args: &LeaveArgs) -> Result<LeftWorker, ScriptError> {
    let leave = LeaveWorker { worker: worker_key(&args.worker_instance_id), namespace: args.namespace.to_string() };
    let mut fields = ask(server, leave.call()).await?;
    Ok(LeftWorker { already: fields.maybe_text()?.is_some() })
}

/// Removes a worker instance if it has expired. Also returns whether it is still registered.
pub async fn ff_sweep_worker(
    server: &dyn Server,
    id: &WorkerInstanceId,
    now: TimestampMs,
) -> Result<(SweptWorker, bool), ScriptError> {
    let mut fields = ask(server, SweepWorker { worker: worker_key(id), moment: moment(now) }.call()).await?;
    Ok((SweptWorker { gone: fields.maybe_text()?.is_some() }, fields.maybe_text()?.is_some()))
}

/// Reads a worker instance from the fields of its key, if there are any.
pub fn read_worker(id: WorkerInstanceId, partition: u16, fields: Vec<Value>) -> Result<Option<Worker>, ScriptError> {
    worker(id, partition, &Hash::parse(fields)?)
}

/// Joins names with commas, which no name contains.
fn names<T: ToString>(names: impl IntoIterator<Item = T>) -> String {
    names.into_iter().map(|name| name.to_string()).collect::<Vec<_>>().join(",")
}
