//! Keys without a hash tag: configuration, connected workers, and directories of partitions. They are in other slots
//! than executions, so no function can change both at once. A directory is therefore written before the records that it
//! points to: it may name a partition without records, but never omits one that has some.

use super::key_functions;
use crate::types::{KeyId, LaneId, WorkerInstanceId};

/// The pub/sub channel of hints: a partition announces on it that work became ready or due. A lost hint only delays the
/// work until the next sweep finds it.
pub const HINTS_CHANNEL: &str = "ff:hints";

key_functions! {
    /// Returns the key of the number of partitions of each family. It is written at the first boot and compared at every
    /// later one.
    global_config_partitions() => "ff:config:partitions";
    /// Returns the key of the set of known lanes.
    lanes_index_key() => "ff:idx:lanes";
    /// Returns the key of a lane's configuration. It is reserved and not written: each partition has a copy,
    /// [`super::IndexKeys::lane_config`].
    lane_config_key(lane_id: &LaneId) => "ff:lane:{lane_id}:config";
    /// Returns the key of a lane's counts by state. It is reserved and not written: lanes are counted on request.
    lane_counts_key(lane_id: &LaneId) => "ff:lane:{lane_id}:counts";
    /// Returns the key of the set of connected worker instances.
    workers_index_key() => "ff:idx:workers";
    /// Returns the key of the record of a worker instance.
    worker_key(wid: &WorkerInstanceId) => "ff:worker:{wid}";
    /// Returns the key of the reported capabilities of a worker instance.
    worker_caps_key(wid: &WorkerInstanceId) => "ff:worker:{wid}:caps";
    /// Returns the key of the set of worker instances with a capability.
    workers_capability_key(key: &str, value: &str) => "ff:idx:workers:cap:{key}:{value}";
    /// Returns the key of the set of all API keys ever created.
    api_keys_index_key() => "ff:idx:keys";
    /// Returns the key of the set of namespaces that have, or had, a quota policy.
    quota_namespaces_key() => "ff:idx:quota_namespaces";
    /// Returns the key of the set of partitions that have, or had, a schedule.
    schedule_partitions_key() => "ff:idx:schedule_partitions";
    /// Returns the key of the record of an API key.
    api_key_key(id: &KeyId) => "ff:key:{id}";
    /// Returns the key of the set of partitions on which a namespace has executions.
    namespace_executions_key(namespace: &str) => "ff:ns:{namespace}:executions";
    /// Returns the key of the set of partitions with executions that have a tag. The executions themselves are in
    /// [`super::IndexKeys::tag`].
    tag_index_key(namespace: &str, key: &str, value: &str) => "ff:tag:{namespace}:{key}:{value}";
}
