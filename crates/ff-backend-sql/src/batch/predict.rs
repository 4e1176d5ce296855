//! Predicts the next misses of an operation that has missed a record. Its arguments often name them, so one load can replace a
//! series of loads in which each record leads to the next.

use ff_core::contracts::{DeliverArgs, NodeSpec, StageFlowArgs, SuspendArgs, WaitpointBinding, WaitpointRef};
use ff_core::flow::{edge_id, edges_to_notify, member_id};
use ff_core::operation::Operation;
use ff_core::partition::{PartitionConfig, flow_partition};
use ff_core::rule::view::{Miss, View};
use ff_core::types::{ExecutionId, NodeName};

use crate::batch_state::BatchState;

/// Returns the records that an operation names and that are not loaded.
pub(super) fn predicted(state: &BatchState, operation: &Operation, partitions: &PartitionConfig) -> Vec<Miss> {
    match operation {
        Operation::Complete(args) => of_end(state, &args.execution_id),
        Operation::Fail(args) => of_end(state, &args.execution_id),
        Operation::Suspend(args) => of_suspension(state, args),
        Operation::Deliver(args) => of_signal(state, args),
        Operation::CreateWaitpoint(args) => state.ring(args.execution_id.partition()).err().into_iter().collect(),
        Operation::CloseWaitpoint(args) => {
            state.waitpoint(&args.execution_id, &args.waitpoint_id).err().into_iter().collect()
        }
        Operation::StageFlow(args) => of_graph(state, args, partitions),
        _ => Vec::new(),
    }
}

/// Returns the misses of an end: the flow of the execution, and the edges to its dependents.
fn of_end(state: &BatchState, id: &ExecutionId) -> Vec<Miss> {
    let Some((flow, is_waited_for)) = state.cache.flow_of(id) else { return Vec::new() };
    let edges = is_waited_for.then(|| state.edges(&edges_to_notify(flow, *id, None)).err()).flatten();
    state.flow(&flow).err().into_iter().chain(edges).collect()
}

fn of_graph(state: &BatchState, args: &StageFlowArgs, partitions: &PartitionConfig) -> Vec<Miss> {
    let flow = args.header.flow_id;
    let member = |node: &NodeName| member_id(&flow, node, partitions);
    let home = flow_partition(&flow, partitions).index;
    let lane = |node: &NodeSpec| state.lane(home, &node.lane.within(&args.header.namespace)).err();
    let mut misses: Vec<_> = args.nodes.iter().filter_map(|node| state.execution(&member(&node.name)).err()).collect();
    misses.extend(args.nodes.iter().filter_map(lane));
    for edge in &args.edges {
        let ends = [&edge.upstream, &edge.downstream].map(member);
        misses.extend(ends.iter().flat_map(|id| [state.execution(id).err(), state.group(id).err()]).flatten());
        misses.extend(state.edge(&flow, &edge_id(&flow, &ends[0], &ends[1])).err());
    }
    misses
}

fn of_suspension(state: &BatchState, args: &SuspendArgs) -> Vec<Miss> {
    let id = &args.execution_id;
    let waitpoint = |binding: &WaitpointBinding| match binding {
        WaitpointBinding::Pending { id: waitpoint, .. } => state.waitpoint(id, waitpoint).err(),
        WaitpointBinding::Fresh { .. } => state.ring(id.partition()).err(),
    };
    let key = args.idempotency_key.as_ref().and_then(|key| state.suspend_key(id, key).err());
    args.waitpoints.iter().filter_map(waitpoint).chain(key).collect()
}

fn of_signal(state: &BatchState, args: &DeliverArgs) -> Vec<Miss> {
    let id = &args.execution_id;
    let mut misses: Vec<_> = state.ring(id.partition()).err().into_iter().collect();
    if let WaitpointRef::Id(waitpoint) = &args.waitpoint {
        misses.extend(state.waitpoint(id, waitpoint).err());
        misses.extend(args.idempotency_key.as_ref().and_then(|key| state.signal_key(id, waitpoint, key).err()));
    }
    misses
}

#[cfg(test)]
mod tests {
    use ff_core::backend::entropy::{Entropy, SeededEntropy};
    use ff_core::contracts::{EdgeSpec, FlowHeader, SubmitFlowArgs};
    use ff_core::operation::Conditions;
    use ff_core::payload::Payload;
    use ff_core::token::PresentedToken;
    use ff_core::types::{IdempotencyKey, Kind, SignalName, TimestampMs, WaitpointId, WaitpointKey};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn records_named_by_a_signal_are_predicted_until_loaded() {
        let (id, waitpoint) = (ExecutionId::new(3, Uuid::nil()), WaitpointId::from_uuid(Uuid::nil()));
        let key = IdempotencyKey::parse("once").unwrap();
        let name = SignalName::parse("go").unwrap();
        let by_id = DeliverArgs {
            idempotency_key: Some(key.clone()),
            ..DeliverArgs::new(id, WaitpointRef::Id(waitpoint), PresentedToken::new("t"), name)
        };
        let mut state = BatchState::default();
        let of = |state: &BatchState, args: &DeliverArgs| {
            predicted(state, &Operation::Deliver(args.clone()), &PartitionConfig::default())
        };
        let misses = [Miss::Ring(3), Miss::Waitpoint(id, waitpoint), Miss::SignalKey(id, waitpoint, key)];
        assert_eq!(of(&state, &by_id), misses);
        let by_key = DeliverArgs { waitpoint: WaitpointRef::Key(WaitpointKey::parse("a").unwrap()), ..by_id.clone() };
        assert_eq!(of(&state, &by_key), misses[..1], "which waitpoint that is, only the execution knows");
        state.suspensions.rings.lay(3, Ok(None));
        state.suspensions.waitpoints.lay((id, waitpoint), Ok(None));
        assert_eq!(of(&state, &by_id), misses[2..]);
    }

    #[test]
    fn everything_a_graph_names_is_foreseen() {
        let node = |text| NodeSpec::new(NodeName::parse(text).unwrap(), Kind::parse("k").unwrap(), Payload::default());
        let nodes = vec![node("a"), node("b")];
        let edge = EdgeSpec { upstream: nodes[0].name.clone(), downstream: nodes[1].name.clone(), passes: None };
        let header = FlowHeader::new(Kind::parse("etl").unwrap());
        let graph = SubmitFlowArgs { header, nodes, edges: vec![edge] };
        let operation = Operation::StageFlow(graph.plan().unwrap().remove(0));
        let partitions = PartitionConfig::default();
        let mut state = BatchState::default();
        let misses = predicted(&state, &operation, &partitions);
        for miss in misses {
            match miss {
                Miss::Execution(id) => state.lay(id, Ok(None)),
                Miss::Group(id) => state.flows.groups.lay(id, Ok(None)),
                Miss::Lane(partition, lane) => state.cache.lanes.lay((partition, lane), Ok(None)),
                Miss::Edge(flow, edge) => state.flows.edges.lay((flow, edge), Ok(None)),
                other => panic!("{other:?}"),
            }
        }
        let Operation::StageFlow(args) = &operation else { panic!("not a graph") };
        state.flows.flows.lay(args.header.flow_id, Ok(None));
        let at = Conditions { partitions, nonce: SeededEntropy::new(1).nonce(), now: TimestampMs(1) };
        assert!(operation.decide(&state, &at).is_ok(), "it misses nothing any more");
    }
}
