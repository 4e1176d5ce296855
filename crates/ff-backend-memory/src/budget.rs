//! The domain of budgets, over the model.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{BudgetLedgerSums, PendingUsage, ReadBudgetLedger, UsageBacklogArgs, UsageInfo};
use ff_core::query::{ReadPendingUsage, ReadUsage};
use ff_core::types::ExecutionId;

use crate::MemoryBackend;

impl Handle<ReadUsage, UsageInfo> for MemoryBackend {
    async fn handle(&self, ReadUsage { execution_id: ref id }: ReadUsage) -> Answer<UsageInfo> {
        self.look(id, |_, execution| Ok(UsageInfo::of(execution)))
    }
}

impl Handle<ReadPendingUsage, Option<PendingUsage>> for MemoryBackend {
    async fn handle(
        &self,
        ReadPendingUsage { execution_id: ref id }: ReadPendingUsage,
    ) -> Answer<Option<PendingUsage>> {
        Ok(self.model()?.pending_usage(id))
    }
}

impl Handle<UsageBacklogArgs, Vec<ExecutionId>> for MemoryBackend {
    async fn handle(&self, args: UsageBacklogArgs) -> Answer<Vec<ExecutionId>> {
        Ok(self.model()?.usage_backlog(&args))
    }
}

impl Handle<ReadBudgetLedger, BudgetLedgerSums> for MemoryBackend {
    async fn handle(&self, ReadBudgetLedger { ref budget_id, .. }: ReadBudgetLedger) -> Answer<BudgetLedgerSums> {
        Ok(self.model()?.budget_ledger(budget_id))
    }
}
