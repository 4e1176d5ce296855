//! The batch state as rules read it. A record that was not loaded is a miss. A loaded record has the changes of the batch so far.

use ff_core::api_key::ApiKey;
use ff_core::budget::UsageReportEntry;
use ff_core::event::Feed;
use ff_core::execution::{Execution, Phase};
use ff_core::fairness::{Turn, TurnName, TurnsQuery};
use ff_core::flow::{Edge, Flow, FlowKeyEntry, Group};
use ff_core::lane::Lane;
use ff_core::payload::Payload;
use ff_core::quota::{QuotaRow, QuotaRowName, QuotaSet};
use ff_core::rule::change::KeyEntry;
use ff_core::rule::view::{DueQuery, EdgesOf, EligibleQuery, MembersOf, Miss, View};
use ff_core::schedule::{Schedule, ScheduleRef};
use ff_core::signal::SignalKeyEntry;
use ff_core::singleton::KeyQueue;
use ff_core::step::{Step, StepHead, StepRef};
use ff_core::stream::StreamRecord;
use ff_core::suspension::{SuspendKeyEntry, Waitpoint};
use ff_core::token::KeyRing;
use ff_core::types::{
    AttemptIndex, EdgeId, ExecutionId, FairKey, FlowId, IdempotencyKey, KeyId, LaneId, Namespace, QueueName,
    QuotaPolicyId, TimestampMs, WaitpointId, WorkerInstanceId,
};
use ff_core::worker::Worker;

use super::loaded_execution::LoadedExecution;
use super::{BatchState, ClaimFilter};

impl View for BatchState {
    fn execution(&self, id: &ExecutionId) -> Result<Option<&Execution>, Miss> {
        let loaded = self.loaded.get(id).ok_or(Miss::Execution(*id))?;
        loaded.current().map_err(|_| Miss::Execution(*id))
    }

    fn key(&self, namespace: &Namespace, key: &IdempotencyKey) -> Result<Option<&KeyEntry>, Miss> {
        let known = self.keys.get(&(namespace.clone(), key.clone()));
        known.map(Option::as_ref).ok_or_else(|| Miss::Key(namespace.clone(), key.clone()))
    }

    fn key_queue(&self, partition: u16, of: &Namespace, name: &QueueName) -> Result<Option<&KeyQueue>, Miss> {
        let id = (partition, of.clone(), name.clone());
        self.key_queues.find(&id).ok_or(Miss::KeyQueue(id.0, id.1, id.2))
    }

    fn waitpoint(&self, execution: &ExecutionId, waitpoint: &WaitpointId) -> Result<Option<&Waitpoint>, Miss> {
        self.suspensions.waitpoints.find(&(*execution, *waitpoint)).ok_or(Miss::Waitpoint(*execution, *waitpoint))
    }

    fn suspend_key(&self, execution: &ExecutionId, key: &IdempotencyKey) -> Result<Option<&SuspendKeyEntry>, Miss> {
        let known = self.suspensions.suspend_keys.find(&(*execution, key.clone()));
        known.ok_or_else(|| Miss::SuspendKey(*execution, key.clone()))
    }

    fn signal_key(
        &self,
        execution: &ExecutionId,
        waitpoint: &WaitpointId,
        key: &IdempotencyKey,
    ) -> Result<Option<&SignalKeyEntry>, Miss> {
        let known = self.suspensions.signal_keys.find(&(*execution, *waitpoint, key.clone()));
        known.ok_or_else(|| Miss::SignalKey(*execution, *waitpoint, key.clone()))
    }

    fn stream(&self, execution: &ExecutionId, attempt: AttemptIndex) -> Result<Option<&StreamRecord>, Miss> {
        self.streams.records.find(&(*execution, attempt)).ok_or(Miss::Stream(*execution, attempt))
    }

    fn step(&self, execution: &ExecutionId, step: &StepRef) -> Result<Option<&Step>, Miss> {
        self.steps.find(execution, step).ok_or_else(|| Miss::Step(*execution, step.clone()))
    }

    fn step_heads(&self, execution: &ExecutionId) -> Result<Vec<StepHead>, Miss> {
        self.steps.heads(execution).ok_or(Miss::StepHeads(*execution))
    }

    fn payload(&self, execution: &ExecutionId) -> Result<Option<&Payload>, Miss> {
        self.steps.payload(execution).ok_or(Miss::Payload(*execution))
    }

    fn ring(&self, partition: u16) -> Result<Option<&KeyRing>, Miss> {
        self.suspensions.rings.find(&partition).ok_or(Miss::Ring(partition))
    }

    fn eligible(&self, query: &EligibleQuery) -> Result<Vec<ExecutionId>, Miss> {
        let wanted = ClaimFilter::by(query);
        let list = self.waiting.get(&wanted);
        let first =
            list.and_then(|list| list.first(query.limit, |(_, id)| self.has_changed(id), self.entered(&wanted)));
        let first = first.ok_or_else(|| Miss::Eligible(query.clone()))?;
        Ok(first.into_iter().map(|(_, id)| id).collect())
    }

    fn due(&self, query: &DueQuery) -> Result<Vec<(TimestampMs, ExecutionId)>, Miss> {
        let changed = self.changed_on(query.partition);
        let entered = changed.filter_map(|execution| Some((execution.next_due()?.0, execution.id)));
        let list = self.due.get(&query.partition);
        let first = list.and_then(|list| list.first(query.limit, |(_, id)| self.has_changed(id), entered));
        first.ok_or(Miss::Due(*query))
    }

    fn flow(&self, id: &FlowId) -> Result<Option<&Flow>, Miss> {
        self.flows.flows.find(id).ok_or(Miss::Flow(*id))
    }

    fn edge(&self, flow: &FlowId, edge: &EdgeId) -> Result<Option<&Edge>, Miss> {
        self.flows.edges.find(&(*flow, *edge)).ok_or(Miss::Edge(*flow, *edge))
    }

    fn group(&self, downstream: &ExecutionId) -> Result<Option<&Group>, Miss> {
        self.flows.groups.find(downstream).ok_or(Miss::Group(*downstream))
    }

    fn flow_key(&self, flow: &FlowId, key: &IdempotencyKey) -> Result<Option<&FlowKeyEntry>, Miss> {
        self.flows.keys.find(&(*flow, key.clone())).ok_or_else(|| Miss::FlowKey(*flow, key.clone()))
    }

    fn edges(&self, query: &EdgesOf) -> Result<Vec<EdgeId>, Miss> {
        self.flows.edges_of(query).ok_or(Miss::Edges(*query))
    }

    fn members(&self, query: &MembersOf) -> Result<Vec<ExecutionId>, Miss> {
        let forgotten = |id: &ExecutionId| self.loaded.get(id).is_some_and(LoadedExecution::is_forgotten);
        self.flows.members_of(query, forgotten).ok_or(Miss::Members(*query))
    }

    fn lane(&self, partition: u16, lane: &LaneId) -> Result<Option<&Lane>, Miss> {
        let known = self.cache.lanes.find(&(partition, lane.clone()));
        let known = known.or_else(|| self.cache.has_no_lanes.then_some(None));
        known.ok_or_else(|| Miss::Lane(partition, lane.clone()))
    }

    fn active(&self, partition: u16, lane: &LaneId) -> Result<u32, Miss> {
        let stored = self.held_counts.get(&(partition, lane.clone()));
        let stored = stored.ok_or_else(|| Miss::Active(partition, lane.clone()))?;
        let holds = |execution: Option<&Execution>| {
            let held = |execution: &Execution| matches!(execution.phase, Phase::Running { .. });
            execution.is_some_and(|execution| held(execution) && execution.lane_key() == *lane)
        };
        let changes = || self.changes_on(partition);
        let (left, entered) = (changes().filter(|(was, _)| holds(*was)), changes().filter(|(_, is)| holds(*is)));
        let held = *stored as usize + entered.count();
        Ok(u32::try_from(held.saturating_sub(left.count())).unwrap_or(u32::MAX))
    }

    fn turn(&self, name: &TurnName) -> Result<Option<&Turn>, Miss> {
        self.turns.turns.find(name).ok_or_else(|| Miss::Turn(name.clone()))
    }

    fn turns(&self, query: &TurnsQuery) -> Result<Vec<(u64, FairKey)>, Miss> {
        self.turns.first(query).ok_or_else(|| Miss::Turns(query.clone()))
    }

    fn quotas(&self, partition: u16, namespace: &Namespace) -> Result<Option<&QuotaSet>, Miss> {
        let known = self.cache.quotas.find(&(partition, namespace.clone()));
        let known = known.or_else(|| self.cache.has_no_quotas.then_some(None));
        known.ok_or_else(|| Miss::Quotas(partition, namespace.clone()))
    }

    fn usage_report(&self, execution: &ExecutionId, id: &IdempotencyKey) -> Result<Option<&UsageReportEntry>, Miss> {
        self.usage_reports.find(&(*execution, id.clone())).ok_or_else(|| Miss::UsageReport(*execution, id.clone()))
    }

    fn quota_row(&self, policy: &QuotaPolicyId, name: &QuotaRowName) -> Result<Option<&QuotaRow>, Miss> {
        self.quota_rows.find(&(*policy, name.clone())).ok_or_else(|| Miss::QuotaRow(*policy, name.clone()))
    }

    fn schedule(&self, partition: u16, schedule: &ScheduleRef) -> Result<Option<&Schedule>, Miss> {
        let id = (partition, schedule.clone());
        self.schedules.find(&id).ok_or(Miss::Schedule(id.0, id.1))
    }

    fn worker(&self, instance: &WorkerInstanceId) -> Result<Option<&Worker>, Miss> {
        self.workers.find(instance).ok_or_else(|| Miss::Worker(instance.clone()))
    }

    fn api_key(&self, id: &KeyId) -> Result<Option<&ApiKey>, Miss> {
        self.api_keys.find(id).ok_or_else(|| Miss::ApiKey(id.clone()))
    }

    fn feed(&self, partition: u16) -> Result<Option<&Feed>, Miss> {
        self.cache.feeds.find(&partition).ok_or(Miss::Feed(partition))
    }

    fn due_flows(&self, query: &DueQuery) -> Result<Vec<(TimestampMs, FlowId)>, Miss> {
        self.flows.due(query).ok_or(Miss::DueFlows(*query))
    }
}
