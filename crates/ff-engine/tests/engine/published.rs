//! Code that users write from the published pages compiles and works.

use ff_core::keys::{ExecKeyContext, FlowIndexKeys, FlowKeyContext, IndexKeys};
use ff_core::partition::{Partition, PartitionConfig, PartitionFamily, execution_partition, flow_partition};
use ff_core::types::{AttemptIndex, ExecutionId, FlowId, LaneId};
use ff_engine::PartitionRouter;

#[test]
fn ids_are_made_and_placed_by_the_published_functions() {
    let config = PartitionConfig::default();
    let flow = FlowId::new();
    let (one, other) = (ExecutionId::for_flow(&flow, &config), ExecutionId::for_flow(&flow, &config));
    assert_ne!(one, other, "each is a new one");
    let at = flow_partition(&flow, &config);
    for id in [one, other] {
        let partition = execution_partition(&id, &config);
        assert_eq!((partition.family, partition.index), (PartitionFamily::Execution, at.index));
        assert_eq!(ExecutionId::parse(&id.to_string()), Ok(id));
    }
    assert!(ExecutionId::parse("018f3c5e").is_err());
}

#[test]
fn keys_are_built_from_what_was_made() {
    let (config, flow, lane) = (PartitionConfig::default(), FlowId::new(), LaneId::new("mail"));
    let id = ExecutionId::for_flow(&flow, &config);
    let partition: Partition = execution_partition(&id, &config);
    let tag = partition.hash_tag();
    let (ctx, idx) = (ExecKeyContext::new(&partition, &id), IndexKeys::new(&partition));
    assert_eq!(ctx.attempt_hash(AttemptIndex::new(2)), format!("ff:attempt:{tag}:{id}:2"));
    assert_eq!(idx.lane_eligible(&lane), format!("ff:idx:{tag}:lane:mail:eligible"));
    assert_eq!(FlowKeyContext::new(&partition, &flow).core(), format!("ff:flow:{tag}:{flow}:core"));
    assert_eq!(FlowIndexKeys::new(&partition).flow_index(), format!("ff:idx:{tag}:flow_index"));
    let router = PartitionRouter::new(config);
    assert_eq!(router.partition_for(&id), partition);
    assert_eq!(router.exec_keys(&id).core(), ctx.core());
    assert_eq!(router.index_keys(partition.index).lane_eligible(&lane), idx.lane_eligible(&lane));
    assert_eq!((router.num_flow_partitions(), router.config().num_budget_partitions), (256, 32));
}

#[test]
#[should_panic(expected = "the name of a lane")]
fn a_lane_that_is_written_wrong_in_the_program_is_a_panic() {
    LaneId::new("no:lane");
}
