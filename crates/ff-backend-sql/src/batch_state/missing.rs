//! Misses: how much to load for one, and why a miss cannot be loaded.

use ff_core::view::Miss;

use super::{BatchState, ClaimFilter, IndexPrefix};

impl BatchState {
    /// Returns the minimum length of a list that can answer the query that missed it.
    pub(crate) fn length_beyond(&self, miss: &Miss) -> usize {
        match miss {
            Miss::Eligible(query) => {
                let wanted = ClaimFilter::by(query);
                let known = self.waiting.get(&wanted).map_or(0, IndexPrefix::limit);
                known + query.limit + self.read_ahead(&wanted)
            }
            Miss::Turns(query) => self.turns.length_of(query) + query.limit,
            Miss::Due(query) => self.due.get(&query.partition).map_or(0, IndexPrefix::limit) + query.limit,
            Miss::DueFlows(query) => self.flows.length_of_due(query) + query.limit,
            Miss::Edges(query) => self.flows.length_of_ends(query) + query.limit,
            Miss::Members(query) => self.flows.length_of_members(query) + query.limit,
            _ => 1,
        }
    }

    /// Returns why a missed record cannot be loaded: its stored form is unreadable.
    pub(crate) fn unreadable(&self, miss: &Miss) -> Option<String> {
        match miss {
            Miss::Execution(id) => {
                let why = self.loaded.get(id)?.stored.as_ref().err()?;
                Some(format!("{id}: {why}"))
            }
            Miss::Waitpoint(id, waitpoint) => {
                let why = self.suspensions.waitpoints.unreadable(&(*id, *waitpoint))?;
                Some(format!("waitpoint {waitpoint} of {id}: {why}"))
            }
            Miss::SuspendKey(id, key) => {
                let why = self.suspensions.suspend_keys.unreadable(&(*id, key.clone()))?;
                Some(format!("a suspension of {id} under a key: {why}"))
            }
            Miss::SignalKey(id, waitpoint, key) => {
                let why = self.suspensions.signal_keys.unreadable(&(*id, *waitpoint, key.clone()))?;
                Some(format!("a signal to {id} under a key: {why}"))
            }
            Miss::Stream(id, attempt) => {
                let why = self.streams.records.unreadable(&(*id, *attempt))?;
                Some(format!("stream {attempt} of {id}: {why}"))
            }
            Miss::Step(id, step) => {
                let why = self.steps.records.unreadable(&(*id, step.clone()))?;
                Some(format!("step {:?} of {id}: {why}", step.name))
            }
            Miss::StepHeads(id) => {
                let why = self.steps.unreadable_heads(id)?;
                Some(format!("the steps of {id}: {why}"))
            }
            Miss::Ring(partition) => {
                let why = self.suspensions.rings.unreadable(partition)?;
                Some(format!("partition {partition}: {why}"))
            }
            Miss::Flow(id) => {
                let why = self.flows.flows.unreadable(id)?;
                Some(format!("flow {id}: {why}"))
            }
            Miss::Edge(flow, edge) => {
                let why = self.flows.edges.unreadable(&(*flow, *edge))?;
                Some(format!("edge {edge} of flow {flow}: {why}"))
            }
            Miss::Group(id) => {
                let why = self.flows.groups.unreadable(id)?;
                Some(format!("the edges into {id}: {why}"))
            }
            Miss::FlowKey(flow, key) => {
                let why = self.flows.keys.unreadable(&(*flow, key.clone()))?;
                Some(format!("a change of flow {flow} under a key: {why}"))
            }
            Miss::Lane(partition, lane) => {
                let why = self.cache.lanes.unreadable(&(*partition, lane.clone()))?;
                Some(format!("lane {lane} on partition {partition}: {why}"))
            }
            Miss::Quotas(partition, namespace) => {
                let why = self.cache.quotas.unreadable(&(*partition, namespace.clone()))?;
                Some(format!("the quotas of {namespace} on partition {partition}: {why}"))
            }
            Miss::QuotaRow(policy_id, name) => {
                let why = self.quota_rows.unreadable(&(*policy_id, name.clone()))?;
                Some(format!("{name} of the quota {policy_id}: {why}"))
            }
            Miss::UsageReport(id, report) => {
                let why = self.usage_reports.unreadable(&(*id, report.clone()))?;
                Some(format!("a report of usage of {id}: {why}"))
            }
            Miss::KeyQueue(partition, namespace, name) => {
                let why = self.key_queues.unreadable(&(*partition, namespace.clone(), name.clone()))?;
                Some(format!("the queue {name} of {namespace}: {why}"))
            }
            Miss::Turn(name) => {
                let why = self.turns.turns.unreadable(name)?;
                Some(format!("the turn of {:?} in lane {} on partition {}: {why}", name.key, name.lane, name.partition))
            }
            Miss::Schedule(partition, schedule) => {
                let why = self.schedules.unreadable(&(*partition, schedule.clone()))?;
                Some(format!("the schedule {}: {why}", schedule.key()))
            }
            Miss::Worker(instance) => {
                let why = self.workers.unreadable(instance)?;
                Some(format!("worker {instance}: {why}"))
            }
            Miss::ApiKey(id) => {
                let why = self.api_keys.unreadable(id)?;
                Some(format!("API key {id}: {why}"))
            }
            Miss::Feed(partition) => {
                let why = self.cache.feeds.unreadable(partition)?;
                Some(format!("the feed of partition {partition}: {why}"))
            }
            Miss::All(several) => several.iter().find_map(|miss| self.unreadable(miss)),
            Miss::Key(..)
            | Miss::Payload(_)
            | Miss::Active(..)
            | Miss::Eligible(_)
            | Miss::Turns(_)
            | Miss::Due(_)
            | Miss::DueFlows(_)
            | Miss::Edges(_)
            | Miss::Members(_) => None,
        }
    }
}
