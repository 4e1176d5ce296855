//! The domain of quotas, on Valkey.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{
    AdmissionVerdicts, AdmissionsSettled, AdmitArgs, CopyQuotasArgs, DefineQuotaArgs, PutQuotaArgs, QuotaDefined,
    QuotaKeysArgs, QuotaKeysPage, QuotaSlotsArgs, QuotaSlotsPage, Quotas, QuotasCopied, SettleAdmissionsArgs,
};
use ff_core::engine_error::EngineError;
use ff_core::keys::quota_namespaces_key;
use ff_core::partition::namespace_partition;
use ff_core::query::{ListAllQuotas, ReadQuotaSet};
use ff_core::quota::QuotaSet;
use ff_core::types::Namespace;
use ff_script::engine::ff_now;
use ff_script::quota::{
    ff_check_admission_and_record, ff_copy_quotas, ff_create_quota_policy, ff_read_quota_keys, ff_read_quota_slots,
    ff_release_admission, quotas_key,
};
use redis::{FromRedisValue, cmd};

use crate::ValkeyBackend;
use crate::backend::functions;

/// How often a change is made anew because another one came before it.
const TRIES: usize = 16;

impl Handle<PutQuotaArgs, QuotaSet> for ValkeyBackend {
    /// Lua would change numbers and empty tables, so the program reads the policies, changes them, and writes them over the
    /// revision it has read.
    async fn handle(&self, args: PutQuotaArgs) -> Answer<QuotaSet> {
        let home = namespace_partition(&args.namespace, &self.partitions);
        // The directory first, so that no policy is missing from it.
        let index = quota_namespaces_key();
        self.calls.plain(&index, cmd("SADD").arg(&index).arg(args.namespace.as_str()).clone()).await?;
        for _ in 0..TRIES {
            let before = self.quota_set(&args.namespace).await?;
            let expected = before.revision;
            let after = args.apply(before, ff_now(&*self.calls, home).await?)?;
            if after.revision == expected {
                return Ok(after);
            }
            let copy = CopyQuotasArgs { partition: home, set: after };
            let known = ff_copy_quotas(&*self.calls, &copy, Some(expected)).await?;
            // The same revision may be another's; then what is kept is not what was written.
            if known.revision == copy.set.revision && self.quota_set(&args.namespace).await? == copy.set {
                return Ok(copy.set);
            }
        }
        Err(EngineError::Unavailable("the quotas of the namespace change all the time".into()))
    }
}

functions! {
    CopyQuotasArgs => QuotasCopied: |store, args| ff_copy_quotas(&*store.calls, &args, None);
    DefineQuotaArgs => QuotaDefined: |store, args| ff_create_quota_policy(&*store.calls, &store.partitions, &args);
    AdmitArgs => AdmissionVerdicts: |store, args| ff_check_admission_and_record(&*store.calls, &store.partitions, &args);
    SettleAdmissionsArgs => AdmissionsSettled: |store, args| ff_release_admission(&*store.calls, &store.partitions, &args);
    QuotaKeysArgs => QuotaKeysPage: |store, args| ff_read_quota_keys(&*store.calls, &store.partitions, &args);
    QuotaSlotsArgs => QuotaSlotsPage: |store, args| ff_read_quota_slots(&*store.calls, &store.partitions, &args);
}

impl Handle<ReadQuotaSet, QuotaSet> for ValkeyBackend {
    async fn handle(&self, ReadQuotaSet { ref namespace }: ReadQuotaSet) -> Answer<QuotaSet> {
        self.quota_set(namespace).await
    }
}

impl Handle<ListAllQuotas, Quotas> for ValkeyBackend {
    async fn handle(&self, _: ListAllQuotas) -> Answer<Quotas> {
        let index = quota_namespaces_key();
        let reply = self.calls.plain(&index, cmd("SMEMBERS").arg(&index).clone()).await?;
        let unreadable = || EngineError::Corrupt(format!("{index} names something that is not a namespace"));
        let mut names = Vec::<String>::from_redis_value(reply).map_err(|_| unreadable())?;
        names.sort_unstable();
        let mut all = Quotas::default();
        for name in names {
            let namespace = Namespace::parse(&name).map_err(|_| unreadable())?;
            all.quotas.extend(self.quota_set(&namespace).await?.policies.into_values());
        }
        Ok(all)
    }
}

impl ValkeyBackend {
    /// The policies of a namespace, as its home has them.
    async fn quota_set(&self, namespace: &Namespace) -> Answer<QuotaSet> {
        let key = quotas_key(namespace_partition(namespace, &self.partitions), namespace);
        let reply = self.calls.plain(&key, cmd("GET").arg(&key).clone()).await?;
        let unreadable = || EngineError::Corrupt(format!("{key} does not hold quotas"));
        let kept = Option::<String>::from_redis_value(reply).map_err(|_| unreadable())?;
        let Some(kept) = kept else { return Ok(QuotaSet::empty(namespace.clone())) };
        serde_json::from_str(&kept).map_err(|_| unreadable())
    }
}
