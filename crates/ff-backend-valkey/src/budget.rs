//! The domain of budgets, on Valkey.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{
    BudgetAnswer, BudgetLedgerSums, BudgetReset, ChargeBudgetArgs, DefineBudgetArgs, HeldSlot, PendingUsage,
    QuotaDefined, QuotaSlotsArgs, QuotaSlotsPage, ReadBudgetLedger, ReportUsageArgs, ResetBudgetArgs, SettleUsageArgs,
    UsageBacklogArgs, UsageInfo, UsageReported, UsageSettled,
};
use ff_core::limits;
use ff_core::operation::query::{ReadPendingUsage, ReadUsage};
use ff_core::partition::quota_home;
use ff_core::quota::SlotState;
use ff_core::types::{BudgetId, ExecutionId};
use ff_script::budget::{
    ff_create_budget, ff_read_budget, ff_record_spend, ff_report_usage_and_check, ff_reset_budget, ff_settle_usage,
};
use ff_script::engine::ff_now;
use ff_script::execution::{ExtraReads, index_keys};
use ff_script::quota::quotas_key;
use redis::{FromRedisValue, cmd};

use crate::ValkeyBackend;
use crate::backend::functions;

functions! {
    ReportUsageArgs => UsageReported: |store, args| ff_record_spend(&*store.calls, args);
    SettleUsageArgs => UsageSettled: |store, args| ff_settle_usage(&*store.calls, args);
    ChargeBudgetArgs => BudgetAnswer: |store, args| ff_report_usage_and_check(&*store.calls, &store.partitions, &args);
    ResetBudgetArgs => BudgetReset: |store, args| ff_reset_budget(&*store.calls, &store.partitions, &args);
}

impl Handle<DefineBudgetArgs, QuotaDefined> for ValkeyBackend {
    async fn handle(&self, args: DefineBudgetArgs) -> Answer<QuotaDefined> {
        let now = ff_now(&*self.calls, quota_home(&args.budget_id.policy_id(), &self.partitions)).await?;
        Ok(ff_create_budget(&*self.calls, &self.partitions, &args, now).await?)
    }
}

impl Handle<ReadUsage, UsageInfo> for ValkeyBackend {
    async fn handle(&self, ReadUsage { execution_id: ref id }: ReadUsage) -> Answer<UsageInfo> {
        Ok(UsageInfo::of(&self.stored_execution(id, ExtraReads::default()).await?.execution))
    }
}

impl Handle<ReadPendingUsage, Option<PendingUsage>> for ValkeyBackend {
    async fn handle(
        &self,
        ReadPendingUsage { execution_id: ref id }: ReadPendingUsage,
    ) -> Answer<Option<PendingUsage>> {
        let execution = self.stored_execution(id, ExtraReads::default()).await?.execution;
        let key = quotas_key(id.partition(), &execution.namespace);
        Ok(PendingUsage::of(&execution, self.stored_quotas(&key).await?.as_ref()))
    }
}

impl Handle<UsageBacklogArgs, Vec<ExecutionId>> for ValkeyBackend {
    async fn handle(&self, args: UsageBacklogArgs) -> Answer<Vec<ExecutionId>> {
        let mut ids = Vec::new();
        for partition in 0..self.partitions.num_flow_partitions {
            let key = index_keys(partition).usage_backlog(&args.namespace);
            let reply = self.calls.plain(&key, cmd("ZRANGE").arg(&key).arg(0).arg(args.limit)).await?;
            let found = Vec::<String>::from_redis_value(reply).unwrap_or_default();
            ids.extend(found.iter().filter_map(|id| id.parse::<ExecutionId>().ok()));
        }
        ids.truncate(args.limit);
        Ok(ids)
    }
}

impl Handle<ReadBudgetLedger, BudgetLedgerSums> for ValkeyBackend {
    async fn handle(&self, args: ReadBudgetLedger) -> Answer<BudgetLedgerSums> {
        let count = if args.with_draws { limits::PAGE as u64 } else { 0 };
        let (mut sums, mut after) = (BudgetLedgerSums::default(), None);
        // A scan may return the same execution twice.
        let mut draws = std::collections::BTreeMap::new();
        loop {
            let page = ff_read_budget(&*self.calls, &self.partitions, &args.budget_id, after, count).await?;
            draws.extend(page.draws.into_iter().map(|(id, _, draw)| (id, draw)));
            (sums.balance, after) = (page.balance, page.next);
            if after.is_none() {
                draws.values().for_each(|draw| sums.add(draw));
                return Ok(sums);
            }
        }
    }
}

impl ValkeyBackend {
    /// Returns a page of the reservations of a budget.
    pub(crate) async fn held_of_budget(&self, id: &BudgetId, args: QuotaSlotsArgs) -> Answer<QuotaSlotsPage> {
        let page = ff_read_budget(&*self.calls, &self.partitions, id, args.after, args.limit.max(1) as u64).await?;
        let held = page.draws.into_iter().filter_map(|(execution_id, key, draw)| {
            let slot = draw.slot.filter(|slot| matches!(slot.state, SlotState::Held { .. }))?;
            Some(HeldSlot { key, execution_id, epoch: slot.epoch, at: slot.at })
        });
        Ok(QuotaSlotsPage { slots: held.collect(), next: page.next })
    }
}
