//! A worker instance.

use std::collections::BTreeSet;
use std::str::FromStr;

use ff_core::types::{TimestampMs, WorkerInstanceId};
use ff_core::worker::Worker;

use super::Hash;
use crate::ScriptError;

/// The worker instance of a name, if it is known.
pub(crate) fn worker(id: WorkerInstanceId, partition: u16, fields: &Hash) -> Result<Option<Worker>, ScriptError> {
    let Some(worker_id) = fields.maybe("worker_id")? else { return Ok(None) };
    Ok(Some(Worker {
        worker_instance_id: id,
        worker_id,
        namespace: fields.read("namespace")?,
        lanes: names(fields, "lanes")?,
        kinds: names(fields, "kinds")?,
        capabilities: names(fields, "capabilities")?,
        registered_at: TimestampMs(fields.read("registered_at")?),
        seen_at: TimestampMs(fields.read("seen_at")?),
        ttl_ms: fields.read("ttl_ms")?,
        partition,
    }))
}

/// Names with commas between, which none of them can hold.
fn names<T: FromStr + Ord>(fields: &Hash, field: &str) -> Result<BTreeSet<T>, ScriptError> {
    let names = fields.text(field)?.unwrap_or_default().split(',').filter(|name| !name.is_empty());
    let read: Option<_> = names.map(|name| name.parse().ok()).collect();
    read.ok_or_else(|| ScriptError::parse(format!("the field {field} cannot be read")))
}
