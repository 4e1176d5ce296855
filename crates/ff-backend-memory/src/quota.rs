//! The domain of quotas, over the model.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{QuotaKeysArgs, QuotaKeysPage, QuotaSlotsArgs, QuotaSlotsPage};
use ff_core::partition::namespace_partition;
use ff_core::query::{ListAllQuotas, ReadQuotaSet};
use ff_core::quota::QuotaSet;

use crate::MemoryBackend;

impl Handle<ReadQuotaSet, QuotaSet> for MemoryBackend {
    async fn handle(&self, ReadQuotaSet { ref namespace }: ReadQuotaSet) -> Answer<QuotaSet> {
        Ok(self.model()?.quota_set(namespace_partition(namespace, &self.partitions), namespace))
    }
}

impl Handle<ListAllQuotas, Vec<QuotaSet>> for MemoryBackend {
    async fn handle(&self, _: ListAllQuotas) -> Answer<Vec<QuotaSet>> {
        Ok(self.model()?.all_quotas())
    }
}

impl Handle<QuotaKeysArgs, QuotaKeysPage> for MemoryBackend {
    async fn handle(&self, args: QuotaKeysArgs) -> Answer<QuotaKeysPage> {
        Ok(self.model()?.quota_keys(&args))
    }
}

impl Handle<QuotaSlotsArgs, QuotaSlotsPage> for MemoryBackend {
    async fn handle(&self, args: QuotaSlotsArgs) -> Answer<QuotaSlotsPage> {
        Ok(self.model()?.quota_slots(&args))
    }
}
