//! Budgets over several partitions, decided and copied like quota policies. A report of usage is added to its execution, then to
//! every budget that applies, and is settled once all have counted it. The holder does not wait for that; the engine finishes
//! reports that a process left unsettled.

use ff_core::backend::{Answer, EngineStore};
use ff_core::budget::{Budget, OnHardLimit};
use ff_core::contracts::{
    BudgetInfo, BudgetRef, BudgetReset, BudgetState, BudgetStatus, ChargeBudgetArgs, FailArgs, FlowMembersArgs,
    PendingUsage, PutBudgetArgs, ReadBudgetLedger, ReportUsageArgs, ResetBudgetArgs, SettleAdmissionsArgs,
    SettleUsageArgs, UsageInfo, UsageReported,
};
use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::execution::{BlockDetail, Blocker, Failure};
use ff_core::lease::Fence;
use ff_core::limits;
use ff_core::quota::{QuotaSet, Scope};
use ff_core::types::{BudgetId, BudgetName, ExecutionId, FlowId, Kind, Namespace};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::quota::{copy_everywhere, define_budget, settle, wake_blocked};
use super::{AT_ONCE, if_there};

/// Defines or deletes a budget everywhere. Executions that waited under another definition become ready.
pub(super) async fn put<S: EngineStore + ?Sized>(store: &S, args: PutBudgetArgs) -> Answer<QuotaSet> {
    args.check()?;
    let namespace = &args.namespace;
    match args.definition.as_ref().map(|definition| &definition.scope) {
        Some(Scope::Flow(id)) if store.namespace_of_flow(id).await?.as_ref() != Some(namespace) => {
            return Err(Refusal::new(Code::FlowNotFound).at("scope").because(format!("there is no flow {id}")).into());
        }
        Some(Scope::Execution(id)) if store.namespace_of(id).await?.as_ref() != Some(namespace) => {
            let why = format!("there is no execution {id}");
            return Err(Refusal::new(Code::ExecutionNotFound).at("scope").because(why).into());
        }
        _ => {}
    }
    let before = store.quota_set(namespace).await?;
    let (name, id) = (args.name.clone(), args.budget_id());
    let set = store.put_budget_home(args).await?;
    define_budget(store, &set, id).await?;
    copy_everywhere(store, &set).await?;
    let revision = |set: &QuotaSet| set.budgets.get(&name).map(|budget| budget.revision);
    if revision(&before) != revision(&set) && before.budgets.contains_key(&name) {
        wake_all(store, &set.namespace, &name, id).await?;
    }
    Ok(set)
}

/// Makes all executions ready that a budget blocks; each is judged again.
async fn wake_all<S: EngineStore + ?Sized>(
    store: &S,
    namespace: &Namespace,
    name: &BudgetName,
    id: BudgetId,
) -> Answer<()> {
    look_after(store, id).await?;
    let of_budget =
        |detail: &BlockDetail| matches!(detail, BlockDetail::Budget { name: of, .. } if of == name.as_str());
    wake_blocked(store, namespace, Blocker::Budget, of_budget).await
}

/// Wakes the executions that wait for a budget, as far as it has room.
async fn look_after<S: EngineStore + ?Sized>(store: &S, id: BudgetId) -> Answer<()> {
    let args = SettleAdmissionsArgs { policy_id: id.policy_id(), releases: Vec::new(), keys: Vec::new() };
    while settle(store, args.clone()).await?.woken > 0 {}
    Ok(())
}

/// Returns the budget with this name, which was just written.
pub(super) fn put_budget(set: &QuotaSet, name: &BudgetName) -> Answer<Budget> {
    let budget = set.budgets.get(name).cloned();
    budget.ok_or_else(|| EngineError::Corrupt("a budget that was put is not there".into()))
}

/// Returns a budget and its current state.
pub(super) async fn describe<S: EngineStore + ?Sized>(store: &S, budget: BudgetRef) -> Answer<BudgetInfo> {
    let mut set = store.quota_set(&budget.namespace).await?;
    let budget = set.budgets.remove(&budget.name).ok_or(Code::BudgetNotFound)?;
    let sums = store.budget_ledger(ReadBudgetLedger { budget_id: budget.id, with_draws: false }).await?;
    Ok(BudgetInfo::of(budget, &sums.balance, store.now().await?))
}

/// Resets a budget. Executions that waited for it become ready.
pub(super) async fn reset<S: EngineStore + ?Sized>(store: &S, budget: BudgetRef) -> Answer<BudgetReset> {
    let set = store.quota_set(&budget.namespace).await?;
    let id = set.budgets.get(&budget.name).ok_or(Code::BudgetNotFound)?.id;
    define_budget(store, &set, id).await?;
    let reset = store.restart_budget(ResetBudgetArgs { budget_id: id }).await?;
    wake_all(store, &budget.namespace, &budget.name, id).await?;
    Ok(reset)
}

/// Adds a holder's usage to its execution and to every budget that applies. Fails the execution if a budget it exceeded says so.
/// Also returns the settlement left to do.
pub(super) async fn report<S: EngineStore + ?Sized>(
    store: &S,
    args: ReportUsageArgs,
) -> Answer<(UsageReported, Option<SettleUsageArgs>)> {
    let (execution_id, fence) = (args.execution_id, args.fence);
    let mut reported = store.report_usage(args).await?;
    let mut counted = None;
    if let Some(pending) = reported.pending.take() {
        let (budgets, settlement) = count(store, &pending).await?;
        (reported.budgets, counted) = (budgets, Some(settlement));
    }
    if !reported.late {
        reported.failed = fail_over_budget(store, execution_id, fence, &reported.budgets).await?;
    }
    Ok((reported, counted))
}

/// Charges an execution's usage to every budget. Also returns the settlement that notes it.
async fn count<S: EngineStore + ?Sized>(
    store: &S,
    pending: &PendingUsage,
) -> Answer<(Vec<BudgetState>, SettleUsageArgs)> {
    let (mut states, mut crossed) = (Vec::new(), Vec::new());
    let charge = |budget_id: BudgetId| {
        let PendingUsage { execution_id, kind, total, counted, .. } = pending.clone();
        let args = ChargeBudgetArgs { budget_id, execution_id, kind, total, counted };
        async move { Ok::<_, EngineError>((budget_id, store.charge_budget(args).await?)) }
    };
    let mut answers = stream::iter(pending.budgets.iter().copied()).map(charge).buffered(AT_ONCE);
    while let Some((budget_id, charged)) = answers.try_next().await? {
        states.extend(charged.state);
        crossed.extend(charged.crossed.then_some(budget_id));
    }
    drop(answers);
    states.sort_by(|a, b| a.budget.cmp(&b.budget));
    let (execution_id, counted) = (pending.execution_id, pending.total.clone());
    Ok((states, SettleUsageArgs { execution_id, counted, crossed }))
}

async fn fail_over_budget<S: EngineStore + ?Sized>(
    store: &S,
    execution_id: ExecutionId,
    fence: Fence,
    states: &[BudgetState],
) -> Answer<bool> {
    let fails = |one: &&BudgetState| one.status == BudgetStatus::HardExceeded && one.on_hard_limit == OnHardLimit::Fail;
    let Some(state) = states.iter().find(fails) else { return Ok(false) };
    let dimensions = state.exceeded.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let message = format!("budget {} is exceeded: {dimensions}", state.budget);
    let category = Kind::parse(Code::BudgetExceeded.as_str())
        .map_err(|error| EngineError::Corrupt(format!("the category of a failure {error}")))?;
    let failure = Failure { category, message, permanent: true };
    match store.fail(FailArgs { execution_id, fence, failure }).await {
        Ok(_) => Ok(true),
        // The lease ended meanwhile, so there is nothing to fail.
        Err(EngineError::Refused(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Settles unsettled reports. Returns the number of executions settled.
pub(super) async fn settle_backlog<S: EngineStore + ?Sized>(store: &S, ids: Vec<ExecutionId>) -> Answer<usize> {
    let mut settled = 0;
    for id in ids {
        if let Some(pending) = if_there(store.pending_usage(&id).await)?.flatten() {
            let (_, counted) = count(store, &pending).await?;
            store.settle_usage(counted).await?;
            settled += 1;
        }
    }
    Ok(settled)
}

/// Returns the usage of all members of a flow together.
pub(super) async fn usage_of_flow<S: EngineStore + ?Sized>(store: &S, flow_id: FlowId) -> Answer<UsageInfo> {
    let (mut sum, mut from) = (UsageInfo::default(), 0);
    loop {
        let page = store.flow_members(FlowMembersArgs { flow_id, from, limit: limits::PAGE }).await?;
        let read = |id: ExecutionId| async move { store.usage(&id).await };
        let ids: Vec<_> = page.members.iter().map(|member| member.execution_id).collect();
        let mut usages = stream::iter(ids).map(read).buffer_unordered(AT_ONCE);
        while let Some(usage) = usages.next().await {
            if let Some(usage) = if_there(usage)? {
                sum.add(&usage);
            }
        }
        drop(usages);
        match page.next {
            Some(next) => from = next,
            None => return Ok(sum),
        }
    }
}
