//! The desk: the records a batch has loaded, with the changes it has made so far on top. Rules read through it, so each
//! operation of a batch sees what those before it did, and nothing is written before all are decided.

mod beside;
mod shelf;
mod shortlist;
mod waits;
mod wanted;

use std::collections::HashMap;

use ff_core::change::{Change, KeyEntry};
use ff_core::execution::{Execution, Phase};
use ff_core::hint::{Hint, delivered, hints};
use ff_core::index::{Score, eligible_score};
use ff_core::signal::SignalKeyEntry;
use ff_core::suspension::{SuspendKeyEntry, Waitpoint};
use ff_core::token::KeyRing;
use ff_core::types::{ExecutionId, IdempotencyKey, Namespace, TimestampMs, WaitpointId};
use ff_core::view::{DueFirst, Eligible, Miss, View};

pub(crate) use beside::Beside;
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
    pub(crate) hints: Vec<Hint>,
}

/// One execution: as stored, and as it is to be.
struct Sheet {
    stored: Stored<Execution>,
    after: Option<Execution>,
}

impl Desk {
    /// Puts what the store has under an id on the desk. What is there already is as fresh: a batch reads one moment.
    pub(crate) fn lay(&mut self, id: ExecutionId, stored: Stored<Execution>) {
        self.sheets.entry(id).or_insert(Sheet { stored, after: None });
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
            Miss::Key(..) | Miss::Eligible(_) | Miss::Due(_) => None,
        }
    }

    /// Takes up what a rule decided.
    pub(crate) fn apply(&mut self, mut change: Change) {
        let id = change.after.id;
        let before = self.current(&id);
        if before == Some(&change.after) && Beside::is_untouched_by(&change) && Waits::is_untouched_by(&change) {
            return;
        }
        let told = hints(before, &change.after);
        self.hints.extend(told);
        self.hints.extend(delivered(&change));
        self.waits.take(&mut change);
        if let Some(entry) = &change.key {
            self.keys.insert((entry.namespace.clone(), entry.key.clone()), Some(entry.clone()));
        }
        let after = self.beside.take(change);
        let sheet = self.sheets.entry(id).or_insert(Sheet { stored: Ok(None), after: None });
        if sheet.after.replace(after).is_none() {
            self.changed.entry(id.partition()).or_default().push(id);
        }
    }

    /// Every execution that is to be written: as stored, and as it is to be.
    pub(crate) fn rewritten(&self) -> impl Iterator<Item = (Option<&Execution>, &Execution)> {
        let sheets = self.changed.values().flatten().filter_map(|id| self.sheets.get(id));
        sheets.filter_map(|sheet| {
            let stored = sheet.stored.as_ref().ok()?.as_ref();
            sheet.after.as_ref().filter(|after| stored != Some(after)).map(|after| (stored, after))
        })
    }

    fn current(&self, id: &ExecutionId) -> Option<&Execution> {
        let sheet = self.sheets.get(id)?;
        sheet.after.as_ref().or(sheet.stored.as_ref().ok()?.as_ref())
    }

    fn has_changed(&self, id: &ExecutionId) -> bool {
        self.sheets.get(id).is_some_and(|sheet| sheet.after.is_some())
    }

    fn changed_on(&self, partition: u16) -> impl Iterator<Item = &Execution> {
        self.changed.get(&partition).into_iter().flatten().filter_map(|id| self.current(id))
    }
}

impl View for Desk {
    fn execution(&self, id: &ExecutionId) -> Result<Option<&Execution>, Miss> {
        match self.sheets.get(id) {
            Some(Sheet { after: Some(after), .. }) => Ok(Some(after)),
            Some(Sheet { stored: Ok(stored), .. }) => Ok(stored.as_ref()),
            Some(Sheet { stored: Err(_), .. }) | None => Err(Miss::Execution(*id)),
        }
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
}
