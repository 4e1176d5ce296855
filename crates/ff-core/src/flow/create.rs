//! Creating a flow without members, to be grown later.

use serde::{Deserialize, Serialize};

use super::contracts::FlowHeader;
use super::{Counts, Flow, FlowEventKind, FlowState, Step};
use crate::engine_error::{Code, Refusal};
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, flow_partition};
use crate::rule::view::{Stop, View};
use crate::types::{FlowId, TimestampMs};

/// A request to create a flow without members. The flow stays open until it is closed, so that it does not end between
/// two additions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateFlowArgs {
    pub header: FlowHeader,
}

/// Result of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SubmittedFlow {
    pub flow_id: FlowId,
    pub state: FlowState,
    pub nodes: u32,
    pub edges: u32,
    pub graph_revision: u64,
    /// True when the same flow already existed; nothing was written.
    pub duplicate: bool,
}

impl Command for CreateFlowArgs {
    type Reply = SubmittedFlow;
    const SETTLES_FLOWS: bool = true;

    fn check(&self, _: &PartitionConfig) -> Result<(), Refusal> {
        self.header.check()
    }

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        flow_partition(&self.header.flow_id, partitions).index
    }

    /// Creates an empty flow that stays open until it is closed, or returns the existing one.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<SubmittedFlow>, Stop> {
        let now = at.now;
        let header = &self.header;
        if let Some(known) = view.flow(&header.flow_id)? {
            let same = known.namespace == header.namespace && known.kind == header.kind && known.fingerprint.is_none();
            if !same {
                let refusal = Code::IdempotencyConflict.refusal().at("flow_id");
                return Err(refusal.because("was used before for another flow").into());
            }
            return Ok(Decision::of(SubmittedFlow::of(known, true), None));
        }
        let mut step = Step::new(view, now);
        step.begin(Flow { held_open: true, ..Flow::new(header, &at.partitions, now) });
        step.record_event(&header.flow_id, FlowEventKind::Opened { nodes: 0, edges: 0 })?;
        let settled = step.run()?;
        let flow = settled.flow(&header.flow_id).ok_or(Code::InvariantViolation)?;
        Ok(Decision::settled(SubmittedFlow::of(flow, false), settled))
    }
}

impl Flow {
    pub(super) fn new(header: &FlowHeader, config: &PartitionConfig, now: TimestampMs) -> Self {
        Self {
            id: header.flow_id,
            namespace: header.namespace.clone(),
            kind: header.kind.clone(),
            tags: header.tags.clone(),
            partition: flow_partition(&header.flow_id, config).index,
            created_at: now,
            graph_revision: 0,
            nodes: 0,
            edges: 0,
            payload_bytes: 0,
            counts: Counts::default(),
            failed_leaves: 0,
            fingerprint: None,
            staging: None,
            held_open: false,
            started_at: None,
            cancel: None,
            member_sweep: None,
            ended_at: None,
            events: 0,
            retention_ms: None,
            trace: header.trace.clone(),
        }
    }
}

impl SubmittedFlow {
    pub(super) fn of(flow: &Flow, duplicate: bool) -> Self {
        Self {
            flow_id: flow.id,
            state: flow.state(),
            nodes: flow.nodes,
            edges: flow.edges,
            graph_revision: flow.graph_revision,
            duplicate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::Join;
    use crate::flow::contracts::CloseFlowArgs;
    use crate::flow::fixture::{FlowFixture, graph};
    use crate::types::Kind;

    fn args(flow: &FlowFixture, kind: &str) -> CreateFlowArgs {
        CreateFlowArgs { header: FlowHeader { flow_id: flow.id, ..FlowHeader::new(Kind::parse(kind).unwrap()) } }
    }

    #[test]
    fn an_empty_flow_is_open_and_ends_when_it_is_closed() {
        let mut flow = FlowFixture::empty();
        let args = args(&flow, "etl");
        assert_eq!(flow.ask(args).unwrap().state, FlowState::Open);
        flow.ask(CloseFlowArgs { flow_id: flow.id }).unwrap();
        let opened = FlowEventKind::Opened { nodes: 0, edges: 0 };
        assert_eq!(
            flow.flow_events(),
            [opened, FlowEventKind::Closed, FlowEventKind::Ended { state: FlowState::Completed }]
        );
    }

    #[test]
    fn an_id_that_is_taken_is_a_conflict() {
        let mut flow = FlowFixture::with(graph("a", &[("a", Join::AllOf)]));
        let args = args(&flow, "etl");
        assert_eq!(flow.refused(args).code, Code::IdempotencyConflict);
    }
}
