//! Keys without a hash tag: configuration, connected workers, and directories of partitions. They are in other slots
//! than executions, so no function can change both at once. A directory is therefore written before the records that it
//! points to: it may name a partition without records, but never omits one that has some.

use crate::types::{KeyId, LaneId, WorkerInstanceId};

/// The pub/sub channel of hints: a partition announces on it that work became ready or due. A lost hint only delays the
/// work until the next sweep finds it.
pub const HINTS_CHANNEL: &str = "ff:hints";

/// Returns the key of the number of partitions of each family. It is written at the first boot and compared at every
/// later one.
pub fn global_config_partitions() -> String {
    "ff:config:partitions".into()
}

/// Returns the key of the set of known lanes.
pub fn lanes_index_key() -> String {
    "ff:idx:lanes".into()
}

/// Returns the key of a lane's configuration. It is reserved and not written: each partition has a copy,
/// [`super::IndexKeys::lane_config`].
pub fn lane_config_key(lane_id: &LaneId) -> String {
    format!("ff:lane:{lane_id}:config")
}

/// Returns the key of a lane's counts by state. It is reserved and not written: lanes are counted on request.
pub fn lane_counts_key(lane_id: &LaneId) -> String {
    format!("ff:lane:{lane_id}:counts")
}

/// Returns the key of the set of connected worker instances.
pub fn workers_index_key() -> String {
    "ff:idx:workers".into()
}

/// Returns the key of the record of a worker instance.
pub fn worker_key(wid: &WorkerInstanceId) -> String {
    format!("ff:worker:{wid}")
}

/// Returns the key of the reported capabilities of a worker instance.
pub fn worker_caps_key(wid: &WorkerInstanceId) -> String {
    format!("ff:worker:{wid}:caps")
}

/// Returns the key of the set of worker instances with a capability.
pub fn workers_capability_key(key: &str, value: &str) -> String {
    format!("ff:idx:workers:cap:{key}:{value}")
}

/// Returns the key of the set of all API keys ever created.
pub fn api_keys_index_key() -> String {
    "ff:idx:keys".into()
}

/// Returns the key of the set of namespaces that have, or had, a quota policy.
pub fn quota_namespaces_key() -> String {
    "ff:idx:quota_namespaces".into()
}

/// Returns the key of the set of partitions that have, or had, a schedule.
pub fn schedule_partitions_key() -> String {
    "ff:idx:schedule_partitions".into()
}

/// Returns the key of the record of an API key.
pub fn api_key_key(id: &KeyId) -> String {
    format!("ff:key:{id}")
}

/// Returns the key of the set of partitions on which a namespace has executions.
pub fn namespace_executions_key(namespace: &str) -> String {
    format!("ff:ns:{namespace}:executions")
}

/// Returns the key of the set of partitions with executions that have a tag. The executions themselves are in
/// [`super::IndexKeys::tag`].
pub fn tag_index_key(namespace: &str, key: &str, value: &str) -> String {
    format!("ff:tag:{namespace}:{key}:{value}")
}
