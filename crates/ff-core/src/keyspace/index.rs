//! The keys of one partition: lanes, due times, feeds, quotas, schedules and secrets.

use super::keys;
use crate::state::{BlockingReason, PublicState};
use crate::types::{
    FairKey, Kind, LaneId, Namespace, QueueName, RequirementClass, ScheduleName, TagKey, TagValue, WorkerInstanceId,
};

keys! {
    /// A builder of the keys of one partition of executions.
    IndexKeys { tag }

    /// The queues with waiting work on this partition: lane, kind and, if there is one, requirement class, joined by
    /// colons. Queues that have become empty may still be listed.
    lanes() => "ff:idx:{tag}:lanes";
    /// This partition's copy of a lane's configuration, for functions, which cannot read the directory.
    lane_config(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:config";
    /// Executions that can be claimed, by priority, then age.
    lane_eligible(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:eligible";
    /// Executions of one kind that can be claimed, so that a worker of few kinds finds its work without reading other
    /// kinds.
    lane_eligible_kind(lane_id: &LaneId, kind: &Kind) => "ff:idx:{tag}:lane:{lane_id}:eligible:{kind}";
    /// Executions of one requirement class that can be claimed. Those that require nothing are in `lane_eligible`.
    lane_eligible_class(lane_id: &LaneId, class: &RequirementClass) => "ff:idx:{tag}:lane:{lane_id}:eligible:class:{class}";
    /// Executions of one kind and requirement class that can be claimed.
    lane_eligible_kind_class(lane_id: &LaneId, kind: &Kind, class: &RequirementClass) => "ff:idx:{tag}:lane:{lane_id}:eligible:kind:{kind}:class:{class}";
    /// Executions of a fair lane that can be claimed and have a fairness key.
    lane_keyed(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:eligible_keyed";
    /// Executions of one kind, requirement class and fairness key that can be claimed. A class contains no space, so
    /// the first space ends it.
    lane_eligible_key(lane_id: &LaneId, kind: &Kind, class: &RequirementClass, key: &FairKey) => "ff:idx:{tag}:lane:{lane_id}:eligible:kind:{kind}:class:{class} key:{key}";
    /// The turn of a key of a fair lane: its virtual time, and the number of waiting executions of each kind and class.
    /// The turn of the empty key has the clock of the lane instead of the numbers.
    lane_turn(lane_id: &LaneId, key: &FairKey) => "ff:idx:{tag}:lane:{lane_id}:turn:{key}";
    /// Keys of a fair lane with waiting executions of a requirement class, by turn.
    lane_turns(lane_id: &LaneId, class: &RequirementClass) => "ff:idx:{tag}:lane:{lane_id}:turns:class:{class}";
    /// Keys of a fair lane with waiting executions of a kind and requirement class, by turn.
    lane_turns_kind(lane_id: &LaneId, kind: &Kind, class: &RequirementClass) => "ff:idx:{tag}:lane:{lane_id}:turns:kind:{kind}:class:{class}";
    /// Keys of a fair lane without waiting executions, by turn.
    lane_turns_idle(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:turns:idle";
    /// Executions of one kind and requirement class that no live worker can run, by creation.
    lane_unroutable(lane_id: &LaneId, kind: &Kind, class: &RequirementClass) => "ff:idx:{tag}:lane:{lane_id}:blocked:route:kind:{kind}:class:{class}";
    /// Delayed executions, by their time.
    lane_delayed(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:delayed";
    /// Executions with a lease.
    lane_active(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:active";
    /// Finished executions, by the time of their end.
    lane_terminal(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:terminal";
    /// Executions blocked on their upstreams.
    lane_blocked_dependencies(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:blocked:dependencies";
    /// Executions blocked on a budget.
    lane_blocked_budget(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:blocked:budget";
    /// Executions blocked on a quota.
    lane_blocked_quota(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:blocked:quota";
    /// Executions that no connected worker can run, and those assigned to a worker instance.
    lane_blocked_route(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:blocked:route";
    /// Executions that an operator holds.
    lane_blocked_operator(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:blocked:operator";
    /// Suspended executions.
    lane_suspended(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:suspended";

    /// Leases of every lane, by expiry.
    lease_expiry() => "ff:idx:{tag}:lease_expiry";
    /// Executions that one worker instance holds here.
    worker_leases(wid: &WorkerInstanceId) => "ff:idx:{tag}:worker:{wid}:leases";
    /// Running attempts, by timeout.
    attempt_timeout() => "ff:idx:{tag}:attempt_timeout";
    /// Live executions, by deadline.
    execution_deadline() => "ff:idx:{tag}:execution_deadline";
    /// Delayed executions of all lanes, and executions that are blocked until a time, by that time.
    delayed() => "ff:idx:{tag}:delayed";
    /// Suspensions, by timeout.
    suspension_timeout() => "ff:idx:{tag}:suspension_timeout";
    /// Waitpoints created ahead of their suspension, by expiry.
    pending_waitpoint_expiry() => "ff:idx:{tag}:pending_waitpoint_expiry";
    /// Finished executions, by the time at which they are forgotten.
    retention() => "ff:idx:{tag}:retention";

    /// Every execution on this partition, by creation.
    all_executions() => "ff:idx:{tag}:all_executions";
    /// The executions of a namespace on this partition, by creation. Those of the default namespace are in
    /// `all_executions`.
    namespace_executions(namespace: &Namespace) => "ff:idx:{tag}:ns:{namespace}:executions";
    /// The executions of a namespace on this partition in an exceptional state (failed, cancelled, expired …), by creation.
    in_state(namespace: &Namespace, state: PublicState) => "ff:idx:{tag}:ns:{namespace}:state:{state}";
    /// The executions of a namespace on this partition whose usage some budgets may not have counted, by creation.
    usage_backlog(namespace: &Namespace) => "ff:idx:{tag}:ns:{namespace}:usage";
    /// The executions of a namespace on this partition that admission blocks for one reason, by creation.
    in_reason(namespace: &Namespace, reason: BlockingReason) => "ff:idx:{tag}:ns:{namespace}:reason:{reason}";
    /// The executions on this partition with this tag, by creation. The directory of tags names the partitions to search.
    tag(namespace: &Namespace, key: &TagKey, value: &TagValue) => "ff:idx:{tag}:tag:{namespace}:{key}:{value}";
    /// Upstreams whose dependents have not all been notified yet.
    dispatch_backlog() => "ff:idx:{tag}:dispatch_backlog";
    /// Joins that fired and whose other upstreams are still to be cancelled. The flow keys have a builder of the same key.
    pending_cancel_groups() => "ff:idx:{tag}:pending_cancel_groups";

    /// The latest time on this partition, and the server that recorded it. Any other server continues from this time.
    clock() => "ff:part:{tag}:clock";
    /// The events of this partition, bounded; readers keep one cursor per partition.
    partition_events() => "ff:part:{tag}:events";
    /// The start and end of the recording of events on this partition.
    partition_followed() => "ff:part:{tag}:followed";
    /// The signals delivered on this partition, for subscribers that keep a cursor.
    partition_signal_delivery() => "ff:part:{tag}:signal_delivery";
    /// This partition's copy of the quota policies and budgets of a namespace.
    quotas(namespace: &Namespace) => "ff:part:{tag}:quotas:{namespace}";
    /// The live executions of a singleton or debounce key, in the order they run in.
    key_queue(namespace: &Namespace, name: &QueueName) => "ff:part:{tag}:key_queue:{namespace}:{name}";
    /// A schedule, and its version.
    schedule(namespace: &Namespace, name: &ScheduleName) => "ff:part:{tag}:schedule:{namespace}:{name}";
    /// The schedules of this partition, by name.
    schedules() => "ff:idx:{tag}:schedules";
    /// The schedules of this partition that must be processed, by time.
    schedules_due() => "ff:idx:{tag}:schedules_due";
    /// The secrets that sign waitpoint tokens. Every partition has the same copy, so that a function can check a
    /// token's kid in its own slot.
    waitpoint_hmac_secrets() => "ff:sec:{tag}:waitpoint_hmac";
}
