//! Compares the reads of quotas.

use std::collections::{BTreeMap, BTreeSet};

use super::calls::refusal;
use super::{Comparison, Difference, differ};
use crate::prelude::*;
use crate::reference::quota::{POLICIES, policy_id, the_budget};
use crate::reference::vocabulary;
use crate::transition::QUOTA_NAMESPACE;

/// Compares the policies, the budget and the use of each policy. Page sizes differ between stores, so complete readings
/// are compared. The page limit changes with every look.
pub(crate) async fn look(comparison: &Comparison, nth: usize) -> Result<(), Difference> {
    let (reference, store, limit) = (&comparison.reference, comparison.store(), 1 + nth % 3);
    let namespace = vocabulary::namespace(QUOTA_NAMESPACE);
    differ("the quotas".into(), &Ok(reference.quota_set()), &refusal(store.quota_set(&namespace).await))?;
    let read = ReadBudgetLedger { budget_id: the_budget(), with_draws: true };
    let balance = |mut sums: BudgetLedgerSums| {
        // The numbering of draws is internal to each store.
        (sums.balance.first_draw, sums.balance.next_draw) = (0, 0);
        sums
    };
    let ours = balance(reference.model.budget_ledger(&the_budget()));
    assert_eq!(ours.faults(), Vec::<String>::new(), "what was spent is what was reported");
    differ("the budget".into(), &Ok(ours), &refusal(store.budget_ledger(read).await).map(balance))?;
    let backlog = UsageBacklogArgs { namespace: namespace.clone(), limit: limits::PAGE };
    let sorted = |ids: Vec<ExecutionId>| ids.into_iter().collect::<BTreeSet<_>>();
    let owed = sorted(reference.model.usage_backlog(&backlog));
    differ("usage that is owed".into(), &Ok(owed), &refusal(store.usage_backlog(backlog).await).map(sorted))?;
    for policy_id in (0..POLICIES).map(policy_id) {
        let (mut used, mut after) = (BTreeMap::new(), None);
        loop {
            if policy_id.budget().is_some() {
                break;
            }
            let page = refusal(store.quota_keys(QuotaKeysArgs { policy_id, after, limit }).await).unwrap();
            used.extend(page.keys.into_iter().map(|used| (used.key.clone(), used)));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let all = QuotaKeysArgs { policy_id, after: None, limit: limits::PAGE };
        let keys = reference.model.quota_keys(&all).keys.into_iter().map(|used| (used.key.clone(), used)).collect();
        differ(format!("what is used of {policy_id}"), &keys, &used)?;
        let (mut held, mut after) = (BTreeMap::new(), None);
        loop {
            let page = refusal(store.quota_slots(QuotaSlotsArgs { policy_id, after, limit }).await).unwrap();
            held.extend(page.slots.into_iter().map(|slot| ((slot.key.clone(), slot.execution_id), slot)));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let all = QuotaSlotsArgs { policy_id, after: None, limit: limits::PAGE };
        let slots = reference.model.quota_slots(&all).slots.into_iter();
        let slots = slots.map(|slot| ((slot.key.clone(), slot.execution_id), slot)).collect();
        differ(format!("the slots of {policy_id}"), &slots, &held)?;
    }
    Ok(())
}
