//! The functions of flows.

mod change;
mod graph;
mod inputs;
mod read;
mod resolve;
mod settle;
mod submit;

use ff_core::keys::FlowKeyContext;
use ff_core::partition::{PartitionConfig, flow_partition};
use ff_core::types::FlowId;

pub use change::{ff_cancel_flow, ff_close_flow, ff_move_to_waiting_children, ff_set_flow_tags};
pub use graph::ff_grow_flow;
pub(crate) use graph::{Graph, grown, grown_edge};
pub(crate) use inputs::Inputs;
pub use read::{
    EdgeFields, FlowEventFields, FlowFields, FlowListPage, FlowQuery, MemberFields, ff_list_flows, ff_read_flow,
    ff_read_flow_edges, ff_read_flow_events, ff_read_flow_keys, ff_read_flow_members,
};
pub use resolve::{ResolveDependencyArgs, ResolveDependencyOpKeys, ResolveDependencyResult, ff_resolve_dependency};
pub use settle::{ff_cascade_completion, ff_promote_blocked_to_eligible};
pub use submit::{ff_create_flow, ff_submit_flow};

/// Returns the key of a flow's record.
pub(crate) fn flow_core_key(id: &FlowId, partitions: &PartitionConfig) -> String {
    FlowKeyContext::new(&flow_partition(id, partitions), id).core()
}
