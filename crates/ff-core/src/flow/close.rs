//! Closing: no more members are to come, so the flow may end with its last.

use super::contracts::{CloseFlowArgs, ClosedFlow};
use super::{FlowWhat, Settled, Step};
use crate::engine_error::Code;
use crate::types::TimestampMs;
use crate::view::{Stop, View};

/// Lets a flow end with its last member. One that was never held open, or has been closed, stays as it is.
pub fn close(view: &dyn View, args: &CloseFlowArgs, now: TimestampMs) -> Result<(ClosedFlow, Settled), Stop> {
    let flow = view.flow(&args.flow_id)?.filter(|flow| flow.is_visible()).ok_or(Code::FlowNotFound)?;
    if !flow.held_open {
        return Ok((ClosedFlow { state: flow.state(), already: true }, Settled::default()));
    }
    let mut step = Step::new(view, now);
    step.flow_change(&args.flow_id)?.after.held_open = false;
    step.tell(&args.flow_id, FlowWhat::Closed)?;
    let settled = step.run()?;
    let state = settled.flow(&args.flow_id).ok_or(Code::InvariantViolation)?.state();
    Ok((ClosedFlow { state, already: false }, settled))
}
