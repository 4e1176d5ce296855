//! What an operation that has missed something is going to miss next. Its arguments often tell, and then one load serves
//! where each record would have been found missing only once the one before was there.

use ff_core::contracts::{DeliverArgs, NodeSpec, StageFlowArgs, SuspendArgs, WaitpointBinding, WaitpointRef};
use ff_core::flow::{edge_id, edges_to_tell, member_id};
use ff_core::operation::Operation;
use ff_core::partition::{PartitionConfig, flow_partition};
use ff_core::types::{ExecutionId, NodeName};
use ff_core::view::{Miss, View};

use crate::desk::Desk;

/// What an operation names that is not on the desk.
pub(super) fn foreseen(desk: &Desk, operation: &Operation, partitions: &PartitionConfig) -> Vec<Miss> {
    match operation {
        Operation::Complete(args) => of_end(desk, &args.execution_id),
        Operation::Fail(args) => of_end(desk, &args.execution_id),
        Operation::Suspend(args) => of_suspension(desk, args),
        Operation::Deliver(args) => of_signal(desk, args),
        Operation::CreateWaitpoint(args) => desk.ring(args.execution_id.partition()).err().into_iter().collect(),
        Operation::CloseWaitpoint(args) => {
            desk.waitpoint(&args.execution_id, &args.waitpoint_id).err().into_iter().collect()
        }
        Operation::StageFlow(args) => of_graph(desk, args, partitions),
        _ => Vec::new(),
    }
}

/// Its flow, and those who wait for its end.
fn of_end(desk: &Desk, id: &ExecutionId) -> Vec<Miss> {
    let Some((flow, is_waited_for)) = desk.known.flow_of(id) else { return Vec::new() };
    let edges = is_waited_for.then(|| desk.edges(&edges_to_tell(flow, *id, None)).err()).flatten();
    desk.flow(&flow).err().into_iter().chain(edges).collect()
}

fn of_graph(desk: &Desk, args: &StageFlowArgs, partitions: &PartitionConfig) -> Vec<Miss> {
    let flow = args.header.flow_id;
    let member = |node: &NodeName| member_id(&flow, node, partitions);
    let home = flow_partition(&flow, partitions).index;
    let lane = |node: &NodeSpec| desk.lane(home, &node.lane.within(&args.header.namespace)).err();
    let mut misses: Vec<_> = args.nodes.iter().filter_map(|node| desk.execution(&member(&node.name)).err()).collect();
    misses.extend(args.nodes.iter().filter_map(lane));
    for edge in &args.edges {
        let ends = [&edge.upstream, &edge.downstream].map(member);
        misses.extend(ends.iter().flat_map(|id| [desk.execution(id).err(), desk.group(id).err()]).flatten());
        misses.extend(desk.edge(&flow, &edge_id(&flow, &ends[0], &ends[1])).err());
    }
    misses
}

fn of_suspension(desk: &Desk, args: &SuspendArgs) -> Vec<Miss> {
    let id = &args.execution_id;
    let waitpoint = |binding: &WaitpointBinding| match binding {
        WaitpointBinding::Pending { id: waitpoint, .. } => desk.waitpoint(id, waitpoint).err(),
        WaitpointBinding::Fresh { .. } => desk.ring(id.partition()).err(),
    };
    let key = args.idempotency_key.as_ref().and_then(|key| desk.suspend_key(id, key).err());
    args.waitpoints.iter().filter_map(waitpoint).chain(key).collect()
}

fn of_signal(desk: &Desk, args: &DeliverArgs) -> Vec<Miss> {
    let id = &args.execution_id;
    let mut misses: Vec<_> = desk.ring(id.partition()).err().into_iter().collect();
    if let WaitpointRef::Id(waitpoint) = &args.waitpoint {
        misses.extend(desk.waitpoint(id, waitpoint).err());
        misses.extend(args.idempotency_key.as_ref().and_then(|key| desk.signal_key(id, waitpoint, key).err()));
    }
    misses
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::{EdgeSpec, FlowHeader, SubmitFlowArgs};
    use ff_core::dice::{Dice, SeededDice};
    use ff_core::operation::Conditions;
    use ff_core::payload::Payload;
    use ff_core::token::PresentedToken;
    use ff_core::types::{IdempotencyKey, Kind, SignalName, TimestampMs, WaitpointId, WaitpointKey};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn what_a_signal_names_is_foreseen_until_it_is_there() {
        let (id, waitpoint) = (ExecutionId::new(3, Uuid::nil()), WaitpointId::from_uuid(Uuid::nil()));
        let key = IdempotencyKey::parse("once").unwrap();
        let name = SignalName::parse("go").unwrap();
        let by_id = DeliverArgs {
            idempotency_key: Some(key.clone()),
            ..DeliverArgs::new(id, WaitpointRef::Id(waitpoint), PresentedToken::new("t"), name)
        };
        let mut desk = Desk::default();
        let of = |desk: &Desk, args: &DeliverArgs| {
            foreseen(desk, &Operation::Deliver(args.clone()), &PartitionConfig::default())
        };
        let misses = [Miss::Ring(3), Miss::Waitpoint(id, waitpoint), Miss::SignalKey(id, waitpoint, key)];
        assert_eq!(of(&desk, &by_id), misses);
        let by_key = DeliverArgs { waitpoint: WaitpointRef::Key(WaitpointKey::parse("a").unwrap()), ..by_id.clone() };
        assert_eq!(of(&desk, &by_key), misses[..1], "which waitpoint that is, only the execution knows");
        desk.waits.rings.lay(3, Ok(None));
        desk.waits.waitpoints.lay((id, waitpoint), Ok(None));
        assert_eq!(of(&desk, &by_id), misses[2..]);
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
        let mut desk = Desk::default();
        let misses = foreseen(&desk, &operation, &partitions);
        for miss in misses {
            match miss {
                Miss::Execution(id) => desk.lay(id, Ok(None)),
                Miss::Group(id) => desk.flows.groups.lay(id, Ok(None)),
                Miss::Lane(partition, lane) => desk.known.lanes.lay((partition, lane), Ok(None)),
                Miss::Edge(flow, edge) => desk.flows.edges.lay((flow, edge), Ok(None)),
                other => panic!("{other:?}"),
            }
        }
        let Operation::StageFlow(args) = &operation else { panic!("not a graph") };
        desk.flows.flows.lay(args.header.flow_id, Ok(None));
        let at = Conditions { partitions, nonce: SeededDice::new(1).nonce(), now: TimestampMs(1) };
        assert!(operation.decide(&desk, &at).is_ok(), "it misses nothing any more");
    }
}
