//! A store in this process, as callers reach it.

use std::sync::Arc;

use async_trait::async_trait;
use ff_core::backend::{Answer, BoxedAnswer, EngineBackend, EngineStore, Perform};
use ff_core::budget::Budget;
use ff_core::contracts::{
    BackfillArgs, BackfilledTicks, BudgetDeleted, BudgetInfo, BudgetRef, BudgetReset, Budgets, BulkArgs, BulkPage,
    ConfigureLaneArgs, LaneInfo, ListSchedulesArgs, NextTicks, PauseScheduleArgs, PutBudgetArgs, PutQuotaArgs,
    PutScheduleArgs, QuotaDeleted, QuotaInfo, QuotaRef, Quotas, RotateSecretArgs, RotationReport, ScheduleDeleted,
    ScheduleInfo, ScheduleRef, SchedulesPage, SettleUsageArgs, StreamTokenArgs, SubmitArgs, SubmitFlowArgs,
    SubmittedExecution, SubmittedFlow, UsageInfo,
};
use ff_core::explain::{Explanation, LaneExplanation};
use ff_core::operation::query::{Query, QueryReply};
use ff_core::operation::{Operation, Reply};
use ff_core::partition::PartitionConfig;
use ff_core::quota::QuotaPolicy;
use ff_core::schedule::TickRecord;
use ff_core::token::StreamToken;
use ff_core::types::{ExecutionId, FlowId, LaneId, Namespace};

use super::Orchestration;
use super::budget::put_budget;
use super::quota::put_policy;

/// A store with the calls that take several operations.
pub struct Coordinator(Arc<dyn EngineStore>);

impl Coordinator {
    pub fn over(store: Arc<dyn EngineStore>) -> Self {
        Self(store)
    }

    /// Notes that every budget has counted a report. The holder waits only if the report is the first past a soft limit: then its
    /// event is recorded before the answer. If this process dies first, the engine does it.
    async fn settle(&self, counted: SettleUsageArgs) -> Answer<()> {
        if !counted.crossed.is_empty() {
            return self.0.settle_usage(counted).await.map(drop);
        }
        let store = self.0.clone();
        tokio::spawn(async move {
            if let Err(error) = store.settle_usage(counted).await {
                store.outages().log_failure("settle usage", &error);
            }
        });
        Ok(())
    }
}

impl Perform for Coordinator {
    fn partitions(&self) -> PartitionConfig {
        self.0.partitions()
    }

    fn perform(&self, operation: Operation) -> BoxedAnswer<'_, Reply> {
        match operation {
            Operation::Claim(args) => {
                Box::pin(async move { self.0.claim_within_limit(args).await.map(Reply::Claimed) })
            }
            Operation::ReportUsage(args) => Box::pin(async move {
                let (reported, counted) = self.0.report_and_charge(args).await?;
                if let Some(counted) = counted {
                    self.settle(counted).await?;
                }
                Ok(Reply::UsageReported(reported))
            }),
            other @ (Operation::Submit(_) | Operation::GrowFlow(_)) => Box::pin(self.0.perform_work(other)),
            other => self.0.perform(other),
        }
    }

    fn query(&self, query: Query) -> BoxedAnswer<'_, QueryReply> {
        self.0.query(query)
    }
}

#[async_trait]
impl EngineBackend for Coordinator {
    async fn submit_many(&self, args: Vec<SubmitArgs>) -> Answer<Vec<Answer<SubmittedExecution>>> {
        self.0.submit_many(args).await
    }

    async fn submit_flow(&self, args: SubmitFlowArgs) -> Answer<SubmittedFlow> {
        self.0.submit_flow(args).await
    }

    async fn bulk(&self, args: BulkArgs) -> Answer<BulkPage> {
        self.0.bulk(args).await
    }

    async fn configure_lane(&self, args: ConfigureLaneArgs) -> Answer<LaneInfo> {
        self.0.configure_lane(args).await
    }

    async fn put_quota(&self, args: PutQuotaArgs) -> Answer<QuotaPolicy> {
        let quota = QuotaRef { namespace: args.namespace.clone(), name: args.name.clone() };
        put_policy(&self.0.put_quota(args).await?, &quota)
    }

    async fn delete_quota(&self, QuotaRef { namespace, name }: QuotaRef) -> Answer<QuotaDeleted> {
        let already = !self.0.quota_set(&namespace).await?.policies.contains_key(&name);
        self.0.put_quota(PutQuotaArgs { namespace, name, definition: None }).await?;
        Ok(QuotaDeleted { already })
    }

    async fn list_quotas(&self, namespace: &Namespace) -> Answer<Quotas> {
        Ok(Quotas { quotas: self.0.quota_set(namespace).await?.policies.into_values().collect() })
    }

    async fn describe_quota(&self, quota: QuotaRef) -> Answer<QuotaInfo> {
        self.0.describe_quota(quota).await
    }

    async fn put_schedule(&self, args: PutScheduleArgs) -> Answer<ScheduleInfo> {
        self.0.put_schedule(args).await
    }

    async fn delete_schedule(&self, schedule: ScheduleRef) -> Answer<ScheduleDeleted> {
        self.0.delete_schedule(schedule).await
    }

    async fn schedules(&self, args: ListSchedulesArgs) -> Answer<SchedulesPage> {
        self.0.list_schedules(args).await
    }

    async fn describe_schedule(&self, schedule: ScheduleRef) -> Answer<ScheduleInfo> {
        self.0.describe_schedule(schedule).await
    }

    async fn pause_schedule(&self, args: PauseScheduleArgs) -> Answer<ScheduleInfo> {
        self.0.pause_schedule(args).await
    }

    async fn resume_schedule(&self, schedule: ScheduleRef) -> Answer<ScheduleInfo> {
        self.0.resume_schedule(schedule).await
    }

    async fn trigger_schedule(&self, schedule: ScheduleRef) -> Answer<TickRecord> {
        self.0.trigger_schedule(schedule).await
    }

    async fn backfill_schedule(&self, args: BackfillArgs) -> Answer<BackfilledTicks> {
        self.0.backfill_schedule(args).await
    }

    async fn next_ticks(&self, schedule: ScheduleRef, count: usize) -> Answer<NextTicks> {
        self.0.next_ticks(schedule, count).await
    }

    async fn put_budget(&self, args: PutBudgetArgs) -> Answer<Budget> {
        let name = args.name.clone();
        put_budget(&self.0.put_budget(args).await?, &name)
    }

    async fn delete_budget(&self, BudgetRef { namespace, name }: BudgetRef) -> Answer<BudgetDeleted> {
        let already = !self.0.quota_set(&namespace).await?.budgets.contains_key(&name);
        self.0.put_budget(PutBudgetArgs { namespace, name, definition: None }).await?;
        Ok(BudgetDeleted { already })
    }

    async fn list_budgets(&self, namespace: &Namespace) -> Answer<Budgets> {
        Ok(Budgets { budgets: self.0.quota_set(namespace).await?.budgets.into_values().collect() })
    }

    async fn describe_budget(&self, budget: BudgetRef) -> Answer<BudgetInfo> {
        self.0.describe_budget(budget).await
    }

    async fn reset_budget(&self, budget: BudgetRef) -> Answer<BudgetReset> {
        self.0.reset_budget(budget).await
    }

    async fn flow_usage(&self, flow_id: &FlowId) -> Answer<UsageInfo> {
        self.0.flow_usage(*flow_id).await
    }

    async fn rotate_secret(&self, args: RotateSecretArgs) -> Answer<RotationReport> {
        self.0.rotate_secret(args).await
    }

    async fn explain(&self, id: &ExecutionId) -> Answer<Explanation> {
        self.0.explain(*id).await
    }

    async fn explain_lane(&self, namespace: &Namespace, lane: &LaneId) -> Answer<LaneExplanation> {
        self.0.explain_lane(namespace, lane).await
    }

    async fn stream_token(&self, args: StreamTokenArgs) -> Answer<StreamToken> {
        self.0.stream_token(args).await
    }
}
