//! Reads of quotas, on both sides.

use ff_core::contracts::{QuotaKeysArgs, QuotaSlotsArgs};

use super::calls::refusal;
use super::{Comparison, Difference, differ};
use crate::reference::quota::{POLICIES, policy_id};
use crate::reference::vocabulary;
use crate::transition::QUOTA_NAMESPACE;

/// Reads the policies and what is used of each, all of it in pages of a size that changes with every look.
pub(crate) async fn look(comparison: &Comparison, nth: usize) -> Result<(), Difference> {
    let (reference, store, limit) = (&comparison.reference, comparison.store(), 1 + nth % 3);
    let namespace = vocabulary::namespace(QUOTA_NAMESPACE);
    differ("the quotas".into(), &Ok(reference.quota_set()), &refusal(store.quota_set(&namespace).await))?;
    for policy_id in (0..POLICIES).map(policy_id) {
        let mut args = QuotaKeysArgs { policy_id, after: None, limit };
        loop {
            let page = reference.model.quota_keys(&args);
            differ(format!("{args:?}"), &Ok(page.clone()), &refusal(store.quota_keys(args.clone()).await))?;
            args.after = page.next;
            if args.after.is_none() {
                break;
            }
        }
        let args = QuotaSlotsArgs { policy_id, after: None, limit: 50 };
        let page = reference.model.quota_slots(&args);
        differ(format!("{args:?}"), &Ok(page), &refusal(store.quota_slots(args.clone()).await))?;
    }
    Ok(())
}
