//! Reads of quotas, on both sides.

use std::collections::BTreeMap;

use ff_core::contracts::{QuotaKeysArgs, QuotaSlotsArgs};
use ff_core::limits;

use super::calls::refusal;
use super::{Comparison, Difference, differ};
use crate::reference::quota::{POLICIES, policy_id};
use crate::reference::vocabulary;
use crate::transition::QUOTA_NAMESPACE;

/// Reads the policies and what is used of each. How much comes in a page is a store's own, so whole readings are compared, in pages of
/// a size that changes with every look.
pub(crate) async fn look(comparison: &Comparison, nth: usize) -> Result<(), Difference> {
    let (reference, store, limit) = (&comparison.reference, comparison.store(), 1 + nth % 3);
    let namespace = vocabulary::namespace(QUOTA_NAMESPACE);
    differ("the quotas".into(), &Ok(reference.quota_set()), &refusal(store.quota_set(&namespace).await))?;
    for policy_id in (0..POLICIES).map(policy_id) {
        let (mut used, mut after) = (BTreeMap::new(), None);
        loop {
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
