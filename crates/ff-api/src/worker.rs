//! Workers on the wire: the registration of an instance.

use std::collections::BTreeSet;

use ff_core::contracts::{HeartbeatArgs, LeaveArgs, RegisterWorkerArgs};
use ff_core::engine_error::Refusal;
use ff_core::limits;
use ff_core::types::{Capability, Kind, LaneId, Namespace, WorkerId, WorkerInstanceId};

use crate::object::requests;
use crate::query::{Limit, WaitMs, query};

requests! {
    /// Registers a worker instance, with its lanes, kinds and capabilities.
    pub struct RegisterWorker {
        pub worker_id: WorkerId,
        pub namespace: Option<Namespace>,
        /// Default: the lane `default`.
        pub lanes: Option<BTreeSet<LaneId>>,
        /// Any kind when empty.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        pub kinds: BTreeSet<Kind>,
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        pub capabilities: BTreeSet<Capability>,
        /// How long it stays registered without a heartbeat.
        pub ttl_ms: Option<u64>,
    }
}

impl RegisterWorker {
    pub fn of(args: RegisterWorkerArgs) -> Self {
        Self {
            worker_id: args.worker_id,
            namespace: Some(args.namespace),
            lanes: Some(args.lanes),
            kinds: args.kinds,
            capabilities: args.capabilities,
            ttl_ms: Some(args.ttl_ms),
        }
    }

    pub fn into_args(self, worker_instance_id: WorkerInstanceId) -> Result<RegisterWorkerArgs, Refusal> {
        Ok(RegisterWorkerArgs {
            worker_instance_id,
            worker_id: self.worker_id,
            namespace: self.namespace.unwrap_or_else(Namespace::default_name),
            lanes: self.lanes.unwrap_or_else(|| [LaneId::default_name()].into()),
            kinds: self.kinds,
            capabilities: self.capabilities,
            ttl_ms: self.ttl_ms.unwrap_or(limits::WORKER_TTL_MS),
        })
    }
}

requests! {
    /// Keeps a worker instance registered.
    pub struct Heartbeat {
        pub namespace: Option<Namespace>,
    }
}

impl Heartbeat {
    pub fn of(args: HeartbeatArgs) -> Self {
        Self { namespace: Some(args.namespace) }
    }

    pub fn into_args(self, worker_instance_id: WorkerInstanceId) -> Result<HeartbeatArgs, Refusal> {
        Ok(HeartbeatArgs { namespace: self.namespace.unwrap_or_else(Namespace::default_name), worker_instance_id })
    }
}

requests! {
    /// Removes a worker instance.
    pub struct Leave {
        pub namespace: Option<Namespace>,
    }
}

impl Leave {
    pub fn of(args: LeaveArgs) -> Self {
        Self { namespace: Some(args.namespace) }
    }

    pub fn into_args(self, worker_instance_id: WorkerInstanceId) -> Result<LeaveArgs, Refusal> {
        Ok(LeaveArgs { namespace: self.namespace.unwrap_or_else(Namespace::default_name), worker_instance_id })
    }
}

query! {
    /// Parameters of the list of worker instances.
    WorkersQuery within namespace {
        /// Only this namespace (default: all).
        namespace: Namespace,
        /// Last entry of the previous page.
        after: WorkerInstanceId,
        /// Maximum number of results.
        limit: Limit,
    }
}

query! {
    /// Parameters of the list of lost leases.
    ControlQuery {
        /// Cursor from the previous page.
        after: String,
        /// Maximum time to wait when there is nothing to return yet.
        wait_ms: WaitMs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registration_arrives_as_it_was_sent() {
        let instance = WorkerInstanceId::parse("w-1").unwrap();
        let args = RegisterWorkerArgs {
            worker_instance_id: instance.clone(),
            worker_id: WorkerId::parse("w").unwrap(),
            namespace: Namespace::parse("acme").unwrap(),
            lanes: [LaneId::parse("mail").unwrap()].into(),
            kinds: [Kind::parse("send").unwrap()].into(),
            capabilities: [Capability::parse("gpu=large").unwrap()].into(),
            ttl_ms: 5_000,
        };
        let text = serde_json::to_string(&RegisterWorker::of(args.clone())).unwrap();
        assert_eq!(serde_json::from_str::<RegisterWorker>(&text).unwrap().into_args(instance), Ok(args));
    }
}
