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
    /// What it knows of one member.
    member(eid: &ExecutionId) => "ff:flow:{tag}:{fid}:member:{eid}";
    /// One edge between two members.
    edge(edge_id: &EdgeId) => "ff:flow:{tag}:{fid}:edge:{edge_id}";
    /// The edges that leave a member.
    outgoing(upstream_eid: &ExecutionId) => "ff:flow:{tag}:{fid}:out:{upstream_eid}";
    /// The edges that enter a member.
    incoming(downstream_eid: &ExecutionId) => "ff:flow:{tag}:{fid}:in:{downstream_eid}";
    /// How the edges into a member join, and how far they have come.
    edgegroup(downstream_eid: &ExecutionId) => "ff:flow:{tag}:{fid}:edgegroup:{downstream_eid}";
    /// What happened in it.
    events() => "ff:flow:{tag}:{fid}:events";
    /// How many members are in which state, exactly.
    summary() => "ff:flow:{tag}:{fid}:summary";
    /// That one change of the graph was made, so that asking twice makes it once.
    grant(mutation_id: &str) => "ff:flow:{tag}:{fid}:grant:{mutation_id}";
    /// Members whose cancellation is still owed.
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
    /// Flows with cancellations owed, by when the engine may take them over.
    cancel_backlog() => "ff:idx:{tag}:cancel_backlog";
    /// Joins that are satisfied and whose other upstreams are still to be cancelled.
    pending_cancel_groups() => "ff:idx:{tag}:pending_cancel_groups";
}
