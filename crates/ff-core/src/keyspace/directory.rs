//! Keys without a tag: configuration, connected workers, and which partitions to look at. They lie in slots of their
//! own, out of reach of an execution's functions, so they are written first and may say too much, never too little.

use crate::types::{KeyId, LaneId, WorkerInstanceId};

/// The one channel on which partitions say that something became ready or due. A hint may be lost; the sweep finds the
/// work it was about.
pub const HINTS_CHANNEL: &str = "ff:hints";

/// How many partitions each family has: written at the first boot, compared at every later one.
pub fn global_config_partitions() -> String {
    "ff:config:partitions".into()
}

/// The lanes that are known.
pub fn lanes_index_key() -> String {
    "ff:idx:lanes".into()
}

/// How a lane is configured. Each partition has a copy for its functions: [`super::IndexKeys::lane_config`].
pub fn lane_config_key(lane_id: &LaneId) -> String {
    format!("ff:lane:{lane_id}:config")
}

/// How much of a lane is in which state, kept for display.
pub fn lane_counts_key(lane_id: &LaneId) -> String {
    format!("ff:lane:{lane_id}:counts")
}

/// The worker instances that are connected.
pub fn workers_index_key() -> String {
    "ff:idx:workers".into()
}

/// One worker instance.
pub fn worker_key(wid: &WorkerInstanceId) -> String {
    format!("ff:worker:{wid}")
}

/// The reported capabilities of one worker instance.
pub fn worker_caps_key(wid: &WorkerInstanceId) -> String {
    format!("ff:worker:{wid}:caps")
}

/// The worker instances that offer a capability.
pub fn workers_capability_key(key: &str, value: &str) -> String {
    format!("ff:idx:workers:cap:{key}:{value}")
}

/// The API keys there ever were.
pub fn api_keys_index_key() -> String {
    "ff:idx:keys".into()
}

/// The namespaces that have, or had, a quota policy.
pub fn quota_namespaces_key() -> String {
    "ff:idx:quota_namespaces".into()
}

/// The partitions that have, or had, a schedule.
pub fn schedule_partitions_key() -> String {
    "ff:idx:schedule_partitions".into()
}

/// One API key.
pub fn api_key_key(id: &KeyId) -> String {
    format!("ff:key:{id}")
}

/// The partitions on which a namespace has executions.
pub fn namespace_executions_key(namespace: &str) -> String {
    format!("ff:ns:{namespace}:executions")
}

/// The partitions on which some execution has a label. The executions themselves are in [`super::IndexKeys::tag`].
pub fn tag_index_key(namespace: &str, key: &str, value: &str) -> String {
    format!("ff:tag:{namespace}:{key}:{value}")
}
