//! The keys of a flow and of the flows on a partition. Members are on their flow's partition and share its hash tag.

use super::keys;
use crate::types::{EdgeId, ExecutionId, FlowId};

keys! {
    /// A builder of the keys of one flow.
    FlowKeyContext { tag, fid: FlowId }

    /// The authoritative record of the flow.
    core() => "ff:flow:{tag}:{fid}:core";
    /// The executions in it.
    members() => "ff:flow:{tag}:{fid}:members";
    /// Its tags.
    tags() => "ff:flow:{tag}:{fid}:tags";
    /// Its record of one member.
    member(eid: &ExecutionId) => "ff:flow:{tag}:{fid}:member:{eid}";
    /// One edge between two members.
    edge(edge_id: &EdgeId) => "ff:flow:{tag}:{fid}:edge:{edge_id}";
    /// The edges that leave a member.
    outgoing(upstream_eid: &ExecutionId) => "ff:flow:{tag}:{fid}:out:{upstream_eid}";
    /// The edges that enter a member.
    incoming(downstream_eid: &ExecutionId) => "ff:flow:{tag}:{fid}:in:{downstream_eid}";
    /// The join of the edges into a member, and its counts.
    edgegroup(downstream_eid: &ExecutionId) => "ff:flow:{tag}:{fid}:edgegroup:{downstream_eid}";
    /// Its events.
    events() => "ff:flow:{tag}:{fid}:events";
    /// The exact number of members in each state.
    summary() => "ff:flow:{tag}:{fid}:summary";
    /// A mark that one change of the graph was made, so that a repeated call does not make it again.
    grant(mutation_id: &str) => "ff:flow:{tag}:{fid}:grant:{mutation_id}";
    /// The existing grants, by expiry.
    grants() => "ff:flow:{tag}:{fid}:grants";
    /// The executions in it, in the order they were added.
    nodes() => "ff:flow:{tag}:{fid}:nodes";
    /// Its members and edges by id, and the edges of each member by id, in byte order.
    graph() => "ff:flow:{tag}:{fid}:graph";
    /// Members whose cancellation is still pending.
    pending_cancels() => "ff:flow:{tag}:{fid}:pending_cancels";
}

impl FlowKeyContext {
    /// Returns the flow's id, as used in the keys.
    pub fn flow_id(&self) -> &str {
        &self.fid
    }
}

keys! {
    /// A builder of the keys of one partition of flows.
    FlowIndexKeys { tag }

    /// The flows on this partition.
    flow_index() => "ff:idx:{tag}:flow_index";
    /// Flows with pending cancellations, by the time from which another program than the pump may continue them.
    cancel_backlog() => "ff:idx:{tag}:cancel_backlog";
    /// Submissions that wait for their last part, by the time at which they are abandoned.
    staging() => "ff:idx:{tag}:flow_staging";
    /// Flows whose last part arrived and whose members are still to be opened.
    opening() => "ff:idx:{tag}:flow_opening";
    /// The flows on this partition, by creation.
    flows() => "ff:idx:{tag}:flows";
    /// Executions whose join fired and whose other upstreams are still to be checked, by the time of the decision.
    sibling_backlog() => "ff:idx:{tag}:sibling_backlog";
    /// Flows that have ended, by the time at which they are forgotten with their members.
    retention() => "ff:idx:{tag}:flow_retention";
    /// Joins that are satisfied and whose other upstreams are still to be cancelled.
    pending_cancel_groups() => "ff:idx:{tag}:pending_cancel_groups";
}
