//! A handle to a submitted flow, for following and changing it.

use ff_core::contracts::{
    self, CancelFlowArgs, CloseFlowArgs, ClosedFlow, EdgeInfo, FlowCancelled, FlowEdgesArgs, FlowInfo, FlowMembersArgs,
    GrownFlow, MemberInfo, ReplayArgs, ReplayedExecution, SetFlowTagsArgs, TaggedFlow,
};
use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::execution::Tags;
use ff_core::flow::{CancelPolicy, Counts, FlowState, member_id};
use ff_core::limits;
use ff_core::types::{ExecutionId, FlowId, TagKey, TagValue};

use super::draft::node_name;
use super::{FlowEvents, Growth};
use crate::{Client, End, Error};

/// A handle to a flow, by its id. Cheap to clone; creating it makes no call.
#[derive(Clone)]
pub struct FlowHandle {
    client: Client,
    id: FlowId,
}

impl FlowHandle {
    pub(crate) fn new(client: Client, id: FlowId) -> Self {
        Self { client, id }
    }

    pub fn id(&self) -> FlowId {
        self.id
    }

    /// Returns the state of the flow, the number of members in each state, and the size of its graph.
    pub async fn describe(&self) -> Result<FlowInfo, Error> {
        Ok(self.client.backend().describe_flow(&self.id).await?)
    }

    /// Waits until the flow has ended, without a time limit.
    pub async fn wait(&self) -> Result<FlowEnd, Error> {
        loop {
            if let Some(end) = self.client.long_poll().flow_ended(&self.id, limits::LONG_POLL_MS).await? {
                return Ok(FlowEnd(end));
            }
        }
    }

    /// Follows the events of the flow from the first one.
    pub fn events(&self) -> FlowEvents {
        self.events_from(0)
    }

    /// Follows the events of the flow from a sequence number on.
    pub fn events_from(&self, seq: u64) -> FlowEvents {
        FlowEvents::new(self.client.clone(), self.id, seq)
    }

    /// Lists all members in the order they were added, with the state of the edges into each. Fetches them page by page.
    pub async fn members(&self) -> Result<Vec<MemberInfo>, Error> {
        let (mut members, mut from) = (Vec::new(), Some(0));
        while let Some(at) = from {
            let args = FlowMembersArgs { flow_id: self.id, from: at, limit: limits::PAGE };
            let page = self.client.backend().flow_members(args).await?;
            members.extend(page.members);
            from = page.next;
        }
        Ok(members)
    }

    /// Lists all edges. Fetches them page by page.
    pub async fn edges(&self) -> Result<Vec<EdgeInfo>, Error> {
        let (mut edges, mut after) = (Vec::new(), None);
        loop {
            let args = FlowEdgesArgs { flow_id: self.id, after, limit: limits::PAGE };
            let page = self.client.backend().flow_edges(args).await?;
            edges.extend(page.edges);
            after = page.next;
            if after.is_none() {
                return Ok(edges);
            }
        }
    }

    /// Returns the execution id of a node. It is derived from the flow id and the name, so the node need not exist.
    pub fn execution(&self, node: &str) -> Result<ExecutionId, Error> {
        Ok(member_id(&self.id, &node_name("node", node)?, &self.client.backend().partitions()))
    }

    /// Returns the end of a node, or an error while it has not ended.
    pub async fn result(&self, node: &str) -> Result<End, Error> {
        self.client.result(&self.execution(node)?).await
    }

    /// Adds members and edges, all of them or none.
    pub async fn grow(&self, growth: Growth) -> Result<GrownFlow, Error> {
        Ok(self.client.backend().grow_flow(growth.build(self.id)?).await?)
    }

    /// Closes a flow that was held open: it then ends with its last member.
    pub async fn close(&self) -> Result<ClosedFlow, Error> {
        Ok(self.client.backend().close_flow(CloseFlowArgs { flow_id: self.id }).await?)
    }

    /// Cancels the flow. When this returns, only members that the policy spares can start. Running members are notified at
    /// once.
    pub async fn cancel(&self, policy: CancelPolicy, reason: Option<&str>) -> Result<FlowCancelled, Error> {
        let reason = reason.map(str::to_owned);
        let args = CancelFlowArgs { flow_id: self.id, policy, reason, requested_by: None };
        Ok(self.client.backend().cancel_flow(args).await?)
    }

    /// Cancels the flow and waits for its end, which is the end of every member unless the policy spares members.
    pub async fn cancel_and_wait(&self, policy: CancelPolicy, reason: Option<&str>) -> Result<FlowEnd, Error> {
        self.cancel(policy, reason).await?;
        self.wait().await
    }

    /// Runs a finished node again. Finished nodes that depend on it do not run again.
    pub async fn replay(&self, node: &str, reason: Option<&str>) -> Result<ReplayedExecution, Error> {
        self.run_again(node, reason, false).await
    }

    /// Runs a finished node again, and after it all nodes that depend on it.
    pub async fn replay_from(&self, node: &str, reason: Option<&str>) -> Result<ReplayedExecution, Error> {
        self.run_again(node, reason, true).await
    }

    /// Adds a tag to the flow, or changes the value of the tag.
    pub async fn tag(&self, key: &str, value: &str) -> Result<TaggedFlow, Error> {
        let tag = TagKey::parse(key).and_then(|key| Ok((key, TagValue::parse(value)?)));
        let tags: Tags = [tag.map_err(|error| Refusal::invalid("tags", error))?].into_iter().collect();
        Ok(self.client.backend().set_flow_tags(SetFlowTagsArgs { flow_id: self.id, tags }).await?)
    }

    async fn run_again(
        &self,
        node: &str,
        reason: Option<&str>,
        reopen_downstream: bool,
    ) -> Result<ReplayedExecution, Error> {
        let execution_id = self.execution(node)?;
        let args = ReplayArgs { reason: reason.map(str::to_owned), reopen_downstream, ..ReplayArgs::new(execution_id) };
        self.client.backend().replay(args).await.map_err(|error| match error {
            EngineError::Refused(refusal) if refusal.code == Code::ExecutionNotFound => {
                let why = format!("the flow has no node {node:?}");
                Code::ExecutionNotInFlow.refusal().at("node").because(why).into()
            }
            error => error.into(),
        })
    }
}

/// The end of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowEnd(pub contracts::FlowEnd);

impl FlowEnd {
    /// Returns true when every member without dependents has succeeded.
    pub fn succeeded(&self) -> bool {
        self.0.state == FlowState::Completed
    }

    pub fn state(&self) -> FlowState {
        self.0.state
    }

    /// Returns the number of members in each state.
    pub fn counts(&self) -> &Counts {
        &self.0.counts
    }
}
