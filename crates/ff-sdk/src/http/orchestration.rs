//! Calls that consist of several operations of a store. The server performs the operations.

use async_trait::async_trait;
use ff_api::{Limit, NamespaceQuery, NextTicksQuery, NoQuery, SchedulesQuery};
use ff_core::backend::{Answer, EngineBackend};
use ff_core::budget::Budget;
use ff_core::contracts::{
    BackfillArgs, BackfilledTicks, BudgetDeleted, BudgetInfo, BudgetRef, BudgetReset, Budgets, BulkArgs, BulkPage,
    ConfigureLaneArgs, LaneInfo, ListSchedulesArgs, NextTicks, PauseScheduleArgs, PutBudgetArgs, PutQuotaArgs,
    PutScheduleArgs, QuotaDeleted, QuotaInfo, QuotaRef, Quotas, RotateSecretArgs, RotationReport, ScheduleDeleted,
    ScheduleInfo, ScheduleRef, SchedulesPage, StreamTokenArgs, SubmitArgs, SubmitFlowArgs, SubmittedExecution,
    SubmittedFlow, UsageInfo, check_tick_count,
};
use ff_core::engine_error::Refusal;
use ff_core::explain::{Explanation, LaneExplanation};
use ff_core::quota::QuotaPolicy;
use ff_core::schedule::TickRecord;
use ff_core::token::StreamToken;
use ff_core::types::{ExecutionId, FlowId, LaneId, Namespace};
use serde::Serialize;

use super::HttpBackend;
use super::error::unwritable;

#[async_trait]
impl EngineBackend for HttpBackend {
    async fn submit_many(&self, args: Vec<SubmitArgs>) -> Answer<Vec<Answer<SubmittedExecution>>> {
        self.connection.submit_many(args).await
    }

    async fn explain(&self, id: &ExecutionId) -> Answer<Explanation> {
        self.connection.get(&["executions", &id.to_string(), "explain"], NoQuery {}, 0).await
    }

    async fn explain_lane(&self, namespace: &Namespace, lane: &LaneId) -> Answer<LaneExplanation> {
        self.connection.get(&["lanes", lane.as_str(), "explain"], named(namespace.clone()), 0).await
    }

    async fn bulk(&self, mut args: BulkArgs) -> Answer<BulkPage> {
        args.check()?;
        args.filter.namespace = self.connection.effective_namespace(&args.filter.namespace);
        self.connection.post(&["executions", "bulk"], &ff_api::Bulk::of(args), 0).await
    }

    async fn submit_flow(&self, mut args: SubmitFlowArgs) -> Answer<SubmittedFlow> {
        args.header.namespace = self.connection.effective_namespace(&args.header.namespace);
        args.header.derive_id();
        args.clone().plan()?;
        let submit = ff_api::SubmitFlow::of(args).map_err(unwritable)?;
        self.connection.post(&["flows"], &submit, 0).await
    }

    async fn configure_lane(&self, mut args: ConfigureLaneArgs) -> Answer<LaneInfo> {
        args.check()?;
        args.namespace = self.connection.effective_namespace(&args.namespace);
        let lane = args.lane.clone();
        self.connection.post(&["lanes", lane.as_str()], &ff_api::ConfigureLane::of(args), 0).await
    }

    async fn put_quota(&self, args: PutQuotaArgs) -> Answer<QuotaPolicy> {
        args.check()?;
        let missing = || Refusal::invalid("definition", "must be said; to delete a quota is another call");
        let definition = args.definition.ok_or_else(missing)?;
        let put = ff_api::PutQuota::of(self.connection.effective_namespace(&args.namespace), definition);
        self.connection.post(&["quotas", args.name.as_str()], &put, 0).await
    }

    async fn delete_quota(&self, QuotaRef { namespace, name }: QuotaRef) -> Answer<QuotaDeleted> {
        let delete = ff_api::DeleteQuota { namespace: self.own(&namespace) };
        self.connection.post(&["quotas", name.as_str(), "delete"], &delete, 0).await
    }

    async fn list_quotas(&self, namespace: &Namespace) -> Answer<Quotas> {
        self.connection.get(&["quotas"], named(namespace.clone()), 0).await
    }

    async fn put_budget(&self, args: PutBudgetArgs) -> Answer<Budget> {
        args.check()?;
        let missing = || Refusal::invalid("definition", "must be said; to delete a budget is another call");
        let definition = args.definition.ok_or_else(missing)?;
        let put = ff_api::PutBudget::of(self.connection.effective_namespace(&args.namespace), definition);
        self.connection.post(&["budgets", args.name.as_str()], &put, 0).await
    }

    async fn delete_budget(&self, BudgetRef { namespace, name }: BudgetRef) -> Answer<BudgetDeleted> {
        let delete = ff_api::DeleteBudget { namespace: self.own(&namespace) };
        self.connection.post(&["budgets", name.as_str(), "delete"], &delete, 0).await
    }

    async fn reset_budget(&self, BudgetRef { namespace, name }: BudgetRef) -> Answer<BudgetReset> {
        let reset = ff_api::ResetBudget { namespace: self.own(&namespace) };
        self.connection.post(&["budgets", name.as_str(), "reset"], &reset, 0).await
    }

    async fn list_budgets(&self, namespace: &Namespace) -> Answer<Budgets> {
        self.connection.get(&["budgets"], named(namespace.clone()), 0).await
    }

    async fn describe_budget(&self, BudgetRef { namespace, name }: BudgetRef) -> Answer<BudgetInfo> {
        self.connection.get(&["budgets", name.as_str()], named(namespace), 0).await
    }

    async fn flow_usage(&self, flow_id: &FlowId) -> Answer<UsageInfo> {
        self.connection.get(&["flows", &flow_id.to_string(), "usage"], NoQuery {}, 0).await
    }

    async fn describe_quota(&self, QuotaRef { namespace, name }: QuotaRef) -> Answer<QuotaInfo> {
        self.connection.get(&["quotas", name.as_str()], named(namespace), 0).await
    }

    async fn put_schedule(&self, args: PutScheduleArgs) -> Answer<ScheduleInfo> {
        let PutScheduleArgs { schedule: ScheduleRef { namespace, name }, definition } = args;
        let put = ff_api::PutSchedule::of(self.own(&namespace), definition).map_err(unwritable)?;
        self.post_schedule(&[name.as_str()], &put).await
    }

    async fn delete_schedule(&self, ScheduleRef { namespace, name }: ScheduleRef) -> Answer<ScheduleDeleted> {
        let delete = ff_api::DeleteSchedule { namespace: self.own(&namespace) };
        self.connection.post(&["schedules", name.as_str(), "delete"], &delete, 0).await
    }

    async fn schedules(&self, args: ListSchedulesArgs) -> Answer<SchedulesPage> {
        args.check()?;
        let query =
            SchedulesQuery { namespace: Some(args.namespace), after: args.after, limit: Some(Limit(args.limit)) };
        let page: ff_api::SchedulesPage = self.connection.get(&["schedules"], query, 0).await?;
        Ok(page.into_page()?)
    }

    async fn describe_schedule(&self, ScheduleRef { namespace, name }: ScheduleRef) -> Answer<ScheduleInfo> {
        let view: ff_api::ScheduleView =
            self.connection.get(&["schedules", name.as_str()], named(namespace), 0).await?;
        Ok(view.into_info()?)
    }

    async fn pause_schedule(&self, args: PauseScheduleArgs) -> Answer<ScheduleInfo> {
        args.check()?;
        let PauseScheduleArgs { schedule: ScheduleRef { namespace, name }, reason } = args;
        let pause = ff_api::PauseSchedule { namespace: self.own(&namespace), reason };
        self.post_schedule(&[name.as_str(), "pause"], &pause).await
    }

    async fn resume_schedule(&self, ScheduleRef { namespace, name }: ScheduleRef) -> Answer<ScheduleInfo> {
        let resume = ff_api::ResumeSchedule { namespace: self.own(&namespace) };
        self.post_schedule(&[name.as_str(), "resume"], &resume).await
    }

    async fn trigger_schedule(&self, ScheduleRef { namespace, name }: ScheduleRef) -> Answer<TickRecord> {
        let trigger = ff_api::TriggerSchedule { namespace: self.own(&namespace) };
        self.connection.post(&["schedules", name.as_str(), "trigger"], &trigger, 0).await
    }

    async fn backfill_schedule(&self, args: BackfillArgs) -> Answer<BackfilledTicks> {
        args.check()?;
        let BackfillArgs { schedule: ScheduleRef { namespace, name }, from, to } = args;
        let backfill = ff_api::BackfillSchedule { namespace: self.own(&namespace), from, to };
        self.connection.post(&["schedules", name.as_str(), "backfill"], &backfill, 0).await
    }

    async fn next_ticks(&self, ScheduleRef { namespace, name }: ScheduleRef, count: usize) -> Answer<NextTicks> {
        check_tick_count(count)?;
        let query = NextTicksQuery { namespace: Some(namespace), count: Some(count) };
        self.connection.get(&["schedules", name.as_str(), "next"], query, 0).await
    }

    async fn rotate_secret(&self, args: RotateSecretArgs) -> Answer<RotationReport> {
        args.check()?;
        let report: ff_api::RotationReport =
            self.connection.post(&["secrets", "rotate"], &ff_api::RotateSecret::of(&args), 0).await?;
        Ok(report.into())
    }

    async fn stream_token(&self, args: StreamTokenArgs) -> Answer<StreamToken> {
        args.check(&self.connection.partitions)?;
        let path = ["executions", &args.execution_id.to_string(), "stream", "token"];
        let reply: ff_api::StreamTokenReply =
            self.connection.post(&path, &ff_api::MakeStreamToken::of(&args), 0).await?;
        Ok(reply.token)
    }
}

fn named(namespace: Namespace) -> NamespaceQuery {
    NamespaceQuery { namespace: Some(namespace) }
}

impl HttpBackend {
    /// Returns the namespace to name in a body.
    fn own(&self, named: &Namespace) -> Option<Namespace> {
        Some(self.connection.effective_namespace(named))
    }

    /// Sends a change of a schedule, and returns the changed schedule.
    async fn post_schedule(&self, path: &[&str], body: &(impl Serialize + Sync)) -> Answer<ScheduleInfo> {
        let path = [&["schedules"], path].concat();
        let view: ff_api::ScheduleView = self.connection.post(&path, body, 0).await?;
        Ok(view.into_info()?)
    }
}
