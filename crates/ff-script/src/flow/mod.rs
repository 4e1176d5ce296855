//! The functions of flows.

mod adjust;
mod cancel;
mod children;
mod create;
mod graph;
mod grow;
mod inputs;
mod keys;
mod read;
mod resolve;
mod settle;
mod submit;

use ff_core::keys::FlowKeyContext;
use ff_core::partition::{PartitionConfig, flow_partition};
use ff_core::types::FlowId;

pub use adjust::{ff_close_flow, ff_set_flow_tags};
pub use cancel::{ff_ack_cancel_member, ff_cancel_flow};
pub use children::ff_move_to_waiting_children;
pub use create::ff_create_flow;
pub use grow::{ff_add_execution_to_flow, ff_grow_flow, ff_set_edge_group_policy, ff_stage_dependency_edge};
pub(crate) use inputs::Inputs;
pub use keys::ResolveDependencyOpKeys;
pub use read::{
    EdgeFields, FlowEventFields, FlowFields, FlowLook, FlowsListed, MemberFields, ff_list_flows, ff_read_flow,
    ff_read_flow_edges, ff_read_flow_events, ff_read_flow_keys, ff_read_flow_members,
};
pub use resolve::{ResolveDependencyArgs, ResolveDependencyResult, ff_resolve_dependency};
pub use settle::{
    SiblingsDrained, ff_apply_dependency_to_child, ff_cascade_completion, ff_drain_sibling_cancel_group,
    ff_evaluate_flow_eligibility, ff_promote_blocked_to_eligible, ff_reconcile_sibling_cancel_group,
};
pub use submit::ff_submit_flow;

/// The key of a flow's record.
fn core_key(id: &FlowId, partitions: &PartitionConfig) -> String {
    FlowKeyContext::new(&flow_partition(id, partitions), id).core()
}
