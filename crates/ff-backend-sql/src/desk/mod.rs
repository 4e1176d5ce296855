//! The desk: the records a batch has loaded, with the changes it has made so far on top. Rules read through it, so each
//! operation of a batch sees what those before it did, and nothing is written before all are decided.

mod beside;
mod flows;
mod sheet;
mod shelf;
mod shortlist;
mod waits;
mod wanted;

use std::collections::{HashMap, HashSet};

use ff_core::change::{Change, KeyEntry, Write};
use ff_core::execution::{Execution, Phase};
use ff_core::flow::{Edge, Flow, FlowChange, FlowKeyEntry, Group};
use ff_core::hint::{Hint, delivered, flow_hints, hints};
use ff_core::index::{Score, eligible_score};
use ff_core::signal::SignalKeyEntry;
use ff_core::suspension::{SuspendKeyEntry, Waitpoint};
use ff_core::token::KeyRing;
use ff_core::types::{EdgeId, ExecutionId, FlowId, IdempotencyKey, Namespace, TimestampMs, WaitpointId};
use ff_core::view::{DueFirst, EdgesOf, Eligible, MembersOf, Miss, View};

pub(crate) use beside::Beside;
pub(crate) use flows::{Ends, Flows, Members, all_into};
use sheet::{Fate, Sheet};
pub(crate) use shelf::{Shelf, Stored};
pub(crate) use shortlist::Shortlist;
pub(crate) use waits::{NewSignal, Waits};
pub(crate) use wanted::Wanted;

/// What a batch works on.
#[derive(Default)]
pub(crate) struct Desk {
    sheets: HashMap<ExecutionId, Sheet>,
    keys: HashMap<(Namespace, IdempotencyKey), Option<KeyEntry>>,
    waiting: HashMap<Wanted, Shortlist<(Score, ExecutionId)>>,
    due: HashMap<u16, Shortlist<(TimestampMs, ExecutionId)>>,
    /// What has changed on each partition, in the order it first did.
    changed: HashMap<u16, Vec<ExecutionId>>,
    pub(crate) beside: Beside,
    pub(crate) waits: Waits,
    pub(crate) flows: Flows,
    pub(crate) hints: Vec<Hint>,
    /// Flows it was told of that something happened in them: once for all that happens in one commit.
    moved: HashSet<FlowId>,
}

impl Desk {
    /// Puts what the store has under an id on the desk. What is there already is as fresh: a batch reads one moment.
    pub(crate) fn lay(&mut self, id: ExecutionId, stored: Stored<Execution>) {
        self.sheets.entry(id).or_insert(Sheet { stored, fate: None });
    }

    /// Whether what the store has under an id is on the desk.
    pub(crate) fn has(&self, id: &ExecutionId) -> bool {
        self.sheets.contains_key(id)
    }

    pub(crate) fn lay_key(&mut self, namespace: Namespace, key: IdempotencyKey, entry: Option<KeyEntry>) {
        self.keys.entry((namespace, key)).or_insert(entry);
    }

    pub(crate) fn lay_waiting(&mut self, wanted: Wanted, list: Shortlist<(Score, ExecutionId)>) {
        self.waiting.insert(wanted, list);
    }

    pub(crate) fn lay_due(&mut self, partition: u16, list: Shortlist<(TimestampMs, ExecutionId)>) {
        self.due.insert(partition, list);
    }

    /// How long a list has to be to answer a query that missed it, at the least.
    pub(crate) fn length_beyond(&self, miss: &Miss) -> usize {
        match miss {
            Miss::Eligible(query) => self.waiting.get(&Wanted::by(query)).map_or(0, Shortlist::limit) + query.limit,
            Miss::Due(query) => self.due.get(&query.partition).map_or(0, Shortlist::limit) + query.limit,
            Miss::DueFlows(query) => self.flows.length_of_due(query) + query.limit,
            Miss::Edges(query) => self.flows.length_of_ends(query) + query.limit,
            Miss::Members(query) => self.flows.length_of_members(query) + query.limit,
            _ => 1,
        }
    }

    /// Why a miss stays one however often it is loaded.
    pub(crate) fn unreadable(&self, miss: &Miss) -> Option<String> {
        match miss {
            Miss::Execution(id) => {
                let why = self.sheets.get(id)?.stored.as_ref().err()?;
                Some(format!("{id}: {why}"))
            }
            Miss::Waitpoint(id, waitpoint) => {
                let why = self.waits.waitpoints.unreadable(&(*id, *waitpoint))?;
                Some(format!("waitpoint {waitpoint} of {id}: {why}"))
            }
            Miss::SuspendKey(id, key) => {
                let why = self.waits.suspend_keys.unreadable(&(*id, key.clone()))?;
                Some(format!("a suspension of {id} under a key: {why}"))
            }
            Miss::SignalKey(id, waitpoint, key) => {
                let why = self.waits.signal_keys.unreadable(&(*id, *waitpoint, key.clone()))?;
                Some(format!("a signal to {id} under a key: {why}"))
            }
            Miss::Ring(partition) => {
                let why = self.waits.rings.unreadable(partition)?;
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
            Miss::All(several) => several.iter().find_map(|miss| self.unreadable(miss)),
            Miss::Key(..)
            | Miss::Eligible(_)
            | Miss::Due(_)
            | Miss::DueFlows(_)
            | Miss::Edges(_)
            | Miss::Members(_) => None,
        }
    }

    /// Takes up what a rule decided.
    pub(crate) fn apply(&mut self, mut change: Change) {
        let id = change.after.id;
        let before = self.current(&id);
        if before == Some(&change.after) && Beside::is_untouched_by(&change) && Waits::is_untouched_by(&change) {
            return;
        }
        let (told, is_new) = (hints(before, &change.after), before.is_none());
        self.hints.extend(told);
        self.hints.extend(delivered(&change));
        self.waits.take(&mut change);
        if let Some(entry) = &change.key {
            self.keys.insert((entry.namespace.clone(), entry.key.clone()), Some(entry.clone()));
        }
        if let Some(membership) = change.after.membership.as_ref().filter(|_| is_new) {
            self.flows.enrol(membership.flow_id, id);
        }
        let after = self.beside.take(change);
        self.decide(id, Fate::Written(Box::new(after)));
    }

    /// Takes up what a rule decided about a flow. The edges into what is to be forgotten are on the desk.
    pub(crate) fn apply_to_flow(&mut self, change: FlowChange) {
        let before = self.flows.flows.find(&change.after.id).flatten();
        let mut told = flow_hints(before, &change);
        told.retain(|hint| !matches!(hint, Hint::FlowMoved { flow_id } if !self.moved.insert(*flow_id)));
        self.hints.extend(told);
        for id in &change.forgotten {
            self.beside.payloads.insert(*id, Write::Remove);
            self.decide(*id, Fate::Forgotten);
        }
        self.flows.take(change);
    }

    /// Every execution that is to be written: as stored, and as it is to be.
    pub(crate) fn rewritten(&self) -> impl Iterator<Item = (Option<&Execution>, &Execution)> {
        self.changed.values().flatten().filter_map(|id| self.sheets.get(id)).filter_map(Sheet::rewritten)
    }

    /// Every execution that is to be deleted.
    pub(crate) fn forgotten(&self) -> impl Iterator<Item = &ExecutionId> {
        self.changed.values().flatten().filter(|id| self.sheets.get(id).is_some_and(Sheet::is_forgotten))
    }

    fn decide(&mut self, id: ExecutionId, fate: Fate) {
        let sheet = self.sheets.entry(id).or_insert(Sheet { stored: Ok(None), fate: None });
        if sheet.fate.replace(fate).is_none() {
            self.changed.entry(id.partition()).or_default().push(id);
        }
    }

    fn current(&self, id: &ExecutionId) -> Option<&Execution> {
        self.sheets.get(id)?.current().ok()?
    }

    fn has_changed(&self, id: &ExecutionId) -> bool {
        self.sheets.get(id).is_some_and(|sheet| sheet.fate.is_some())
    }

    fn changed_on(&self, partition: u16) -> impl Iterator<Item = &Execution> {
        self.changed.get(&partition).into_iter().flatten().filter_map(|id| self.current(id))
    }
}

impl View for Desk {
    fn execution(&self, id: &ExecutionId) -> Result<Option<&Execution>, Miss> {
        let sheet = self.sheets.get(id).ok_or(Miss::Execution(*id))?;
        sheet.current().map_err(|_| Miss::Execution(*id))
    }

    fn key(&self, namespace: &Namespace, key: &IdempotencyKey) -> Result<Option<&KeyEntry>, Miss> {
        let known = self.keys.get(&(namespace.clone(), key.clone()));
        known.map(Option::as_ref).ok_or_else(|| Miss::Key(namespace.clone(), key.clone()))
    }

    fn waitpoint(&self, execution: &ExecutionId, waitpoint: &WaitpointId) -> Result<Option<&Waitpoint>, Miss> {
        let known = self.waits.waitpoints.find(&(*execution, *waitpoint));
        known.ok_or(Miss::Waitpoint(*execution, *waitpoint))
    }

    fn suspend_key(&self, execution: &ExecutionId, key: &IdempotencyKey) -> Result<Option<&SuspendKeyEntry>, Miss> {
        let known = self.waits.suspend_keys.find(&(*execution, key.clone()));
        known.ok_or_else(|| Miss::SuspendKey(*execution, key.clone()))
    }

    fn signal_key(
        &self,
        execution: &ExecutionId,
        waitpoint: &WaitpointId,
        key: &IdempotencyKey,
    ) -> Result<Option<&SignalKeyEntry>, Miss> {
        let known = self.waits.signal_keys.find(&(*execution, *waitpoint, key.clone()));
        known.ok_or_else(|| Miss::SignalKey(*execution, *waitpoint, key.clone()))
    }

    fn ring(&self, partition: u16) -> Result<Option<&KeyRing>, Miss> {
        self.waits.rings.find(&partition).ok_or(Miss::Ring(partition))
    }

    fn eligible(&self, query: &Eligible) -> Result<Vec<ExecutionId>, Miss> {
        let wanted = Wanted::by(query);
        let entered = self.changed_on(query.partition).filter(|execution| {
            execution.phase == Phase::Waiting && wanted.covers(&execution.lane_key(), &execution.kind)
        });
        let entered = entered.map(|execution| (eligible_score(execution.priority, execution.created_at), execution.id));
        let list = self.waiting.get(&wanted);
        let first = list.and_then(|list| list.first(query.limit, |(_, id)| self.has_changed(id), entered));
        let first = first.ok_or_else(|| Miss::Eligible(query.clone()))?;
        Ok(first.into_iter().map(|(_, id)| id).collect())
    }

    fn due(&self, query: &DueFirst) -> Result<Vec<(TimestampMs, ExecutionId)>, Miss> {
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
        let known = self.flows.keys.find(&(*flow, key.clone()));
        known.ok_or_else(|| Miss::FlowKey(*flow, key.clone()))
    }

    fn edges(&self, query: &EdgesOf) -> Result<Vec<EdgeId>, Miss> {
        self.flows.edges_of(query).ok_or(Miss::Edges(*query))
    }

    fn members(&self, query: &MembersOf) -> Result<Vec<ExecutionId>, Miss> {
        let forgotten = |id: &ExecutionId| self.sheets.get(id).is_some_and(Sheet::is_forgotten);
        self.flows.members_of(query, forgotten).ok_or(Miss::Members(*query))
    }

    fn due_flows(&self, query: &DueFirst) -> Result<Vec<(TimestampMs, FlowId)>, Miss> {
        self.flows.due(query).ok_or(Miss::DueFlows(*query))
    }
}
