//! The domain of budgets, over the model.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{BudgetLedgerSums, PendingUsage, ReadBudgetLedger, UsageBacklogArgs, UsageInfo};
use ff_core::operation::query::{ReadPendingUsage, ReadUsage};
use ff_core::types::ExecutionId;

use crate::{MemoryBackend, reads};

impl Handle<ReadUsage, UsageInfo> for MemoryBackend {
    async fn handle(&self, ReadUsage { execution_id: ref id }: ReadUsage) -> Answer<UsageInfo> {
        self.look(id, |_, execution| Ok(UsageInfo::of(execution)))
    }
}

reads! {
    ReadPendingUsage => Option<PendingUsage>: |store, query| store.model()?.pending_usage(&query.execution_id);
    UsageBacklogArgs => Vec<ExecutionId>: |store, query| store.model()?.usage_backlog(&query);
    ReadBudgetLedger => BudgetLedgerSums: |store, query| store.model()?.budget_ledger(&query.budget_id);
}
