//! The quotas of the model: policies as stored on partitions, and their usage.

use std::collections::BTreeMap;

use super::Model;
use crate::budget::UsageReportEntry;
use crate::budget::contracts::{BudgetLedgerSums, PendingUsage, UsageBacklogArgs};
use crate::quota::contracts::{HeldSlot, KeyUse, QuotaKeysArgs, QuotaKeysPage, QuotaSlotsArgs, QuotaSlotsPage};
use crate::quota::{QuotaRow, QuotaRowName, QuotaSet, QuotaWrites, SlotRow, SlotState};
use crate::rule::index::Index;
use crate::types::{BudgetId, ExecutionId, IdempotencyKey, Namespace, QuotaPolicyId};

#[derive(Clone, Debug, Default)]
pub(super) struct QuotaRecords {
    pub(super) sets: BTreeMap<(u16, Namespace), QuotaSet>,
    pub(super) rows: BTreeMap<(QuotaPolicyId, QuotaRowName), QuotaRow>,
    pub(super) reports: BTreeMap<(ExecutionId, IdempotencyKey), UsageReportEntry>,
}

impl QuotaRecords {
    /// Remembers a report of usage, so that it counts once.
    pub(super) fn remember_report(&mut self, entry: Option<UsageReportEntry>) {
        self.reports.extend(entry.map(|entry| ((entry.execution_id, entry.report_id.clone()), entry)));
    }

    pub(super) fn forget_reports(&mut self, id: &ExecutionId) {
        self.reports.retain(|(of, _), _| of != id);
    }

    pub(super) fn write(&mut self, writes: QuotaWrites) {
        for (partition, set) in writes.sets {
            self.sets.insert((partition, set.namespace.clone()), set);
        }
        for (policy_id, name, row) in writes.rows {
            match row {
                Some(row) => drop(self.rows.insert((policy_id, name), row)),
                None => drop(self.rows.remove(&(policy_id, name))),
            }
        }
    }
}

impl Model {
    /// Returns the policies of a namespace, as stored at its home.
    pub fn quota_set(&self, home: u16, namespace: &Namespace) -> QuotaSet {
        let known = self.quotas.sets.get(&(home, namespace.clone()));
        known.cloned().unwrap_or_else(|| QuotaSet::empty(namespace.clone()))
    }

    /// Returns the policies and budgets of each namespace, in their newest revision.
    pub fn all_quotas(&self) -> Vec<QuotaSet> {
        let newest = self.quotas.sets.values().fold(BTreeMap::<_, &QuotaSet>::new(), |mut newest, set| {
            let known = newest.entry(&set.namespace).or_insert(set);
            *known = if known.revision < set.revision { set } else { known };
            newest
        });
        newest.into_values().cloned().collect()
    }

    /// Returns a page of the values of a policy's key that are in use.
    pub fn quota_keys(&self, args: &QuotaKeysArgs) -> QuotaKeysPage {
        let of = self.quotas.rows.iter().filter(|((policy_id, _), _)| *policy_id == args.policy_id);
        let used = of.filter_map(|((_, name), row)| match (name, row) {
            (QuotaRowName::Use(key), QuotaRow::Use(usage)) => Some(KeyUse::of(key, usage)),
            _ => None,
        });
        let mut keys: Vec<_> = used.filter(|used| args.after.as_ref().is_none_or(|after| used.key > *after)).collect();
        keys.sort_by(|a, b| a.key.cmp(&b.key));
        let is_more = keys.len() > args.limit;
        keys.truncate(args.limit);
        let next = keys.last().filter(|_| is_more).map(|last| last.key.clone());
        QuotaKeysPage { keys, next }
    }

    /// Returns the balance of a budget at its home, and the sums of its draws.
    pub fn budget_ledger(&self, id: &BudgetId) -> BudgetLedgerSums {
        let policy_id = id.policy_id();
        let of = self.quotas.rows.iter().filter(|((of, _), _)| *of == policy_id);
        BudgetLedgerSums::of(of.map(|(_, row)| row))
    }

    /// Returns executions of a namespace whose usage some budgets may not have counted.
    pub fn usage_backlog(&self, args: &UsageBacklogArgs) -> Vec<ExecutionId> {
        let backlog = Index::UsageBacklog(args.namespace.clone());
        let of = self.indexes.iter().filter(|((_, index), _)| *index == backlog);
        of.flat_map(|(_, members)| members.iter().map(|(_, id)| *id)).take(args.limit).collect()
    }

    /// Returns the usage of an execution that budgets have not counted.
    pub fn pending_usage(&self, id: &ExecutionId) -> Option<PendingUsage> {
        let execution = self.executions.get(id)?;
        PendingUsage::of(execution, self.quotas.sets.get(&(id.partition(), execution.namespace.clone())))
    }

    /// Returns a page of the held slots of a policy.
    pub fn quota_slots(&self, args: &QuotaSlotsArgs) -> QuotaSlotsPage {
        let of = self.quotas.rows.iter().filter(|((policy_id, _), _)| *policy_id == args.policy_id);
        let held = of.filter_map(|((_, name), row)| match (name, row) {
            (QuotaRowName::Slot(key, id), QuotaRow::Slot(SlotRow { epoch, at, state: SlotState::Held { .. }, .. })) => {
                let slot = HeldSlot { key: key.clone(), execution_id: *id, epoch: *epoch, at: *at };
                Some((name.to_string(), slot))
            }
            (QuotaRowName::Slot(key, id), QuotaRow::Draw(draw)) => {
                let SlotRow { epoch, at, state: SlotState::Held { .. }, .. } = draw.slot? else { return None };
                Some((name.to_string(), HeldSlot { key: key.clone(), execution_id: *id, epoch, at }))
            }
            _ => None,
        });
        let mut held: Vec<_> = held.filter(|(name, _)| args.after.as_ref().is_none_or(|after| name > after)).collect();
        held.sort_by(|a, b| a.0.cmp(&b.0));
        let is_more = held.len() > args.limit;
        held.truncate(args.limit);
        let next = held.last().filter(|_| is_more).map(|(name, _)| name.clone());
        QuotaSlotsPage { slots: held.into_iter().map(|(_, slot)| slot).collect(), next }
    }
}
