//! The usage of a policy, in rows: one record per value of its key, its admissions in the window, its slots, and the
//! executions that wait for a slot. Each row is found by its name, so a rule never scans rows.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{QuotaPolicy, QuotaWrites, Rate};
use crate::budget::{Balance, Budget, Draw};
use crate::limits;
use crate::operation::command::Decision;
use crate::rule::view::{Miss, View, require_all};
use crate::types::{ClaimId, ExecutionId, LeaseEpoch, QuotaPolicyId, TimestampMs};

/// The name of a row at the home of a policy.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum QuotaRowName {
    /// The definition of the policy or of the budget.
    Policy,
    /// The balance of a budget.
    Balance,
    /// The usage under one value of the policy's key.
    Use(String),
    /// An admission, by its number.
    Admission(String, u64),
    /// The slot of an execution, or its place in the queue.
    Slot(String, ExecutionId),
    /// An execution that waits for a slot, by its number.
    Waiter(String, u64),
}

/// A row at the home of a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuotaRow {
    Policy {
        revision: u64,
        policy: Option<QuotaPolicy>,
    },
    Use(QuotaUse),
    Admission {
        at: TimestampMs,
    },
    Slot(SlotRow),
    Waiter {
        execution_id: ExecutionId,
        epoch: LeaseEpoch,
    },
    Budget {
        revision: u64,
        budget: Option<Box<Budget>>,
    },
    Balance(Box<Balance>),
    /// The draw of an execution on a budget, under its kind.
    Draw(Box<Draw>),
    /// An execution that waits for a budget.
    BudgetWaiter {
        key: String,
        execution_id: ExecutionId,
        epoch: LeaseEpoch,
    },
    /// An execution that draws on a budget, by its number.
    DrawLogEntry {
        key: String,
        execution_id: ExecutionId,
        at: TimestampMs,
    },
}

/// The slot of an execution, or its place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotRow {
    pub epoch: LeaseEpoch,
    /// Time at which this state began.
    pub at: TimestampMs,
    pub state: SlotState,
    /// The claim for which the slot is reserved; `None` when it is for the next claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim_id: Option<ClaimId>,
}

/// The state of an execution's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotState {
    /// The execution has a slot. `admission` is the number of its admission, if the policy has a rate.
    Held { admission: Option<u64> },
    /// The execution waits for a slot, under this number.
    Waiting { place: u64 },
}

/// The usage under one value of a policy's key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaUse {
    /// Numbers of admissions: the lowest that may still exist, and the next to assign.
    pub first: u64,
    pub next: u64,
    /// Admissions in the window.
    pub in_window: u64,
    /// Number of executions that got a retry time from the window and have not used it yet.
    pub promised: u64,
    /// Slots in use.
    pub slots: u64,
    /// Numbers of waiting executions: the lowest that may still exist, and the next to assign.
    pub first_waiter: u64,
    pub next_waiter: u64,
}

impl QuotaUse {
    /// Returns an upper bound of the executions that wait for a slot.
    pub fn waiting(&self) -> u64 {
        self.next_waiter - self.first_waiter
    }

    fn is_idle(&self) -> bool {
        self.in_window == 0 && self.slots == 0 && self.waiting() == 0
    }
}

/// Names begin with the kind of the row, so that rows of one kind sort together and can be listed.
impl fmt::Display for QuotaRowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy => f.write_str("policy"),
            Self::Balance => f.write_str("balance"),
            Self::Use(key) => write!(f, "use/{key}"),
            Self::Admission(key, seq) => write!(f, "admission/{key}/{seq}"),
            Self::Slot(key, id) => write!(f, "slot/{key}/{id}"),
            Self::Waiter(key, place) => write!(f, "waiter/{key}/{place}"),
        }
    }
}

/// An execution to be claimed.
#[derive(Clone, Copy)]
pub(super) struct Claimant {
    pub(super) execution_id: ExecutionId,
    pub(super) epoch: LeaseEpoch,
    pub(super) claim_id: Option<ClaimId>,
}

/// The rows of a policy, overlaid with the changes of one command.
pub(crate) struct Ledger<'v> {
    view: &'v dyn View,
    policy_id: QuotaPolicyId,
    touched: BTreeMap<QuotaRowName, Option<QuotaRow>>,
}

impl<'v> Ledger<'v> {
    pub(crate) fn of(view: &'v dyn View, policy_id: QuotaPolicyId) -> Self {
        Self { view, policy_id, touched: BTreeMap::new() }
    }

    /// Requires several rows, so that missing rows are loaded together.
    pub(crate) fn require(&self, names: impl IntoIterator<Item = QuotaRowName>) -> Result<(), Miss> {
        require_all(names.into_iter().map(|name| self.view.quota_row(&self.policy_id, &name).map(drop)))
    }

    pub(crate) fn row(&self, name: &QuotaRowName) -> Result<Option<&QuotaRow>, Miss> {
        match self.touched.get(name) {
            Some(touched) => Ok(touched.as_ref()),
            None => self.view.quota_row(&self.policy_id, name),
        }
    }

    pub(crate) fn put(&mut self, name: QuotaRowName, row: QuotaRow) {
        self.touched.insert(name, Some(row));
    }

    pub(crate) fn remove(&mut self, name: QuotaRowName) {
        self.touched.insert(name, None);
    }

    /// Returns the revision that the home knows, with the policy unless it was deleted.
    pub(super) fn definition(&self) -> Result<Option<(u64, Option<QuotaPolicy>)>, Miss> {
        Ok(match self.row(&QuotaRowName::Policy)? {
            Some(QuotaRow::Policy { revision, policy }) => Some((*revision, policy.clone())),
            _ => None,
        })
    }

    pub(super) fn usage(&self, key: &str) -> Result<QuotaUse, Miss> {
        Ok(match self.row(&QuotaRowName::Use(key.to_owned()))? {
            Some(QuotaRow::Use(usage)) => *usage,
            _ => QuotaUse::default(),
        })
    }

    /// Writes the usage of a key. The row of a key without usage is removed.
    pub(super) fn put_usage(&mut self, key: &str, usage: QuotaUse) {
        let name = QuotaRowName::Use(key.to_owned());
        if usage.is_idle() { self.remove(name) } else { self.put(name, QuotaRow::Use(usage)) }
    }

    pub(super) fn slot(&self, key: &str, id: &ExecutionId) -> Result<Option<SlotRow>, Miss> {
        Ok(match self.row(&QuotaRowName::Slot(key.to_owned(), *id))? {
            Some(QuotaRow::Slot(slot)) => Some(*slot),
            _ => None,
        })
    }

    fn admitted_at(&self, key: &str, seq: u64) -> Result<Option<TimestampMs>, Miss> {
        Ok(match self.row(&QuotaRowName::Admission(key.to_owned(), seq))? {
            Some(QuotaRow::Admission { at }) => Some(*at),
            _ => None,
        })
    }

    /// Removes a bounded number of admissions that have left the window. Those that are not removed yet still count.
    pub(super) fn trim(
        &mut self,
        key: &str,
        usage: &mut QuotaUse,
        rate: Option<Rate>,
        now: TimestampMs,
    ) -> Result<(), Miss> {
        let window_ms = rate.map_or(0, |rate| rate.window_ms);
        let last = usage.next.min(usage.first + limits::QUOTA_STEP as u64);
        self.require((usage.first..last).map(|seq| QuotaRowName::Admission(key.to_owned(), seq)))?;
        while usage.first < last {
            match self.admitted_at(key, usage.first)? {
                Some(at) if at + window_ms > now => break,
                Some(_) => {
                    self.remove(QuotaRowName::Admission(key.to_owned(), usage.first));
                    usage.in_window -= 1;
                    usage.promised = usage.promised.saturating_sub(1);
                }
                None => {}
            }
            usage.first += 1;
        }
        Ok(())
    }

    /// Gives an execution a slot, and counts its admission if the policy has a rate.
    pub(super) fn hold(
        &mut self,
        key: &str,
        usage: &mut QuotaUse,
        claimant: Claimant,
        rate: Option<Rate>,
        at: TimestampMs,
    ) {
        let admission = rate.map(|_| self.count(key, usage, at));
        usage.slots += 1;
        self.put_slot(key, claimant, SlotState::Held { admission }, at);
    }

    /// Counts an admission in the window, and returns its number.
    pub(super) fn count(&mut self, key: &str, usage: &mut QuotaUse, at: TimestampMs) -> u64 {
        let seq = usage.next;
        self.put(QuotaRowName::Admission(key.to_owned(), seq), QuotaRow::Admission { at });
        (usage.next, usage.in_window) = (usage.next + 1, usage.in_window + 1);
        seq
    }

    pub(super) fn put_slot(&mut self, key: &str, claimant: Claimant, state: SlotState, at: TimestampMs) {
        let Claimant { execution_id, epoch, claim_id } = claimant;
        let row = QuotaRow::Slot(SlotRow { epoch, at, state, claim_id });
        self.put(QuotaRowName::Slot(key.to_owned(), execution_id), row);
    }

    /// Adds an execution to the queue for a slot, at its previous place if it has one.
    pub(super) fn enqueue(
        &mut self,
        key: &str,
        usage: &mut QuotaUse,
        claimant: Claimant,
        place: Option<u64>,
        at: TimestampMs,
    ) {
        let Claimant { execution_id, epoch, .. } = claimant;
        let place = place.unwrap_or_else(|| {
            usage.next_waiter += 1;
            usage.next_waiter - 1
        });
        self.put(QuotaRowName::Waiter(key.to_owned(), place), QuotaRow::Waiter { execution_id, epoch });
        self.put_slot(key, Claimant { claim_id: None, ..claimant }, SlotState::Waiting { place }, at);
    }

    /// Releases the slot or the queue place of an execution. Releasing an unused slot also removes its admission.
    pub(super) fn release(
        &mut self,
        key: &str,
        usage: &mut QuotaUse,
        id: ExecutionId,
        state: SlotState,
        is_unused: bool,
    ) -> Result<(), Miss> {
        match state {
            SlotState::Held { admission } => {
                usage.slots -= 1;
                if let Some(seq) = admission.filter(|_| is_unused)
                    && self.admitted_at(key, seq)?.is_some()
                {
                    self.remove(QuotaRowName::Admission(key.to_owned(), seq));
                    usage.in_window -= 1;
                }
            }
            SlotState::Waiting { place } => self.remove(QuotaRowName::Waiter(key.to_owned(), place)),
        }
        self.remove(QuotaRowName::Slot(key.to_owned(), id));
        Ok(())
    }

    /// Removes and returns the first execution in the queue. Examines at most `looks` places.
    pub(super) fn next_waiter(
        &mut self,
        key: &str,
        usage: &mut QuotaUse,
        looks: &mut u64,
    ) -> Result<Option<(ExecutionId, LeaseEpoch)>, Miss> {
        while usage.first_waiter < usage.next_waiter && *looks > 0 {
            let name = QuotaRowName::Waiter(key.to_owned(), usage.first_waiter);
            let waiter = match self.row(&name)? {
                Some(QuotaRow::Waiter { execution_id, epoch }) => Some((*execution_id, *epoch)),
                _ => None,
            };
            (usage.first_waiter, *looks) = (usage.first_waiter + 1, *looks - 1);
            if let Some((id, epoch)) = waiter {
                self.remove(name);
                self.remove(QuotaRowName::Slot(key.to_owned(), id));
                return Ok(Some((id, epoch)));
            }
        }
        Ok(None)
    }

    /// Returns when a full window has room for one more admission, after all earlier promises: counted admissions leave
    /// the window one by one, and each of them makes room for one.
    pub(super) fn promise(&self, key: &str, usage: &mut QuotaUse, rate: Rate) -> Result<TimestampMs, Miss> {
        let count = usage.next - usage.first;
        let nth = usage.promised;
        usage.promised += 1;
        let of = |seq| self.admitted_at(key, seq);
        let leaves = match of(usage.first + nth % count.max(1))? {
            Some(at) => at,
            None => of(usage.first)?.unwrap_or_default(),
        };
        Ok(leaves + rate.window_ms.saturating_mul(1 + nth / count.max(1)))
    }

    pub(crate) fn into_decision<R>(self, reply: R) -> Decision<R> {
        let policy_id = self.policy_id;
        let rows = self.touched.into_iter().map(|(name, row)| (policy_id, name, row)).collect();
        Decision::about_quotas(reply, QuotaWrites { sets: Vec::new(), rows })
    }
}
