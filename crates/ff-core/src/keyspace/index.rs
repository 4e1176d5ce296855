//! The indexes of one partition: its lanes, everything that is due, its feed, its secrets.

use super::keys;
use crate::partition::Partition;
use crate::state::{BlockingReason, PublicState};
use crate::types::{
    FairKey, Kind, LaneId, Namespace, QueueName, RequirementClass, ScheduleName, TagKey, TagValue, WorkerInstanceId,
};

/// Builds the keys of one partition of executions.
#[derive(Clone, Debug)]
pub struct IndexKeys {
    tag: String,
}

impl IndexKeys {
    /// The keys of `partition`.
    pub fn new(partition: &Partition) -> Self {
        Self { tag: partition.hash_tag() }
    }

    /// The tag all these keys share, with its braces.
    pub fn hash_tag(&self) -> &str {
        &self.tag
    }
}

keys! { IndexKeys { tag }
    /// Every lane and kind that has something waiting here, and its requirement class when it has one, with colons between; some
    /// that have nothing any more.
    lanes() => "ff:idx:{tag}:lanes";
    /// This partition's copy of how a lane is configured, for functions, which cannot reach the directory.
    lane_config(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:config";
    /// Executions that can be claimed, by priority, then age.
    lane_eligible(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:eligible";
    /// Executions of one kind that can be claimed, so that a worker of few kinds finds its work without reading past others'.
    lane_eligible_kind(lane_id: &LaneId, kind: &Kind) => "ff:idx:{tag}:lane:{lane_id}:eligible:{kind}";
    /// Executions of one requirement class that can be claimed. Those that require nothing are in `lane_eligible`.
    lane_eligible_class(lane_id: &LaneId, class: &RequirementClass) => "ff:idx:{tag}:lane:{lane_id}:eligible:class:{class}";
    /// The same of one kind.
    lane_eligible_kind_class(lane_id: &LaneId, kind: &Kind, class: &RequirementClass) => "ff:idx:{tag}:lane:{lane_id}:eligible:kind:{kind}:class:{class}";
    /// Executions of a fair lane that can be claimed and have any key.
    lane_keyed(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:eligible_keyed";
    /// Those of one kind, requirement class and key. A class has no space, so that the first one ends it.
    lane_eligible_key(lane_id: &LaneId, kind: &Kind, class: &RequirementClass, key: &FairKey) => "ff:idx:{tag}:lane:{lane_id}:eligible:kind:{kind}:class:{class} key:{key}";
    /// The turn of a key of a fair lane: when it comes, and how much waits of each kind and class. That of the empty key has the clock
    /// of the lane.
    lane_turn(lane_id: &LaneId, key: &FairKey) => "ff:idx:{tag}:lane:{lane_id}:turn:{key}";
    /// Keys of a fair lane of which something of a requirement class waits, by their turns.
    lane_turns(lane_id: &LaneId, class: &RequirementClass) => "ff:idx:{tag}:lane:{lane_id}:turns:class:{class}";
    /// The same of one kind.
    lane_turns_kind(lane_id: &LaneId, kind: &Kind, class: &RequirementClass) => "ff:idx:{tag}:lane:{lane_id}:turns:kind:{kind}:class:{class}";
    /// Keys of a fair lane of which nothing waits, by their turns.
    lane_turns_idle(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:turns:idle";
    /// Executions of one kind and requirement class that no live worker can run, by creation.
    lane_unroutable(lane_id: &LaneId, kind: &Kind, class: &RequirementClass) => "ff:idx:{tag}:lane:{lane_id}:blocked:route:kind:{kind}:class:{class}";
    /// Delayed executions, by their time.
    lane_delayed(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:delayed";
    /// Executions with a lease.
    lane_active(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:active";
    /// Finished executions, by when.
    lane_terminal(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:terminal";
    /// Executions blocked on their upstreams.
    lane_blocked_dependencies(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:blocked:dependencies";
    /// Executions blocked on a budget.
    lane_blocked_budget(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:blocked:budget";
    /// Executions blocked on a quota.
    lane_blocked_quota(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:blocked:quota";
    /// Executions that no connected worker is able to run.
    lane_blocked_route(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:blocked:route";
    /// Executions that an operator holds back.
    lane_blocked_operator(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:blocked:operator";
    /// Suspended executions.
    lane_suspended(lane_id: &LaneId) => "ff:idx:{tag}:lane:{lane_id}:suspended";

    /// Leases of every lane, by expiry.
    lease_expiry() => "ff:idx:{tag}:lease_expiry";
    /// Executions that one worker instance holds here.
    worker_leases(wid: &WorkerInstanceId) => "ff:idx:{tag}:worker:{wid}:leases";
    /// Running attempts, by when they time out.
    attempt_timeout() => "ff:idx:{tag}:attempt_timeout";
    /// Live executions, by deadline.
    execution_deadline() => "ff:idx:{tag}:execution_deadline";
    /// Delayed executions of all lanes, by their time, and those blocked until a moment, by that moment.
    delayed() => "ff:idx:{tag}:delayed";
    /// Suspensions, by when they time out.
    suspension_timeout() => "ff:idx:{tag}:suspension_timeout";
    /// Waitpoints made before their suspension, by expiry.
    pending_waitpoint_expiry() => "ff:idx:{tag}:pending_waitpoint_expiry";
    /// Finished executions, by when to forget them.
    retention() => "ff:idx:{tag}:retention";

    /// Every execution kept here, by creation.
    all_executions() => "ff:idx:{tag}:all_executions";
    /// Every execution a tenant has here, by creation; the default tenant's are found among all.
    namespace_executions(namespace: &Namespace) => "ff:idx:{tag}:ns:{namespace}:executions";
    /// Every execution of a tenant here in an exceptional state (failed, cancelled, expired …), by creation.
    in_state(namespace: &Namespace, state: PublicState) => "ff:idx:{tag}:ns:{namespace}:state:{state}";
    /// Every execution of a tenant here whose usage budgets may not have counted, by creation.
    usage_backlog(namespace: &Namespace) => "ff:idx:{tag}:ns:{namespace}:usage";
    /// Every execution of a tenant here that waits for something admission asks for, by creation.
    in_reason(namespace: &Namespace, reason: BlockingReason) => "ff:idx:{tag}:ns:{namespace}:reason:{reason}";
    /// Every execution here with this label, by creation: the truth behind the directory of labels.
    tag(namespace: &Namespace, key: &TagKey, value: &TagValue) => "ff:idx:{tag}:tag:{namespace}:{key}:{value}";
    /// Upstreams whose dependents have not all been notified yet.
    dispatch_backlog() => "ff:idx:{tag}:dispatch_backlog";
    /// Joins that fired and whose other upstreams are still to be cancelled; the same key as the flows' index of it.
    pending_cancel_groups() => "ff:idx:{tag}:pending_cancel_groups";

    /// The latest moment of this partition, and which server saw it: time goes on from there on any other.
    clock() => "ff:part:{tag}:clock";
    /// The events of this partition, bounded; readers keep one cursor per partition.
    partition_events() => "ff:part:{tag}:events";
    /// Since when and until when events are recorded on this partition.
    partition_followed() => "ff:part:{tag}:followed";
    /// The signals delivered on this partition, for subscribers that keep a cursor.
    partition_signal_delivery() => "ff:part:{tag}:signal_delivery";
    /// The quota policies of a namespace, as the partition knows them.
    quotas(namespace: &Namespace) => "ff:part:{tag}:quotas:{namespace}";
    /// The live executions of a singleton or debounce key, in the order they run in.
    key_queue(namespace: &Namespace, name: &QueueName) => "ff:part:{tag}:key_queue:{namespace}:{name}";
    /// A schedule, and its version.
    schedule(namespace: &Namespace, name: &ScheduleName) => "ff:part:{tag}:schedule:{namespace}:{name}";
    /// The schedules at home here, by name.
    schedules() => "ff:idx:{tag}:schedules";
    /// Those that have to be looked at, by when.
    schedules_due() => "ff:idx:{tag}:schedules_due";
    /// The secrets waitpoint tokens are signed under. Each partition has the same copy, so that a function can check a
    /// token's kid in its own slot.
    waitpoint_hmac_secrets() => "ff:sec:{tag}:waitpoint_hmac";
}
