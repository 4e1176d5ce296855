//! Closing a flow, so that it ends when its last member ends.

use serde::{Deserialize, Serialize};

use super::{FlowEventKind, FlowState, Step};
use crate::engine_error::Code;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, flow_partition};
use crate::rule::view::{Stop, View};
use crate::types::FlowId;

/// A request to close a flow, so that it ends when its last member ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseFlowArgs {
    pub flow_id: FlowId,
}

/// The flow is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClosedFlow {
    pub state: FlowState,
    /// True when it was closed before.
    pub already: bool,
}

impl Command for CloseFlowArgs {
    type Reply = ClosedFlow;
    const SETTLES_FLOWS: bool = true;

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        flow_partition(&self.flow_id, partitions).index
    }

    /// Closes a flow, so that it ends when its last member ends. A flow that was never held open, or was closed before,
    /// does not change.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<ClosedFlow>, Stop> {
        let flow = view.flow(&self.flow_id)?.filter(|flow| flow.is_visible()).ok_or(Code::FlowNotFound)?;
        if !flow.held_open {
            return Ok(Decision::of(ClosedFlow { state: flow.state(), already: true }, None));
        }
        let mut step = Step::new(view, at.now);
        step.flow_change(&self.flow_id)?.after.held_open = false;
        step.record_event(&self.flow_id, FlowEventKind::Closed)?;
        let settled = step.run()?;
        let state = settled.flow(&self.flow_id).ok_or(Code::InvariantViolation)?.state();
        Ok(Decision::settled(ClosedFlow { state, already: false }, settled))
    }
}
