//! What must have happened in flows on the walks.

use ff_core::contracts::{Claimed, StagedFlow};
use ff_core::engine_error::Code;
use ff_core::flow::{CancelPolicy, EdgeState, FlowState, FlowWhat, Group, GroupState, Join};
use ff_core::model::Model;
use ff_core::operation::Reply;
use ff_core::view::View;

/// Every refusal an operation on a flow can be given.
pub(crate) const REFUSALS: &[Code] = &[
    Code::FlowNotFound,
    Code::FlowAlreadyTerminal,
    Code::ExecutionNotInFlow,
    Code::ExecutionAlreadyInFlow,
    Code::StaleGraphRevision,
    Code::SelfReferencingEdge,
    Code::CycleDetected,
    Code::DependencyAlreadyExists,
    Code::InvalidDependency,
    Code::DepsNotSatisfied,
    Code::NotRunnable,
];

/// Everything else that must have happened.
pub(crate) const EVENTS: &[&str] = &[
    "StageFlow",
    "CreateFlow",
    "GrowFlow",
    "CloseFlow",
    "CancelFlow",
    "SetFlowTags",
    "WaitForChildren",
    "Cascade",
    "flow there before",
    "grown before",
    "closed with members left",
    "closed before",
    "edge settled as satisfied",
    "edge settled as failed",
    "edge settled as skipped",
    "cancel_all",
    "cancel_pending",
    "let_active_finish",
    "flow_only",
    "flow cancelled before",
    "waits for children",
    "children have succeeded",
    "children have failed",
    "inputs handed",
    "parent goes on",
    "a cascade was left",
    "skipped",
    "cancelled with its flow",
    "cancelled by a join",
    "join met",
    "join impossible",
    "all_of",
    "any_of",
    "quorum",
    "a later round",
    "payload replaced",
    "flow open",
    "flow running",
    "flow completed",
    "flow failed",
    "flow cancelled",
    "flow reopened",
];

/// What a reply about a flow says has happened.
pub(crate) fn count_reply(reply: &Reply, mut happened: impl FnMut(&'static str)) {
    match reply {
        Reply::FlowStaged(StagedFlow::Submitted(flow)) if flow.duplicate => happened("flow there before"),
        Reply::FlowCreated(flow) if flow.duplicate => happened("flow there before"),
        Reply::FlowGrown(grown) => grown.edges.iter().for_each(|(_, state)| match state {
            EdgeState::Pending => {}
            EdgeState::Satisfied => happened("edge settled as satisfied"),
            EdgeState::Failed => happened("edge settled as failed"),
            EdgeState::Skipped => happened("edge settled as skipped"),
        }),
        Reply::FlowClosed(closed) if closed.already => happened("closed before"),
        Reply::FlowClosed(closed) if !closed.state.is_terminal() => happened("closed with members left"),
        Reply::FlowCancelled(cancelled) if cancelled.already => happened("flow cancelled before"),
        Reply::FlowCancelled(cancelled) => happened(match cancelled.policy {
            CancelPolicy::CancelAll => "cancel_all",
            CancelPolicy::CancelPending => "cancel_pending",
            CancelPolicy::LetActiveFinish => "let_active_finish",
            CancelPolicy::FlowOnly => "flow_only",
        }),
        Reply::WaitedForChildren(waited) => happened(match waited.state {
            GroupState::Pending => "waits for children",
            GroupState::Satisfied => "children have succeeded",
            GroupState::Impossible => "children have failed",
        }),
        Reply::Cascaded(cascaded) if cascaded.more || cascaded.resolved > 0 => happened("a cascade was left"),
        _ => {}
    }
}

/// What a worker was handed from its flow.
pub(crate) fn count_claimed(claimed: &Claimed, mut happened: impl FnMut(&'static str)) {
    if claimed.inputs.iter().any(|input| input.payload.is_some()) {
        happened("inputs handed");
    }
    if claimed.task.flow.is_some() && claimed.task.resumed && claimed.task.resumption.is_none() {
        happened("parent goes on");
    }
}

/// How flows, their joins and their members stand at the end of a walk.
pub(crate) fn count_all(model: &Model, mut happened: impl FnMut(&'static str)) {
    for flow in model.flows() {
        happened(match flow.state() {
            FlowState::Staging => unreachable!("a graph is submitted as a whole"),
            FlowState::Open => "flow open",
            FlowState::Running => "flow running",
            FlowState::Completed => "flow completed",
            FlowState::Failed => "flow failed",
            FlowState::Cancelled => "flow cancelled",
        });
        if model.flow_events(&flow.id).any(|event| event.what == FlowWhat::Reopened) {
            happened("flow reopened");
        }
    }
    for execution in model.executions() {
        if let Some(group) = model.group(&execution.id).ok().flatten() {
            count_group(group, &mut happened);
        }
        if execution.membership.as_ref().is_some_and(|membership| membership.injected_bytes.is_some()) {
            happened("payload replaced");
        }
    }
}

fn count_group(group: &Group, mut happened: impl FnMut(&'static str)) {
    happened(match group.join {
        Join::AllOf => "all_of",
        Join::AnyOf { .. } => "any_of",
        Join::Quorum { .. } => "quorum",
    });
    match group.state {
        GroupState::Pending => {}
        GroupState::Satisfied => happened("join met"),
        GroupState::Impossible => happened("join impossible"),
    }
    if group.round > 0 {
        happened("a later round");
    }
}
