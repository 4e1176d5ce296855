//! The desk: the records a batch has loaded, with the changes it has made so far on top. Rules read through it, so each
//! operation of a batch sees what those before it did, and nothing is written before all are decided.

mod beside;
mod flows;
mod kept;
mod known;
mod sheet;
mod shelf;
mod shortlist;
mod telling;
mod view;
mod waits;
mod wanted;

use std::collections::{BTreeSet, HashMap, HashSet};

use ff_core::change::{Change, KeyEntry};
use ff_core::contracts::ClaimArgs;
use ff_core::event::Feed;
use ff_core::execution::{Execution, Phase};
use ff_core::flow::FlowChange;
use ff_core::hint::{Hint, delivered, flow_hints, hints};
use ff_core::index::Score;
use ff_core::key::ApiKey;
use ff_core::payload::Payload;
use ff_core::types::{ExecutionId, FlowId, IdempotencyKey, KeyId, LaneId, Namespace, TimestampMs, WorkerInstanceId};
use ff_core::view::Miss;
use ff_core::worker::{Worker, WorkerChange};

pub(crate) use beside::Beside;
pub(crate) use flows::{Ends, Flows, Members, all_into};
pub use known::Known;
use sheet::{Fate, Sheet};
pub(crate) use shelf::{Shelf, Stored};
pub(crate) use shortlist::Shortlist;
pub(crate) use telling::Telling;
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
    /// What goes, with everything of it, even if something new comes in its place.
    going: BTreeSet<ExecutionId>,
    /// How many of a lane the store has as held on a partition.
    held: HashMap<(u16, LaneId), u32>,
    /// Payloads that came with what waits, or were written a moment ago. What the batch makes of one counts before it.
    pub(crate) small_payloads: HashMap<ExecutionId, Payload>,
    pub(crate) beside: Beside,
    pub(crate) waits: Waits,
    pub(crate) flows: Flows,
    pub(crate) known: Known,
    pub(crate) workers: Shelf<WorkerInstanceId, Worker>,
    pub(crate) api_keys: Shelf<KeyId, ApiKey>,
    pub(crate) telling: Telling,
    pub(crate) hints: Vec<Hint>,
    /// Flows it was told of that something happened in them: once for all that happens in one commit.
    moved: HashSet<FlowId>,
}

impl Desk {
    /// A desk with what is kept in mind.
    pub(crate) fn with(known: Known) -> Self {
        let mut desk = Self { known, ..Self::default() };
        desk.lay_out();
        desk
    }

    /// What is kept in mind once everything on the desk is stored.
    pub(crate) fn settled(mut self) -> Known {
        self.put_by();
        self.known.settled()
    }

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

    pub(crate) fn lay_held(&mut self, partition: u16, lane: LaneId, count: u32) {
        self.held.insert((partition, lane), count);
    }

    pub(crate) fn lay_due(&mut self, partition: u16, list: Shortlist<(TimestampMs, ExecutionId)>) {
        self.due.insert(partition, list);
    }

    /// Everything that is known to wait for a claim.
    pub(crate) fn waiting(&self, claim: &ClaimArgs) -> impl Iterator<Item = &ExecutionId> {
        let lists = self.waiting.iter().filter(|(wanted, _)| wanted.is_for(claim));
        lists.flat_map(|(_, list)| list.members()).map(|(_, id)| id)
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
            Miss::Lane(partition, lane) => {
                let why = self.known.lanes.unreadable(&(*partition, lane.clone()))?;
                Some(format!("lane {lane} on partition {partition}: {why}"))
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
                let why = self.known.feeds.unreadable(partition)?;
                Some(format!("the feed of partition {partition}: {why}"))
            }
            Miss::All(several) => several.iter().find_map(|miss| self.unreadable(miss)),
            Miss::Key(..)
            | Miss::Active(..)
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
        if self.telling.tell(&self.known, &change) {
            self.hints.push(Hint::EventTold { partition: id.partition() });
        }
        let before = self.current(&id);
        if before == Some(&change.after) && Beside::is_untouched_by(&change) && Waits::is_untouched_by(&change) {
            return;
        }
        let (told, is_new) = (hints(before, &change.after), before.is_none());
        self.hints.extend(told);
        self.hints.extend(delivered(&change));
        self.known.see(&change.after);
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
        change.forgotten.iter().for_each(|id| self.forget(*id));
        self.flows.take(change);
    }

    /// Takes up that an execution goes, with everything of it. Whose key it is, is on the desk.
    pub(crate) fn forget(&mut self, id: ExecutionId) {
        if let Some(name) = self.current(&id).and_then(key_name)
            && let Some(Some(entry)) = self.keys.get(&name)
            && entry.execution_id == id
        {
            self.beside.free(entry.clone());
            self.keys.insert(name, None);
        }
        self.beside.forget(&id);
        self.waits.forget(&id);
        self.going.insert(id);
        self.decide(id, Fate::Forgotten);
    }

    /// Takes up what becomes of a worker instance.
    pub(crate) fn apply_to_worker(&mut self, change: WorkerChange) {
        match change {
            WorkerChange::Put(worker) => self.workers.write(worker.worker_instance_id.clone(), worker),
            WorkerChange::Remove { worker_instance_id, .. } => self.workers.remove(worker_instance_id),
        }
    }

    /// Takes up how a partition is to tell what happens on it.
    pub(crate) fn follow(&mut self, partition: u16, feed: Feed) {
        self.telling.follow(&mut self.known, partition, feed);
    }

    /// Every execution that is to be written: as stored, and as it is to be.
    pub(crate) fn rewritten(&self) -> impl Iterator<Item = (Option<&Execution>, &Execution)> {
        self.changed.values().flatten().filter_map(|id| self.sheets.get(id)).filter_map(Sheet::rewritten)
    }

    /// Every execution that goes, as the store has it.
    pub(crate) fn going(&self) -> impl Iterator<Item = (&ExecutionId, Option<&Execution>)> {
        self.going.iter().map(|id| (id, self.sheets.get(id).and_then(Sheet::stored)))
    }

    /// Whether an execution goes, or went and something new came in its place.
    pub(crate) fn is_going(&self, id: &ExecutionId) -> bool {
        self.going.contains(id)
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

    /// What of a partition has changed, as stored and as it stands now.
    fn changes_on(&self, partition: u16) -> impl Iterator<Item = (Option<&Execution>, Option<&Execution>)> {
        let sheets = self.changed.get(&partition).into_iter().flatten().filter_map(|id| self.sheets.get(id));
        sheets.map(|sheet| (sheet.stored(), sheet.current().ok().flatten()))
    }

    /// What the batch has made wait on a list.
    fn entered(&self, wanted: &Wanted) -> impl Iterator<Item = (Score, ExecutionId)> {
        let waits = self.changed_on(wanted.partition).filter(|execution| {
            execution.phase == Phase::Waiting && wanted.covers(&execution.lane_key(), &execution.kind)
        });
        waits.map(|execution| (wanted.score(execution.priority, execution.created_at), execution.id))
    }

    fn changed_on(&self, partition: u16) -> impl Iterator<Item = &Execution> {
        self.changed.get(&partition).into_iter().flatten().filter_map(|id| self.current(id))
    }
}

/// The name of the key an execution was submitted under.
fn key_name(execution: &Execution) -> Option<(Namespace, IdempotencyKey)> {
    Some((execution.namespace.clone(), execution.idempotency_key.clone()?))
}
