//! Quota policies over several partitions: decided at the home of their namespace, defined at their own home, and copied to every
//! partition.

use std::collections::BTreeMap;

use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::{
    CopyQuotasArgs, DefineBudgetArgs, DefineQuotaArgs, Filter, KeyUse, ListArgs, PutQuotaArgs, QuotaInfo,
    QuotaKeysArgs, QuotaRef, SettleAdmissionsArgs,
};
use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::execution::{BlockDetail, Blocker};
use ff_core::limits;
use ff_core::quota::{QuotaPolicy, QuotaSet, Scope};
use ff_core::types::{BudgetId, Namespace, QuotaPolicyId};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::super::AT_ONCE;
use super::{settle, unblock};

/// Maximum number of pages of keys that are read to find the foremost keys.
const KEY_PAGES: usize = 10;

/// Defines or deletes a policy everywhere. Executions that waited under another definition become ready.
pub(in crate::orchestration) async fn put<S: EngineStore + ?Sized>(store: &S, args: PutQuotaArgs) -> Answer<QuotaSet> {
    args.check()?;
    if let Some(Scope::Flow(id)) = args.definition.as_ref().map(|definition| &definition.scope)
        && store.namespace_of_flow(id).await?.as_ref() != Some(&args.namespace)
    {
        return Err(Refusal::new(Code::FlowNotFound).at("scope").because(format!("there is no flow {id}")).into());
    }
    let before = store.quota_set(&args.namespace).await?;
    let (name, policy_id) = (args.name.clone(), args.policy_id());
    let set = store.put_quota_home(args).await?;
    define(store, &set, &policy_id).await?;
    copy_everywhere(store, &set).await?;
    let revision = |set: &QuotaSet| set.policies.get(&name).map(|policy| policy.revision);
    if revision(&before) != revision(&set) && before.policies.contains_key(&name) {
        wake_all(store, &set.namespace, policy_id).await?;
    }
    Ok(set)
}

/// Copies the quotas and budgets of a namespace to every partition.
pub(in crate::orchestration) async fn copy_everywhere<S: EngineStore + ?Sized>(
    store: &S,
    set: &QuotaSet,
) -> Answer<()> {
    let copy = |partition| store.copy_quotas(CopyQuotasArgs { partition, set: set.clone() });
    let copies = stream::iter(0..store.partitions().num_flow_partitions).map(copy).buffered(AT_ONCE);
    copies.try_for_each(|_| async { Ok(()) }).await
}

pub(super) async fn define<S: EngineStore + ?Sized>(
    store: &S,
    set: &QuotaSet,
    policy_id: &QuotaPolicyId,
) -> Answer<()> {
    let policy = set.policies.values().find(|policy| policy.id == *policy_id).cloned();
    let revision = policy.as_ref().map_or(set.revision, |policy| policy.revision);
    store.define_quota(DefineQuotaArgs { policy_id: *policy_id, revision, policy }).await.map(drop)
}

/// Makes all executions ready that a policy blocks; each is judged again.
async fn wake_all<S: EngineStore + ?Sized>(store: &S, namespace: &Namespace, policy_id: QuotaPolicyId) -> Answer<()> {
    look_after_keys(store, policy_id).await?;
    let of_policy =
        |detail: &BlockDetail| matches!(detail, BlockDetail::Quota { policy_id: of, .. } if *of == policy_id);
    wake_blocked(store, namespace, Blocker::Quota, of_policy).await
}

/// Makes blocked executions of a namespace ready, as selected by their details.
pub(in crate::orchestration) async fn wake_blocked<S: EngineStore + ?Sized>(
    store: &S,
    namespace: &Namespace,
    on: Blocker,
    selects: impl Fn(&BlockDetail) -> bool + Send + Sync,
) -> Answer<()> {
    let filter = Filter { blocking_reason: Some(on.reason()), ..Filter::everything(namespace.clone()) };
    let mut args = ListArgs { filter, after: None, limit: limits::PAGE };
    loop {
        let page = store.list(args.clone()).await?;
        let matches = page.executions.iter().filter(|one| one.blocking_detail.as_deref().is_some_and(&selects));
        unblock(store, on, matches.map(|one| one.execution_id)).await?;
        match page.next {
            Some(next) => args.after = Some(next),
            None => return Ok(()),
        }
    }
}

/// Checks every key at the home of a policy: drops starts outside a window, and gives free slots to waiting executions.
pub(in crate::orchestration) async fn look_after_keys<S: EngineStore + ?Sized>(
    store: &S,
    policy_id: QuotaPolicyId,
) -> Answer<()> {
    let mut after = None;
    loop {
        let page = store.quota_keys(QuotaKeysArgs { policy_id, after, limit: limits::QUOTA_SETTLE }).await?;
        let keys: Vec<_> = page.keys.into_iter().map(|used| used.key).collect();
        for keys in keys.chunks(limits::QUOTA_SETTLE) {
            while settle(store, SettleAdmissionsArgs { policy_id, releases: Vec::new(), keys: keys.to_vec() })
                .await?
                .woken
                > 0
            {}
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(()),
        }
    }
}

/// Returns a policy and its usage.
pub(in crate::orchestration) async fn describe<S: EngineStore + ?Sized>(
    store: &S,
    quota: QuotaRef,
) -> Answer<QuotaInfo> {
    let mut set = store.quota_set(&quota.namespace).await?;
    let policy = set.policies.remove(&quota.name).ok_or(Code::QuotaPolicyNotFound)?;
    let (mut keys, mut after) = (BTreeMap::<String, KeyUse>::new(), None);
    let mut is_cut = false;
    for nth in 1..=KEY_PAGES {
        let page = store.quota_keys(QuotaKeysArgs { policy_id: policy.id, after, limit: limits::PAGE }).await?;
        keys.extend(page.keys.into_iter().map(|used| (used.key.clone(), used)));
        after = page.next;
        is_cut = nth == KEY_PAGES && after.is_some();
        if after.is_none() {
            break;
        }
    }
    let (keys, more) = KeyUse::foremost(keys.into_values().collect());
    Ok(QuotaInfo { policy, keys, more: more || is_cut })
}

/// Returns the policy with this name, which was just written.
pub(in crate::orchestration) fn put_policy(set: &QuotaSet, quota: &QuotaRef) -> Answer<QuotaPolicy> {
    let policy = set.policies.get(&quota.name).cloned();
    policy.ok_or_else(|| EngineError::Corrupt("a quota that was put is not there".into()))
}

/// Writes the definition of a budget to its home.
pub(in crate::orchestration) async fn define_budget<S: EngineStore + ?Sized>(
    store: &S,
    set: &QuotaSet,
    budget_id: BudgetId,
) -> Answer<()> {
    let budget = set.budgets.values().find(|budget| budget.id == budget_id).cloned();
    let revision = budget.as_ref().map_or(set.revision, |budget| budget.revision);
    store.define_budget(DefineBudgetArgs { budget_id, revision, budget }).await.map(drop)
}
