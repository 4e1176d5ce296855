//! Work of a requirement class that its partition does not know yet. The class is registered at its lane's home, which bounds the
//! number of classes, and copied to the partition. Later work of the class takes one call.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::{CopyLaneArgs, GrowFlowArgs, RegisterClassesArgs, StageFlowArgs};
use ff_core::engine_error::{Code, EngineError};
use ff_core::lane::is_unknown_class;
use ff_core::operation::{Operation, Reply};
use ff_core::types::{LaneId, Namespace, RequirementClass};

/// Performs an operation that may bring new work. Registers the classes of the work if the partition does not know them.
pub(super) async fn perform<S: EngineStore + ?Sized>(store: &S, operation: Operation) -> Answer<Reply> {
    let classes = classes_of(&operation);
    if classes.is_empty() {
        return store.perform(operation).await;
    }
    match store.perform(operation.clone()).await {
        Err(EngineError::Refused(refusal)) if is_unknown_class(&refusal) => {}
        answer => return answer,
    }
    let (namespace, partition) = (namespace_of(store, &operation).await?, operation.partition(&store.partitions()));
    for (lane, classes) in classes {
        let args = RegisterClassesArgs { namespace: namespace.clone(), lane, classes };
        let lane = store.register_classes(args).await?;
        store.copy_lane(CopyLaneArgs { partition, lane }).await?;
    }
    store.perform(operation).await
}

/// Returns the requirement classes of an operation's work, by lane. Work without requirements has none.
fn classes_of(operation: &Operation) -> BTreeMap<LaneId, BTreeSet<RequirementClass>> {
    let mut classes: BTreeMap<LaneId, BTreeSet<_>> = BTreeMap::new();
    let mut add = |lane: &LaneId, class: RequirementClass| {
        if !class.is_plain() {
            classes.entry(lane.clone()).or_default().insert(class);
        }
    };
    match operation {
        Operation::Submit(args) => add(&args.lane, args.policy.class()),
        Operation::StageFlow(StageFlowArgs { nodes, .. }) | Operation::GrowFlow(GrowFlowArgs { nodes, .. }) => {
            nodes.iter().for_each(|node| add(&node.lane, node.policy.class()));
        }
        _ => {}
    }
    classes
}

/// Returns the namespace of the work that an operation brings.
async fn namespace_of<S: EngineStore + ?Sized>(store: &S, operation: &Operation) -> Answer<Namespace> {
    match operation {
        Operation::Submit(args) => Ok(args.namespace.clone()),
        Operation::StageFlow(args) => Ok(args.header.namespace.clone()),
        Operation::GrowFlow(args) => Ok(store.namespace_of_flow(&args.flow_id).await?.ok_or(Code::FlowNotFound)?),
        _ => Ok(Namespace::default_name()),
    }
}
