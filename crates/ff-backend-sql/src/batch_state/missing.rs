//! Misses: how much to load for one, and why a miss cannot be loaded.

use ff_core::rule::view::Miss;

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
        let Self { suspensions, streams, steps, flows, cache, turns, .. } = self;
        match miss {
            Miss::Execution(id) => Some(format!("{id}: {}", self.loaded.get(id)?.stored.as_ref().err()?)),
            Miss::Waitpoint(id, waitpoint) => {
                suspensions.waitpoints.unreadable(&(*id, *waitpoint), format_args!("waitpoint {waitpoint} of {id}"))
            }
            Miss::SuspendKey(id, key) => suspensions
                .suspend_keys
                .unreadable(&(*id, key.clone()), format_args!("a suspension of {id} under a key")),
            Miss::SignalKey(id, waitpoint, key) => suspensions
                .signal_keys
                .unreadable(&(*id, *waitpoint, key.clone()), format_args!("a signal to {id} under a key")),
            Miss::Stream(id, attempt) => {
                streams.records.unreadable(&(*id, *attempt), format_args!("stream {attempt} of {id}"))
            }
            Miss::Step(id, step) => {
                steps.records.unreadable(&(*id, step.clone()), format_args!("step {:?} of {id}", step.name))
            }
            Miss::StepHeads(id) => Some(format!("the steps of {id}: {}", steps.unreadable_heads(id)?)),
            Miss::Ring(partition) => suspensions.rings.unreadable(partition, format_args!("partition {partition}")),
            Miss::Flow(id) => flows.flows.unreadable(id, format_args!("flow {id}")),
            Miss::Edge(flow, edge) => {
                flows.edges.unreadable(&(*flow, *edge), format_args!("edge {edge} of flow {flow}"))
            }
            Miss::Group(id) => flows.groups.unreadable(id, format_args!("the edges into {id}")),
            Miss::FlowKey(flow, key) => {
                flows.keys.unreadable(&(*flow, key.clone()), format_args!("a change of flow {flow} under a key"))
            }
            Miss::Lane(partition, lane) => cache
                .lanes
                .unreadable(&(*partition, lane.clone()), format_args!("lane {lane} on partition {partition}")),
            Miss::Quotas(partition, namespace) => cache.quotas.unreadable(
                &(*partition, namespace.clone()),
                format_args!("the quotas of {namespace} on partition {partition}"),
            ),
            Miss::QuotaRow(policy_id, name) => {
                self.quota_rows.unreadable(&(*policy_id, name.clone()), format_args!("{name} of the quota {policy_id}"))
            }
            Miss::UsageReport(id, report) => {
                self.usage_reports.unreadable(&(*id, report.clone()), format_args!("a report of usage of {id}"))
            }
            Miss::KeyQueue(partition, namespace, name) => self.key_queues.unreadable(
                &(*partition, namespace.clone(), name.clone()),
                format_args!("the queue {name} of {namespace}"),
            ),
            Miss::Turn(name) => turns.turns.unreadable(
                name,
                format_args!("the turn of {:?} in lane {} on partition {}", name.key, name.lane, name.partition),
            ),
            Miss::Schedule(partition, schedule) => self
                .schedules
                .unreadable(&(*partition, schedule.clone()), format_args!("the schedule {}", schedule.key())),
            Miss::Worker(instance) => self.workers.unreadable(instance, format_args!("worker {instance}")),
            Miss::ApiKey(id) => self.api_keys.unreadable(id, format_args!("API key {id}")),
            Miss::Feed(partition) => {
                cache.feeds.unreadable(partition, format_args!("the feed of partition {partition}"))
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
