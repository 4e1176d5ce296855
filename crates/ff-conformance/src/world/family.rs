//! Calls of a holder about its flow, and the inputs it got from upstreams.

use super::LeasedExecution;
use super::graph::growth;
use crate::records::*;

impl LeasedExecution {
    /// Returns the node name of the execution in its flow.
    pub fn node(&self) -> &str {
        self.task.flow.as_ref().expect("it should be in a flow").node.as_str()
    }

    /// Returns the names of the inputs that came with the claim.
    pub fn input_names(&self) -> Vec<&str> {
        self.inputs.iter().map(|input| input.name.as_str()).collect()
    }

    /// Returns the bytes of an input that came with the claim.
    pub fn input(&self, name: &str) -> Option<&[u8]> {
        let input = self.inputs.iter().find(|input| input.name.as_str() == name)?;
        input.payload.as_ref().map(|payload| &payload.bytes[..])
    }

    /// Reports a permanent failure.
    pub async fn fail_for_good(&self) {
        self.fail_with("error", "it went wrong", true).await.unwrap();
    }

    /// Returns the arguments by which this holder adds members and edges.
    pub fn growth(&self, nodes: &[&str], edges: &[(&str, &str)]) -> GrowFlowArgs {
        let flow_id = self.task.flow.as_ref().expect("it should be in a flow").flow_id;
        GrowFlowArgs { holder: Some((self.id(), self.fence())), ..growth(flow_id, nodes, edges) }
    }

    /// Adds children for this execution to wait for.
    pub async fn add_children(&self, children: &[&str]) {
        let edges: Vec<_> = children.iter().map(|child| (*child, self.node())).collect();
        self.world.backend.grow_flow(self.growth(children, &edges)).await.unwrap();
    }

    /// Releases the lease until the children have ended.
    pub async fn wait_for_children(&self) -> Answer<WaitedForChildren> {
        let args = WaitForChildrenArgs { execution_id: self.id(), fence: self.fence() };
        self.world.backend.wait_for_children(args).await
    }

    /// Releases the lease until the children have ended, and checks that some have not.
    pub async fn wait_pending(&self) {
        assert_eq!(self.wait_for_children().await.unwrap().state, GroupState::Pending);
    }
}
