//! The interface of callers: a store, with the calls that take several operations.

use async_trait::async_trait;

use super::{Answer, BoxedAnswer, Perform};
use crate::budget::Budget;
use crate::contracts::{
    BackfillArgs, BackfilledTicks, BudgetDeleted, BudgetInfo, BudgetRef, BudgetReset, Budgets, BulkArgs, BulkPage,
    CascadeArgs, CascadeStep, ConfigureLaneArgs, LaneInfo, ListSchedulesArgs, NextTicks, PauseScheduleArgs,
    PutBudgetArgs, PutQuotaArgs, PutScheduleArgs, QuotaDeleted, QuotaInfo, QuotaRef, Quotas, RotateSecretArgs,
    RotationReport, ScheduleDeleted, ScheduleInfo, ScheduleRef, SchedulesPage, StreamTokenArgs, SubmitArgs,
    SubmitFlowArgs, SubmittedExecution, SubmittedFlow, UsageInfo,
};
use crate::explain::{Explanation, LaneExplanation};
use crate::quota::QuotaPolicy;
use crate::schedule::TickRecord;
use crate::token::StreamToken;
use crate::types::{ExecutionId, FlowId, LaneId, Namespace};

/// The calls available to callers. An engine over a store implements them, and so does a client of a server.
#[async_trait]
pub trait EngineBackend: Perform {
    /// Submits up to [`crate::limits::BULK`] executions at once. Returns a result for each, in order.
    async fn submit_many(&self, args: Vec<SubmitArgs>) -> Answer<Vec<Answer<SubmittedExecution>>>;

    /// Submits a whole graph, all or nothing: no part of it is visible until all of it is written.
    async fn submit_flow(&self, args: SubmitFlowArgs) -> Answer<SubmittedFlow>;

    /// Applies an action to the executions that match a filter, one page per call.
    async fn bulk(&self, args: BulkArgs) -> Answer<BulkPage>;

    /// Pauses, drains or reopens a lane, and changes its settings. When this returns, the change is in effect on every
    /// partition; running executions continue. Safe to repeat; repeat it when it was not answered.
    async fn configure_lane(&self, args: ConfigureLaneArgs) -> Answer<LaneInfo>;

    /// Creates or replaces a quota policy. When this returns, it holds on every partition; running executions continue.
    /// Safe to repeat; repeat it when it was not answered.
    async fn put_quota(&self, args: PutQuotaArgs) -> Answer<QuotaPolicy>;

    /// Deletes a quota policy. Executions that it blocked become ready again.
    async fn delete_quota(&self, quota: QuotaRef) -> Answer<QuotaDeleted>;

    /// Lists the quota policies of a namespace.
    async fn list_quotas(&self, namespace: &Namespace) -> Answer<Quotas>;

    /// Returns a quota policy and its usage; refused as `quota_policy_not_found` when there is none.
    async fn describe_quota(&self, quota: QuotaRef) -> Answer<QuotaInfo>;

    /// Creates or replaces a schedule. The same definition again changes nothing.
    async fn put_schedule(&self, args: PutScheduleArgs) -> Answer<ScheduleInfo>;

    /// Deletes a schedule. Executions and flows that it has started continue.
    async fn delete_schedule(&self, schedule: ScheduleRef) -> Answer<ScheduleDeleted>;

    /// Lists the schedules of a namespace in the order of their names.
    async fn schedules(&self, args: ListSchedulesArgs) -> Answer<SchedulesPage>;

    /// Returns a schedule with its next and last ticks; refused as `schedule_not_found` when there is none.
    async fn describe_schedule(&self, schedule: ScheduleRef) -> Answer<ScheduleInfo>;

    /// Stops the ticks of a schedule until it is resumed.
    async fn pause_schedule(&self, args: PauseScheduleArgs) -> Answer<ScheduleInfo>;

    /// Resumes a paused schedule. Ticks that were missed during the pause are not made up for.
    async fn resume_schedule(&self, schedule: ScheduleRef) -> Answer<ScheduleInfo>;

    /// Starts the work of a tick now, as the overlap policy allows. Not safe to repeat: every call starts work.
    async fn trigger_schedule(&self, schedule: ScheduleRef) -> Answer<TickRecord>;

    /// Starts the work of all ticks of a past range, each once, without the overlap policy. Safe to repeat.
    async fn backfill_schedule(&self, args: BackfillArgs) -> Answer<BackfilledTicks>;

    /// Returns the next ticks of a schedule.
    async fn next_ticks(&self, schedule: ScheduleRef, count: usize) -> Answer<NextTicks>;
    /// Creates or replaces a budget. When this returns, it holds on every partition; executions that it blocked are
    /// checked again. Safe to repeat; repeat it when it was not answered.
    async fn put_budget(&self, args: PutBudgetArgs) -> Answer<Budget>;

    /// Deletes a budget. Executions that it blocked become ready again.
    async fn delete_budget(&self, budget: BudgetRef) -> Answer<BudgetDeleted>;

    /// Lists the budgets of a namespace.
    async fn list_budgets(&self, namespace: &Namespace) -> Answer<Budgets>;

    /// Returns a budget with its period and its balance; refused as `budget_not_found` when there is none.
    async fn describe_budget(&self, budget: BudgetRef) -> Answer<BudgetInfo>;

    /// Resets a budget before its period ends. Executions that it blocked become ready again.
    async fn reset_budget(&self, budget: BudgetRef) -> Answer<BudgetReset>;

    /// Returns the total usage of a flow's members.
    async fn flow_usage(&self, flow_id: &FlowId) -> Answer<UsageInfo>;

    /// Distributes a new secret to every partition, and returns the result of each.
    async fn rotate_secret(&self, args: RotateSecretArgs) -> Answer<RotationReport>;

    /// Signs a token for reading the stream of an execution. It is valid for a limited time, and its reader needs no API key.
    async fn stream_token(&self, args: StreamTokenArgs) -> Answer<StreamToken>;

    /// Explains why an execution does not run, or that it runs. Makes a bounded number of queries and writes nothing.
    async fn explain(&self, id: &ExecutionId) -> Answer<Explanation>;

    /// Explains why the work of a lane does not run, grouped by cause.
    async fn explain_lane(&self, namespace: &Namespace, lane: &LaneId) -> Answer<LaneExplanation>;

    /// Notifies the dependents of an execution that has ended, as far as one step goes. The pump notifies them anyway;
    /// this is for a caller that does not want to wait for it.
    fn cascade_completion(&self, id: &ExecutionId) -> BoxedAnswer<'_, CascadeStep> {
        self.cascade(CascadeArgs { execution_id: *id, pending_since: None })
    }
}
