//! The ledger of a budget: its balance, the draw of each execution, and the waiting executions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Amounts, Budget, Period};
use crate::limits;
use crate::operation::command::Decision;
use crate::quota::{Ledger, QuotaRow, QuotaRowName, SlotRow, SlotState};
use crate::rule::view::{Miss, View};
use crate::types::{BudgetId, ClaimId, Dimension, ExecutionId, LeaseEpoch, TimestampMs};

/// The balance of a budget.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Balance {
    pub period: Period,
    /// Spent within the period.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub used: Amounts,
    /// Reserved for executions that run or are about to start.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reserved: Amounts,
    /// Spent since the budget was created.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spent: Amounts,
    /// The part of `spent` that no draw accounts for: the sum of deleted draws, less usage from before a draw began.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub folded: BTreeMap<Dimension, i64>,
    /// The first report that exceeded a soft limit within the period.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub crossings: BTreeMap<Dimension, SoftCrossing>,
    /// Places of waiting executions: the first that may be occupied, and the next to assign.
    pub first_waiter: u64,
    pub next_waiter: u64,
    /// Numbers of draws in the order in which they began: the first that may exist, and the next to assign.
    pub first_draw: u64,
    pub next_draw: u64,
}

/// The report that exceeded a soft limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SoftCrossing {
    pub execution_id: ExecutionId,
    pub seq: u64,
}

/// An execution's share of a budget: its reservation and its counted usage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draw {
    /// Its reservation, or its place among the waiting executions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<SlotRow>,
    /// The unused rest of its reservation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reserved: Amounts,
    /// Number of its reports that are counted; `seen` is their total.
    #[serde(default)]
    pub seq: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seen: Amounts,
    /// When the last report was counted.
    #[serde(default)]
    pub at: TimestampMs,
}

impl Balance {
    /// Returns an upper bound on the number of waiting executions.
    pub fn waiting(&self) -> u64 {
        self.next_waiter - self.first_waiter
    }

    fn taken(&self, dimension: &Dimension) -> u64 {
        amount(&self.used, dimension).saturating_add(amount(&self.reserved, dimension))
    }

    /// Returns the first dimension without room for a need, with its used and reserved amount and its limit. A need of
    /// zero counts as one, so that an exhausted budget has no room.
    pub(super) fn lacks(&self, budget: &Budget, need: &Amounts) -> Option<(Dimension, u64, u64)> {
        budget.definition.limits.iter().find_map(|(dimension, limit)| {
            let (hard, taken) = (limit.hard?, self.taken(dimension));
            let is_over = taken.saturating_add(amount(need, dimension).max(1)) > hard;
            is_over.then(|| (dimension.clone(), taken, hard))
        })
    }
}

pub(super) fn amount(amounts: &Amounts, dimension: &Dimension) -> u64 {
    amounts.get(dimension).copied().unwrap_or(0)
}

/// Adds to an amount, at most up to [`limits::AMOUNT_MAX`].
pub(super) fn add(amounts: &mut Amounts, dimension: &Dimension, more: u64) {
    if more > 0 {
        let sum = amounts.entry(dimension.clone()).or_default();
        *sum = sum.saturating_add(more).min(limits::AMOUNT_MAX);
    }
}

/// Subtracts from an amount, at most down to zero.
pub(super) fn take(amounts: &mut Amounts, dimension: &Dimension, less: u64) {
    if let Some(left) = amounts.get_mut(dimension) {
        *left = left.saturating_sub(less);
        if *left == 0 {
            amounts.remove(dimension);
        }
    }
}

/// Changes the part of a sum that no draw accounts for.
pub(super) fn fold(folded: &mut BTreeMap<Dimension, i64>, dimension: &Dimension, by: i64) {
    let sum = folded.get(dimension).copied().unwrap_or(0) + by;
    if sum == 0 {
        folded.remove(dimension);
    } else {
        folded.insert(dimension.clone(), sum);
    }
}

/// The rows of a budget, with the changes of one command applied.
pub(super) struct BudgetLedger<'v> {
    rows: Ledger<'v>,
}

impl<'v> BudgetLedger<'v> {
    pub(super) fn of(view: &'v dyn View, id: BudgetId) -> Self {
        Self { rows: Ledger::of(view, id.policy_id()) }
    }

    /// Requires the budget, its balance and some draws, so that they are loaded together.
    pub(super) fn require(&self, draws: impl IntoIterator<Item = QuotaRowName>) -> Result<(), Miss> {
        self.rows.require(draws.into_iter().chain([QuotaRowName::Policy, QuotaRowName::Balance]))
    }

    /// Returns the stored revision and the budget; the budget is `None` if it was deleted.
    pub(super) fn definition(&self) -> Result<Option<(u64, Option<Budget>)>, Miss> {
        Ok(match self.rows.row(&QuotaRowName::Policy)? {
            Some(QuotaRow::Budget { revision, budget }) => Some((*revision, budget.as_deref().cloned())),
            _ => None,
        })
    }

    pub(super) fn put_definition(&mut self, revision: u64, budget: Option<Budget>) {
        self.rows.put(QuotaRowName::Policy, QuotaRow::Budget { revision, budget: budget.map(Box::new) });
    }

    /// Returns the balance in the present period; a new period begins with nothing used.
    pub(super) fn balance(&self, budget: Option<&Budget>, now: TimestampMs) -> Result<Balance, Miss> {
        let mut balance = match self.rows.row(&QuotaRowName::Balance)? {
            Some(QuotaRow::Balance(balance)) => (**balance).clone(),
            _ => Balance::default(),
        };
        if let Some(budget) = budget {
            let period = budget.definition.reset.period_at(budget.created_at, now);
            if balance.period.from < period.from || balance.period.until != period.until {
                if balance.period.from < period.from {
                    balance.used.clear();
                    balance.crossings.clear();
                }
                balance.period = period;
            }
        }
        Ok(balance)
    }

    pub(super) fn put_balance(&mut self, balance: Balance) {
        self.rows.put(QuotaRowName::Balance, QuotaRow::Balance(Box::new(balance)));
    }

    pub(super) fn draw(&self, kind: &str, id: &ExecutionId) -> Result<Draw, Miss> {
        Ok(match self.rows.row(&QuotaRowName::Slot(kind.to_owned(), *id))? {
            Some(QuotaRow::Draw(draw)) => (**draw).clone(),
            _ => Draw::default(),
        })
    }

    /// Writes the draw of an execution. A draw without a reservation and without counted usage is not kept.
    pub(super) fn put_draw(&mut self, kind: &str, id: ExecutionId, draw: Draw) {
        let name = QuotaRowName::Slot(kind.to_owned(), id);
        if draw.slot.is_none() && draw.seq == 0 {
            self.rows.remove(name);
        } else {
            self.rows.put(name, QuotaRow::Draw(Box::new(draw)));
        }
    }

    /// Reserves an estimate for an execution.
    pub(super) fn hold(&mut self, balance: &mut Balance, kind: &str, who: Claimant, need: Amounts, at: TimestampMs) {
        for (dimension, amount) in &need {
            add(&mut balance.reserved, dimension, *amount);
        }
        let Claimant { mut draw, execution_id, epoch, claim_id } = who;
        draw.slot = Some(SlotRow { epoch, at, state: SlotState::Held { admission: None }, claim_id });
        draw.reserved = need.into_iter().filter(|(_, amount)| *amount > 0).collect();
        self.put_draw(kind, execution_id, draw);
    }

    /// Adds an execution to the line of waiting ones, at `place` if it already has one.
    pub(super) fn enqueue(
        &mut self,
        balance: &mut Balance,
        kind: &str,
        who: Claimant,
        place: Option<u64>,
        at: TimestampMs,
    ) {
        let place = place.unwrap_or_else(|| {
            balance.next_waiter += 1;
            balance.next_waiter - 1
        });
        let Claimant { mut draw, execution_id, epoch, .. } = who;
        let row = QuotaRow::BudgetWaiter { key: kind.to_owned(), execution_id, epoch };
        self.rows.put(QuotaRowName::Waiter(String::new(), place), row);
        draw.slot = Some(SlotRow { epoch, at, state: SlotState::Waiting { place }, claim_id: None });
        self.put_draw(kind, execution_id, draw);
    }

    /// Removes the reservation or the place of an execution.
    pub(super) fn give_up(&mut self, balance: &mut Balance, draw: &mut Draw) {
        if let Some(SlotRow { state: SlotState::Waiting { place }, .. }) = draw.slot.take() {
            self.rows.remove(QuotaRowName::Waiter(String::new(), place));
        }
        for (dimension, amount) in std::mem::take(&mut draw.reserved) {
            take(&mut balance.reserved, &dimension, amount);
        }
    }

    /// Returns the first waiting executions, from as many places as one call reads.
    pub(super) fn line(&self, balance: &Balance) -> Result<Vec<(u64, String, ExecutionId, LeaseEpoch)>, Miss> {
        let last = balance.next_waiter.min(balance.first_waiter + limits::QUOTA_STEP as u64);
        let name = |place| QuotaRowName::Waiter(String::new(), place);
        self.rows.require((balance.first_waiter..last).map(name))?;
        let mut line = Vec::new();
        for place in balance.first_waiter..last {
            if let Some(QuotaRow::BudgetWaiter { key, execution_id, epoch }) = self.rows.row(&name(place))? {
                line.push((place, key.clone(), *execution_id, *epoch));
            }
        }
        Ok(line)
    }

    /// Moves the start of the line past empty places.
    pub(super) fn trim_queue(&self, balance: &mut Balance) -> Result<(), Miss> {
        let last = balance.next_waiter.min(balance.first_waiter + limits::QUOTA_STEP as u64);
        let name = |place| QuotaRowName::Waiter(String::new(), place);
        while balance.first_waiter < last && self.rows.row(&name(balance.first_waiter))?.is_none() {
            balance.first_waiter += 1;
        }
        Ok(())
    }

    /// Logs that an execution began to draw.
    pub(super) fn log_draw(&mut self, balance: &mut Balance, kind: &str, execution_id: ExecutionId, at: TimestampMs) {
        let row = QuotaRow::DrawLogEntry { key: kind.to_owned(), execution_id, at };
        self.rows.put(QuotaRowName::Admission(String::new(), balance.next_draw), row);
        balance.next_draw += 1;
    }

    /// Deletes the oldest draws that have counted nothing for as long as a report may be repeated, a bounded number per
    /// call. A draw that is still in use is logged again as the newest.
    pub(super) fn forget_draws(&mut self, balance: &mut Balance, now: TimestampMs) -> Result<(), Miss> {
        for _ in 0..limits::BUDGET_DRAWS_FORGOTTEN {
            if balance.first_draw >= balance.next_draw {
                break;
            }
            let name = QuotaRowName::Admission(String::new(), balance.first_draw);
            let Some(QuotaRow::DrawLogEntry { key, execution_id, at }) = self.rows.row(&name)?.cloned() else { break };
            if at + limits::USAGE_REMEMBERED_MS > now {
                break;
            }
            let draw = self.draw(&key, &execution_id)?;
            self.rows.remove(name);
            balance.first_draw += 1;
            if draw.slot.is_some() || draw.at + limits::USAGE_REMEMBERED_MS > now {
                self.log_draw(balance, &key, execution_id, now);
                continue;
            }
            for (dimension, amount) in &draw.seen {
                fold(&mut balance.folded, dimension, i64::try_from(*amount).unwrap_or(i64::MAX));
            }
            self.put_draw(&key, execution_id, Draw::default());
        }
        Ok(())
    }

    pub(super) fn into_decision<R>(self, reply: R) -> Decision<R> {
        self.rows.into_decision(reply)
    }
}

/// An execution that is to be claimed, with its draw.
pub(super) struct Claimant {
    pub(super) draw: Draw,
    pub(super) execution_id: ExecutionId,
    pub(super) epoch: LeaseEpoch,
    pub(super) claim_id: Option<ClaimId>,
}
