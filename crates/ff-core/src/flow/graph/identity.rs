//! Ids of members and edges are derived from their flow and names: a flow that is submitted twice has the same
//! executions, and an upstream and a downstream have one edge.

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::partition::PartitionConfig;
use crate::types::{EdgeId, ExecutionId, FlowId, IdempotencyKey, Namespace, NodeName};

impl FlowId {
    /// Returns the id of the flow that is submitted under an idempotency key.
    pub fn for_key(namespace: &Namespace, key: &IdempotencyKey) -> Self {
        let parts = [b"flow", namespace.as_str().as_bytes(), &[0], key.as_str().as_bytes()];
        Self::from_uuid(derived(0, &parts))
    }
}

/// Returns the id of the execution of a node.
pub fn member_id(flow: &FlowId, node: &NodeName, config: &PartitionConfig) -> ExecutionId {
    let uuid = derived(millis(flow), &[b"node", flow.as_uuid().as_bytes(), node.as_str().as_bytes()]);
    ExecutionId::on_partition_of(flow, uuid, config)
}

/// Returns the id of the edge from one member of a flow to another.
pub fn edge_id(flow: &FlowId, upstream: &ExecutionId, downstream: &ExecutionId) -> EdgeId {
    let (from, to) = (upstream.uuid(), downstream.uuid());
    EdgeId::from_uuid(derived(millis(flow), &[b"edge", flow.as_uuid().as_bytes(), from.as_bytes(), to.as_bytes()]))
}

/// Returns the creation time in the flow's id, so that the ids of its members sort next to it.
fn millis(flow: &FlowId) -> u64 {
    let (seconds, nanos) = flow.as_uuid().get_timestamp().map_or((0, 0), |at| at.to_unix());
    seconds * 1_000 + u64::from(nanos / 1_000_000)
}

fn derived(millis: u64, parts: &[&[u8]]) -> Uuid {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    let digest = hash.finalize();
    let mut random = [0; 10];
    random.copy_from_slice(&digest[..10]);
    uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::flow_partition;
    use crate::types::is_derived;

    fn node(name: &str) -> NodeName {
        NodeName::parse(name).unwrap()
    }

    #[test]
    fn a_name_in_a_flow_is_always_the_same_execution_and_lives_with_its_flow() {
        let (config, flow, other) = (PartitionConfig::default(), FlowId::new(), FlowId::new());
        let id = member_id(&flow, &node("a"), &config);
        assert_eq!(id, member_id(&flow, &node("a"), &config));
        assert_ne!(id, member_id(&flow, &node("b"), &config));
        assert_ne!(id.uuid(), member_id(&other, &node("a"), &config).uuid());
        assert_eq!(id.partition(), flow_partition(&flow, &config).index);
        assert_eq!(id.uuid().get_version_num(), 7);
    }

    #[test]
    fn an_edge_is_known_by_its_ends_and_their_order() {
        let (config, flow) = (PartitionConfig::default(), FlowId::new());
        let [a, b] = ["a", "b"].map(|name| member_id(&flow, &node(name), &config));
        assert_eq!(edge_id(&flow, &a, &b), edge_id(&flow, &a, &b));
        assert_ne!(edge_id(&flow, &a, &b), edge_id(&flow, &b, &a));
    }

    /// Stores keep their flows under these ids, so the derivation must never change.
    #[test]
    fn derived_ids_never_change() {
        let key = IdempotencyKey::parse("nightly").unwrap();
        let flow = FlowId::for_key(&Namespace::parse("acme").unwrap(), &key);
        assert_eq!(flow.to_string(), "00000000-0000-79f1-85e9-024724952dd2");
        let [a, b] = ["a", "b"].map(|name| member_id(&flow, &node(name), &PartitionConfig::default()));
        assert_eq!(a.to_string(), "{fp:218}:00000000-0000-7bb7-ac1c-f4dcdfd3d813");
        assert_eq!(edge_id(&flow, &a, &b).to_string(), "00000000-0000-79a7-8f70-b91c31d97a31");
        assert!([*flow.as_uuid(), a.uuid()].iter().all(is_derived), "callers may not name them");
        let drawn = FlowId::from_uuid(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001));
        assert_eq!(
            member_id(&drawn, &node("a"), &PartitionConfig::default()).to_string(),
            "{fp:157}:01900000-0000-7560-8ae5-7a260ab3ca87"
        );
        assert!(!is_derived(drawn.as_uuid()));
    }

    #[test]
    fn a_key_names_one_flow_within_its_namespace() {
        let key = IdempotencyKey::parse("nightly").unwrap();
        let (ours, theirs) = (Namespace::default_name(), Namespace::parse("acme").unwrap());
        assert_eq!(FlowId::for_key(&ours, &key), FlowId::for_key(&ours, &key));
        assert_ne!(FlowId::for_key(&ours, &key), FlowId::for_key(&theirs, &key));
    }
}
