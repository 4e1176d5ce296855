//! The domain of budgets: remembered reports, and the queries of usage and balances.

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::budget::UsageReportEntry;
use ff_core::contracts::{BudgetLedgerSums, PendingUsage, ReadBudgetLedger, UsageBacklogArgs, UsageInfo};
use ff_core::limits;
use ff_core::operation::query::{ReadPendingUsage, ReadUsage};
use ff_core::quota::{QuotaRow, QuotaRowName, QuotaSet};
use ff_core::types::{ExecutionId, IdempotencyKey};

use crate::ReadContext;
use crate::error::SqlError;
use crate::execution::{USAGE_BACKLOG, found};
use crate::quota::{key_of_quota_row, key_of_quotas, rows_of};
use crate::session::{Key, Put, Question, Read, key_of, load_record, longer};
use crate::table::schema::{QUOTA_ROW, QUOTA_SET};
use crate::table::value::{Row, Value};

/// Selects executions of a namespace with usage that budgets may not have counted.
pub(crate) const USAGE_BACKLOG_OF: &str = "\
    SELECT partition, uuid FROM tag WHERE namespace = $1 AND key = '' AND value = $2 ORDER BY created_at LIMIT $3";

pub(crate) fn key_of_report((id, report): &(ExecutionId, IdempotencyKey)) -> Key {
    longer(key_of(id), [report.as_str().into()])
}

pub(crate) fn report_of(entry: &UsageReportEntry) -> Put {
    Put::under(key_of_report(&(entry.execution_id, entry.report_id.clone())), [entry.until.into()])
}

pub(crate) fn read_report(
    (execution_id, report_id): &(ExecutionId, IdempotencyKey),
    row: &Row,
) -> Result<UsageReportEntry, SqlError> {
    Ok(UsageReportEntry { execution_id: *execution_id, report_id: report_id.clone(), until: row.moment(0)? })
}

#[async_trait]
impl Question for ReadUsage {
    type Answer = UsageInfo;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<UsageInfo> {
        Ok(UsageInfo::of(&found(reader, &self.execution_id).await?))
    }
}

#[async_trait]
impl Question for ReadPendingUsage {
    type Answer = Option<PendingUsage>;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<Option<PendingUsage>> {
        let execution = found(reader, &self.execution_id).await?;
        let here = key_of_quotas(&execution.namespace, self.execution_id.partition());
        let set: Option<QuotaSet> = load_record(reader, &QUOTA_SET, here).await?;
        Ok(PendingUsage::of(&execution, set.as_ref()))
    }
}

#[async_trait]
impl Question for UsageBacklogArgs {
    type Answer = Vec<ExecutionId>;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<Vec<ExecutionId>> {
        let parameters = vec![self.namespace.as_str().into(), USAGE_BACKLOG.into(), Value::number(self.limit)];
        let rows = reader.query(USAGE_BACKLOG_OF, &[parameters]).await?;
        let mut ids = Vec::new();
        for row in rows.iter().flatten() {
            ids.push(row.id(1, row.count(0)?)?);
        }
        Ok(ids)
    }
}

#[async_trait]
impl Question for ReadBudgetLedger {
    type Answer = BudgetLedgerSums;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<BudgetLedgerSums> {
        let policy_id = self.budget_id.policy_id();
        let home = key_of_quota_row(&policy_id, &QuotaRowName::Balance);
        let balance: Option<QuotaRow> = load_record(reader, &QUOTA_ROW, home).await?;
        let mut sums = BudgetLedgerSums::of(balance.iter());
        let mut after = None;
        if !self.with_draws {
            return Ok(sums);
        }
        loop {
            let (rows, is_more) = rows_of(reader, &policy_id, "slot/", after.take(), limits::PAGE).await?;
            after = rows.last().map(|(name, _)| name.clone());
            for (_, row) in rows {
                if let QuotaRow::Draw(draw) = row {
                    sums.add(&draw);
                }
            }
            if !is_more {
                return Ok(sums);
            }
        }
    }
}
