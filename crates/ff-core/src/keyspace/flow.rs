//! The keys of a flow and of the flows on a partition. Members live on their flow's partition and share its tag.

use super::keys;
use crate::partition::Partition;
use crate::types::{EdgeId, ExecutionId, FlowId};

/// Builds the keys of one flow.
#[derive(Clone, Debug)]
pub struct FlowKeyContext {
    tag: String,
    fid: String,
}

impl FlowKeyContext {
    /// The keys of the flow `fid`, which lives on `partition`.
    pub fn new(partition: &Partition, fid: &FlowId) -> Self {
        Self { tag: partition.hash_tag(), fid: fid.to_string() }
    }

    /// The tag all these keys share, with its braces.
    pub fn hash_tag(&self) -> &str {
        &self.tag
    }

    /// The flow's id, as it stands in the keys.
    pub fn flow_id(&self) -> &str {
        &self.fid
    }
}

keys! { FlowKeyContext { tag, fid }
    /// The record of the flow: the truth about it.
    core() => "ff:flow:{tag}:{fid}:core";
    /// The executions in it.
    members() => "ff:flow:{tag}:{fid}:members";
    /// Its labels.
    tags() => "ff:flow:{tag}:{fid}:tags";
    /// Its record of one member.
    member(eid: &ExecutionId) => "ff:flow:{tag}:{fid}:member:{eid}";
    /// One edge between two members.
    edge(edge_id: &EdgeId) => "ff:flow:{tag}:{fid}:edge:{edge_id}";
    /// The edges that leave a member.
    outgoing(upstream_eid: &ExecutionId) => "ff:flow:{tag}:{fid}:out:{upstream_eid}";
    /// The edges that enter a member.
    incoming(downstream_eid: &ExecutionId) => "ff:flow:{tag}:{fid}:in:{downstream_eid}";
    /// How the edges into a member join, and how far they have come.
    edgegroup(downstream_eid: &ExecutionId) => "ff:flow:{tag}:{fid}:edgegroup:{downstream_eid}";
    /// Its events.
    events() => "ff:flow:{tag}:{fid}:events";
    /// How many members are in which state, exactly.
    summary() => "ff:flow:{tag}:{fid}:summary";
    /// That one change of the graph was made, so that asking twice makes it once.
    grant(mutation_id: &str) => "ff:flow:{tag}:{fid}:grant:{mutation_id}";
    /// The grants there are, by when each is forgotten.
    grants() => "ff:flow:{tag}:{fid}:grants";
    /// The executions in it, in the order they were added.
    nodes() => "ff:flow:{tag}:{fid}:nodes";
    /// Its members and edges by their ids, and the edges of each member by theirs, in the order of bytes.
    graph() => "ff:flow:{tag}:{fid}:graph";
    /// Members whose cancellation is still pending.
    pending_cancels() => "ff:flow:{tag}:{fid}:pending_cancels";
}

/// Builds the keys of one partition of flows.
#[derive(Clone, Debug)]
pub struct FlowIndexKeys {
    tag: String,
}

impl FlowIndexKeys {
    /// The keys of `partition`.
    pub fn new(partition: &Partition) -> Self {
        Self { tag: partition.hash_tag() }
    }

    /// The tag all these keys share, with its braces.
    pub fn hash_tag(&self) -> &str {
        &self.tag
    }
}

keys! { FlowIndexKeys { tag }
    /// The flows that live here.
    flow_index() => "ff:idx:{tag}:flow_index";
    /// Flows with pending cancellations, by when the engine may take them over.
    cancel_backlog() => "ff:idx:{tag}:cancel_backlog";
    /// Submissions whose last part has not come, by when they are given up.
    staging() => "ff:idx:{tag}:flow_staging";
    /// Flows whose members are still to be opened after the last part came.
    opening() => "ff:idx:{tag}:flow_opening";
    /// The flows that live here, by creation.
    flows() => "ff:idx:{tag}:flows";
    /// Executions whose join fired and whose other upstreams are still to be looked at, by since when.
    sibling_backlog() => "ff:idx:{tag}:sibling_backlog";
    /// Flows that have ended, by when they are forgotten with their members.
    retention() => "ff:idx:{tag}:flow_retention";
    /// Joins that are satisfied and whose other upstreams are still to be cancelled.
    pending_cancel_groups() => "ff:idx:{tag}:pending_cancel_groups";
}
