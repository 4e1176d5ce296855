//! The domain of quotas, over the model.

use ff_core::contracts::{QuotaKeysArgs, QuotaKeysPage, QuotaSlotsArgs, QuotaSlotsPage};
use ff_core::operation::query::{ListAllQuotas, ReadQuotaSet};
use ff_core::partition::namespace_partition;
use ff_core::quota::QuotaSet;

use crate::reads;

reads! {
    ReadQuotaSet => QuotaSet:
        |store, query| store.model()?.quota_set(namespace_partition(&query.namespace, &store.partitions), &query.namespace);
    ListAllQuotas => Vec<QuotaSet>: |store, _| store.model()?.all_quotas();
    QuotaKeysArgs => QuotaKeysPage: |store, query| store.model()?.quota_keys(&query);
    QuotaSlotsArgs => QuotaSlotsPage: |store, query| store.model()?.quota_slots(&query);
}
