//! Flows in a snapshot, and the check of the keys that are published for other programs.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::backend::Answer;
use ff_core::backend::snapshot::Snapshot;
use ff_core::engine_error::{Code, EngineError};
use ff_core::flow::{Edge, EdgeState, Flow, FlowEvent, FlowIndex, FlowKeyEntry, Group};
use ff_core::keys::{ExecKeyContext, FlowIndexKeys, FlowKeyContext};
use ff_core::limits;
use ff_core::partition::{Partition, PartitionFamily, flow_partition};
use ff_core::types::{ExecutionId, FlowId};
use ff_script::flow::{FlowQuery, MemberFields, ff_read_flow, ff_read_flow_events, ff_read_flow_keys};
use futures_util::{StreamExt, TryStreamExt, stream};
use redis::cmd;

use super::AT_ONCE;
use crate::ValkeyBackend;

/// The flows of one partition.
#[derive(Default)]
pub(super) struct Flows {
    flows: Vec<FoundFlow>,
    indexes: BTreeMap<FlowIndex, BTreeMap<FlowId, i64>>,
}

/// One flow with all its records except the executions.
struct FoundFlow {
    flow: Flow,
    members: Vec<MemberFields>,
    groups: BTreeMap<ExecutionId, Group>,
    edges: Vec<Edge>,
    events: Vec<FlowEvent>,
    keys: Vec<FlowKeyEntry>,
    strays: Vec<String>,
}

impl Flows {
    /// Returns every member, including members of staged flows, which are in no index of executions.
    pub(super) fn members(&self) -> impl Iterator<Item = ExecutionId> {
        self.flows.iter().flat_map(|found| found.members.iter().map(|member| member.execution_id))
    }

    pub(super) fn enter(self, snapshot: &mut Snapshot) {
        for found in self.flows {
            let (id, partition) = (found.flow.id, found.flow.partition);
            // A stray has the id of an execution. For a flow this is the id that an execution with the flow's uuid
            // would have.
            let stray = ExecutionId::new(partition, *id.as_uuid());
            snapshot.strays.extend(found.strays.into_iter().map(|what| (stray, what)));
            snapshot.groups.extend(found.groups);
            snapshot.edges.extend(found.edges.into_iter().map(|edge| ((id, edge.id), edge)));
            snapshot.flow_keys.extend(found.keys.into_iter().map(|entry| ((id, entry.key.clone()), entry)));
            snapshot.flow_events.insert(id, found.events);
            snapshot.flows.insert(id, found.flow);
        }
        snapshot.flow_indexes.extend(self.indexes.into_iter().filter(|(_, members)| !members.is_empty()));
    }
}

impl ValkeyBackend {
    /// Returns every flow of a partition that some index names.
    pub(super) async fn flows_of(&self, partition: u16) -> Answer<Flows> {
        let keys = FlowIndexKeys::new(&Partition::new(PartitionFamily::Flow, partition));
        let mut flows = Flows::default();
        let sources = [
            (FlowIndex::Flows, keys.flows()),
            (FlowIndex::Staging, keys.staging()),
            (FlowIndex::Opening, keys.opening()),
            (FlowIndex::CancelBacklog, keys.cancel_backlog()),
            (FlowIndex::Retention, keys.retention()),
        ];
        for (index, key) in sources {
            flows.indexes.insert(index, self.scores(&key).await?);
        }
        let published = self.set(&keys.flow_index()).await?;
        let ids: BTreeSet<_> = flows.indexes.values().flat_map(BTreeMap::keys).copied().collect();
        for id in ids {
            let mut found = match self.found_flow(id).await {
                Err(error) if error.code() == Code::FlowNotFound => continue,
                found => found?,
            };
            let listed = flows.indexes[&FlowIndex::Flows].contains_key(&id);
            if published.contains(&id.to_string()) != listed {
                found.strays.push("it is in one of flow_index and flows only".into());
            }
            flows.flows.push(found);
        }
        Ok(flows)
    }

    async fn found_flow(&self, id: FlowId) -> Answer<FoundFlow> {
        let look = FlowQuery { staged: true, awaited: false };
        let fields = ff_read_flow(&*self.calls, &self.partitions, &id, look).await?;
        let partition = flow_partition(&id, &self.partitions).index;
        let flow = fields.flow(id, partition)?;
        let mut strays = Vec::new();
        if fields.state_word()? != Some(flow.state().as_str()) {
            strays.push(format!("it says it is {:?}, and is {}", fields.state_word()?, flow.state()));
        }
        let members = self.members(&id, 0, usize::MAX, true).await?;
        let mut groups = BTreeMap::new();
        for member in &members {
            groups.extend(member.group(id)?.map(|group| (member.execution_id, group)));
        }
        let mut edges = Vec::new();
        for fields in self.edges(&id, None, usize::MAX, true).await? {
            strays.extend(fields.strays());
            edges.push(fields.edge(id)?);
        }
        let events = if flow.staging.is_some() { vec![] } else { self.all_events(&id).await? };
        let keys = ff_read_flow_keys(&*self.calls, &self.partitions, &id).await?;
        let mut found = FoundFlow { flow, members, groups, edges, events, keys, strays };
        self.published(&mut found).await?;
        Ok(found)
    }

    async fn all_events(&self, id: &FlowId) -> Answer<Vec<FlowEvent>> {
        let mut events: Vec<FlowEvent> = Vec::new();
        loop {
            let from = events.last().map_or(0, |last| last.seq + 1);
            let look = FlowQuery { staged: true, awaited: false };
            let read = ff_read_flow_events(&*self.calls, &self.partitions, id, from, limits::PAGE, look).await?;
            let page = read.page(from)?;
            if page.events.is_empty() {
                return Ok(events);
            }
            events.extend(page.events);
        }
    }

    /// Compares the graph with the published keys.
    async fn published(&self, found: &mut FoundFlow) -> Answer<()> {
        let (id, partition) = (found.flow.id, Partition::new(PartitionFamily::Flow, found.flow.partition));
        let keys = FlowKeyContext::new(&partition, &id);
        let mut expected: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let members = found.members.iter().map(|member| member.execution_id.to_string());
        expected.insert(keys.members(), members.collect());
        for member in &found.members {
            let of = ExecKeyContext::new(&partition, &member.execution_id);
            expected.entry(keys.outgoing(&member.execution_id)).or_default();
            expected.entry(keys.incoming(&member.execution_id)).or_default();
            expected.insert(of.deps_all_edges(), BTreeSet::new());
            expected.insert(of.deps_unresolved(), BTreeSet::new());
        }
        for edge in &found.edges {
            let of = ExecKeyContext::new(&partition, &edge.downstream_execution_id);
            let mut holds = vec![
                keys.outgoing(&edge.upstream_execution_id),
                keys.incoming(&edge.downstream_execution_id),
                of.deps_all_edges(),
            ];
            holds.extend((edge.state == EdgeState::Pending).then(|| of.deps_unresolved()));
            for key in holds {
                expected.entry(key).or_default().insert(edge.id.to_string());
            }
        }
        if found.flow.is_being_forgotten() {
            // An edge is deleted with the member it enters. The set of edges that leave a member is deleted with that
            // member, possibly later.
            for member in &found.members {
                expected.remove(&keys.outgoing(&member.execution_id));
            }
        }
        let read = expected.into_iter().map(|(key, members)| async move {
            let differs = self.set(&key).await? != members;
            Answer::Ok(differs.then(|| format!("{key} does not hold what it should")))
        });
        let read = read.collect::<Vec<_>>();
        let strays: Vec<_> = stream::iter(read).buffer_unordered(AT_ONCE).try_collect().await?;
        found.strays.extend(strays.into_iter().flatten());
        Ok(())
    }

    /// Compares the published set of joins whose other upstreams are still to be checked with the joins themselves.
    pub(super) async fn sibling_strays(&self, snapshot: &mut Snapshot, flows: &Flows, partition: u16) -> Answer<()> {
        let keys = FlowIndexKeys::new(&Partition::new(PartitionFamily::Flow, partition));
        let mut published = self.set(&keys.pending_cancel_groups()).await?;
        let members = flows.flows.iter().flat_map(|found| found.members.iter().map(|member| (found.flow.id, member)));
        for (flow, member) in members {
            let id = member.execution_id;
            let membership = snapshot.executions.get(&id).and_then(|execution| execution.membership.as_ref());
            let owed = membership.is_some_and(|membership| membership.siblings.is_some());
            if published.remove(&format!("{flow}|{id}")) != owed || member.looks_after_siblings() != owed {
                snapshot
                    .strays
                    .push((id, "its record and the index disagree on whether it has siblings to cancel".into()));
            }
        }
        match published.first() {
            Some(unknown) => Err(EngineError::Corrupt(format!("{} names {unknown}", keys.pending_cancel_groups()))),
            None => Ok(()),
        }
    }

    async fn set(&self, key: &str) -> Answer<BTreeSet<String>> {
        self.calls.read(key, cmd("SMEMBERS").arg(key), "is not a set of texts").await
    }
}
