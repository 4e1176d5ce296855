//! The domain of quotas, on Valkey.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{
    AdmissionVerdicts, AdmissionsSettled, AdmitArgs, CopyQuotasArgs, DefineQuotaArgs, PutBudgetArgs, PutQuotaArgs,
    QuotaDefined, QuotaKeysArgs, QuotaKeysPage, QuotaSlotsArgs, QuotaSlotsPage, QuotasCopied, SettleAdmissionsArgs,
};
use ff_core::engine_error::{EngineError, Refusal};
use ff_core::keys::quota_namespaces_key;
use ff_core::operation::query::{ListAllQuotas, ReadQuotaSet};
use ff_core::partition::namespace_partition;
use ff_core::quota::QuotaSet;
use ff_core::types::{Namespace, TimestampMs};
use ff_script::budget::{ff_release_budget, ff_reserve_budget};
use ff_script::engine::ff_now;
use ff_script::quota::{
    ff_check_admission_and_record, ff_copy_quotas, ff_create_quota_policy, ff_read_quota_keys, ff_read_quota_slots,
    ff_release_admission, quotas_key,
};
use redis::cmd;

use crate::ValkeyBackend;
use crate::backend::functions;

/// Maximum number of times that a change is repeated because another change came first.
const ATTEMPTS_MAX: usize = 16;

impl ValkeyBackend {
    /// Changes the quotas of a namespace: reads them, changes them here, and writes them over the revision that was
    /// read. Lua would change numbers and empty tables.
    async fn change_quotas(
        &self,
        namespace: &Namespace,
        change: impl Fn(QuotaSet, TimestampMs) -> Result<QuotaSet, Refusal> + Send + Sync,
    ) -> Answer<QuotaSet> {
        let home = namespace_partition(namespace, &self.partitions);
        // Write the directory first, so that no policy is missing from it.
        let index = quota_namespaces_key();
        self.calls.plain(&index, cmd("SADD").arg(&index).arg(namespace.as_str())).await?;
        for _ in 0..ATTEMPTS_MAX {
            let before = self.quota_set(namespace).await?;
            let expected = before.revision;
            let after = change(before, ff_now(&*self.calls, home).await?)?;
            if after.revision == expected {
                return Ok(after);
            }
            let copy = CopyQuotasArgs { partition: home, set: after };
            let known = ff_copy_quotas(&*self.calls, &copy, Some(expected)).await?;
            // Another writer may have stored the same revision; then the stored set is not the written one.
            if known.revision == copy.set.revision && self.quota_set(namespace).await? == copy.set {
                return Ok(copy.set);
            }
        }
        Err(EngineError::Unavailable("the quotas of the namespace change all the time".into()))
    }
}

functions! {
    PutQuotaArgs => QuotaSet: |store, args| store.change_quotas(&args.namespace, |before, now| args.apply(before, now));
    PutBudgetArgs => QuotaSet: |store, args|
        store.change_quotas(&args.namespace, |before, now| args.apply(before, now));
    ReadQuotaSet => QuotaSet: |store, ReadQuotaSet { ref namespace }| store.quota_set(namespace);
    CopyQuotasArgs => QuotasCopied: |store, args| ff_copy_quotas(&*store.calls, &args, None);
    DefineQuotaArgs => QuotaDefined: |store, args| ff_create_quota_policy(&*store.calls, &store.partitions, &args);
    QuotaKeysArgs => QuotaKeysPage: |store, args| ff_read_quota_keys(&*store.calls, &store.partitions, &args);
}

/// A budget gets the same requests as a quota policy, but has its own home and functions.
impl Handle<AdmitArgs, AdmissionVerdicts> for ValkeyBackend {
    async fn handle(&self, args: AdmitArgs) -> Answer<AdmissionVerdicts> {
        match args.policy_id.budget() {
            Some(id) => Ok(ff_reserve_budget(&*self.calls, &self.partitions, &id, &args).await?),
            None => Ok(ff_check_admission_and_record(&*self.calls, &self.partitions, &args).await?),
        }
    }
}

impl Handle<SettleAdmissionsArgs, AdmissionsSettled> for ValkeyBackend {
    async fn handle(&self, args: SettleAdmissionsArgs) -> Answer<AdmissionsSettled> {
        match args.policy_id.budget() {
            Some(id) => Ok(ff_release_budget(&*self.calls, &self.partitions, &id, &args).await?),
            None => Ok(ff_release_admission(&*self.calls, &self.partitions, &args).await?),
        }
    }
}

impl Handle<QuotaSlotsArgs, QuotaSlotsPage> for ValkeyBackend {
    async fn handle(&self, args: QuotaSlotsArgs) -> Answer<QuotaSlotsPage> {
        match args.policy_id.budget() {
            Some(id) => self.held_of_budget(&id, args).await,
            None => Ok(ff_read_quota_slots(&*self.calls, &self.partitions, &args).await?),
        }
    }
}

impl Handle<ListAllQuotas, Vec<QuotaSet>> for ValkeyBackend {
    async fn handle(&self, _: ListAllQuotas) -> Answer<Vec<QuotaSet>> {
        let index = quota_namespaces_key();
        let mut all = Vec::new();
        for namespace in self.calls.members(&index, "names something that is not a namespace").await? {
            all.push(self.quota_set(&namespace).await?);
        }
        Ok(all)
    }
}

impl ValkeyBackend {
    /// Returns the policies of a namespace from its home.
    pub(crate) async fn quota_set(&self, namespace: &Namespace) -> Answer<QuotaSet> {
        let key = quotas_key(namespace_partition(namespace, &self.partitions), namespace);
        Ok(self.stored_quotas(&key).await?.unwrap_or_else(|| QuotaSet::empty(namespace.clone())))
    }

    /// Returns the quotas that a key holds, if there are any.
    pub(crate) async fn stored_quotas(&self, key: &str) -> Answer<Option<QuotaSet>> {
        self.calls.read_json(key, cmd("GET").arg(key), "does not hold quotas").await
    }
}
