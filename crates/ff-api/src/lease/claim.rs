//! Claims on the wire: the request of a worker.

use std::collections::BTreeSet;

use ff_core::contracts::{ClaimArgs, NextArgs};
use ff_core::engine_error::Refusal;
use ff_core::lease::Holder;
use ff_core::limits;
use ff_core::types::{Capability, Kind, LaneId, Namespace, WorkerId, WorkerInstanceId};

use crate::Encoding;
use crate::object::requests;

requests! {
    /// Claims work for a worker.
    pub struct Claim {
        pub worker_id: WorkerId,
        pub namespace: Option<Namespace>,
        /// Lanes in order of preference (default: `default`).
        pub lanes: Option<Vec<LaneId>>,
        /// Kinds to claim; any kind when empty.
        #[serde(default)]
        pub kinds: Vec<Kind>,
        /// Capabilities of the worker; it gets only work that requires no others.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        pub capabilities: BTreeSet<Capability>,
        /// Claim only executions assigned to this worker instance; requires `partition`. Without `partition`, assigned
        /// executions come first.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub assigned: bool,
        pub max: Option<usize>,
        pub lease_ttl_ms: Option<u64>,
        #[serde(default)]
        pub wait_ms: u64,
        /// Claim from one lane of this partition, without waiting; from any partition when absent.
        pub partition: Option<u16>,
        #[serde(default)]
        pub encoding: Encoding,
    }
}

/// The operation that a claim stands for.
#[derive(Debug, PartialEq)]
pub enum ClaimRequest {
    /// Claims from one lane of one partition, without waiting.
    Partition(ClaimArgs),
    /// Claims from any partition, and waits for work.
    Anywhere(NextArgs),
}

impl Claim {
    /// Makes the request for a claim from one partition.
    pub fn of(args: ClaimArgs) -> Self {
        Self {
            worker_id: args.holder.worker_id,
            namespace: Some(args.namespace),
            lanes: Some(vec![args.lane]),
            kinds: args.kinds,
            capabilities: args.capabilities,
            assigned: args.assigned,
            max: Some(args.max),
            lease_ttl_ms: Some(args.lease_ttl_ms),
            wait_ms: 0,
            partition: Some(args.partition),
            encoding: Encoding::Base64,
        }
    }

    /// Makes the request for a claim from any partition.
    pub fn anywhere(args: NextArgs) -> Self {
        Self {
            worker_id: args.holder.worker_id,
            namespace: Some(args.namespace),
            lanes: Some(args.lanes),
            kinds: args.kinds,
            capabilities: args.capabilities,
            assigned: false,
            max: Some(args.max),
            lease_ttl_ms: Some(args.lease_ttl_ms),
            wait_ms: args.wait_ms,
            partition: None,
            encoding: Encoding::Base64,
        }
    }

    pub fn into_args(self, worker_instance_id: WorkerInstanceId) -> Result<ClaimRequest, Refusal> {
        let holder = Holder { worker_id: self.worker_id, worker_instance_id };
        let namespace = self.namespace.unwrap_or_else(Namespace::default_name);
        let lanes = self.lanes.unwrap_or_else(|| vec![LaneId::default_name()]);
        let (kinds, capabilities, max) = (self.kinds, self.capabilities, self.max.unwrap_or(1));
        let lease_ttl_ms = self.lease_ttl_ms.unwrap_or(limits::LEASE_TTL_MS);
        let Some(partition) = self.partition else {
            if self.assigned {
                return Err(Refusal::invalid("assigned", "must be beside a partition; elsewhere it comes first"));
            }
            let wait_ms = self.wait_ms;
            return Ok(ClaimRequest::Anywhere(NextArgs {
                namespace,
                lanes,
                kinds,
                capabilities,
                max,
                holder,
                lease_ttl_ms,
                wait_ms,
            }));
        };
        let Ok([lane]) = <[LaneId; 1]>::try_from(lanes) else {
            return Err(Refusal::invalid("lanes", "must name exactly one lane beside a partition"));
        };
        if self.wait_ms > 0 {
            return Err(Refusal::invalid("wait_ms", "cannot be given beside a partition, which answers at once"));
        }
        let assigned = self.assigned;
        Ok(ClaimRequest::Partition(ClaimArgs {
            partition,
            namespace,
            lane,
            kinds,
            capabilities,
            assigned,
            max,
            holder,
            lease_ttl_ms,
        }))
    }
}

#[cfg(test)]
mod tests {
    use ff_core::json;

    use super::*;

    fn instance() -> WorkerInstanceId {
        WorkerInstanceId::parse("w-1").unwrap()
    }

    fn holder() -> Holder {
        Holder { worker_id: WorkerId::parse("w").unwrap(), worker_instance_id: instance() }
    }

    fn read(text: &str) -> Result<ClaimRequest, Refusal> {
        json::read::<Claim>(text.as_bytes())?.into_args(instance())
    }

    #[test]
    fn a_claim_arrives_as_it_was_sent() {
        let lane = LaneId::parse("images").unwrap();
        let one = ClaimArgs {
            partition: 9,
            namespace: Namespace::parse("acme").unwrap(),
            lane: lane.clone(),
            kinds: vec![Kind::parse("resize").unwrap()],
            capabilities: [Capability::parse("gpu").unwrap(), Capability::parse("region=eu").unwrap()].into(),
            assigned: true,
            max: 7,
            holder: holder(),
            lease_ttl_ms: 1_000,
        };
        let text = serde_json::to_string(&Claim::of(one.clone())).unwrap();
        assert_eq!(read(&text), Ok(ClaimRequest::Partition(one)));
        let any = NextArgs {
            lanes: vec![lane, LaneId::default_name()],
            kinds: Vec::new(),
            lease_ttl_ms: 1_000,
            wait_ms: 60_000,
            ..NextArgs::new(holder())
        };
        let text = serde_json::to_string(&Claim::anywhere(any.clone())).unwrap();
        assert_eq!(read(&text), Ok(ClaimRequest::Anywhere(any)));
    }

    #[test]
    fn a_claim_needs_to_say_who_asks_and_no_more() {
        let Ok(ClaimRequest::Anywhere(args)) = read("{\"worker_id\":\"w\"}") else { panic!("not a claim anywhere") };
        assert_eq!(args.lanes, [LaneId::default_name()]);
        assert_eq!((args.max, args.lease_ttl_ms, args.wait_ms), (1, 30_000, 0));
    }

    #[test]
    fn a_claim_on_a_partition_names_one_lane_and_cannot_wait() {
        let lanes = read("{\"worker_id\":\"w\",\"partition\":1,\"lanes\":[\"a\",\"b\"]}").unwrap_err();
        assert_eq!(lanes.field.as_deref(), Some("lanes"));
        let wait = read("{\"worker_id\":\"w\",\"partition\":1,\"wait_ms\":1}").unwrap_err();
        assert_eq!(wait.field.as_deref(), Some("wait_ms"));
        let assigned = read("{\"worker_id\":\"w\",\"assigned\":true}").unwrap_err();
        assert_eq!(assigned.field.as_deref(), Some("assigned"));
    }
}
