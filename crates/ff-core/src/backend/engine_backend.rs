//! The interface of callers: a store with the calls that take several operations.

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

/// Everything callers may ask. An engine over a store has all of it, and so has a client of a server.
#[async_trait]
pub trait EngineBackend: Perform {
    /// Submits up to [`crate::limits::BULK`] at once, each with its own outcome, in order.
    async fn submit_many(&self, args: Vec<SubmitArgs>) -> Answer<Vec<Answer<SubmittedExecution>>>;

    /// Submits a whole graph, all or nothing: none of it is visible until all of it is written.
    async fn submit_flow(&self, args: SubmitFlowArgs) -> Answer<SubmittedFlow>;

    /// Cancels or replays the executions a filter selects, one page of them.
    async fn bulk(&self, args: BulkArgs) -> Answer<BulkPage>;

    /// Pauses, drains or opens a lane again, and sets how it treats its work. Once this is answered, it is so on every
    /// partition; running executions go on. Safe to repeat, and to be repeated when it was not answered.
    async fn configure_lane(&self, args: ConfigureLaneArgs) -> Answer<LaneInfo>;

    /// Defines a quota policy, or defines it anew. Once this is answered it holds on every partition; running executions go
    /// on. Safe to repeat, and to be repeated when it was not answered.
    async fn put_quota(&self, args: PutQuotaArgs) -> Answer<QuotaPolicy>;

    /// Deletes a quota policy; the executions it kept waiting are ready again.
    async fn delete_quota(&self, quota: QuotaRef) -> Answer<QuotaDeleted>;

    /// The quota policies of a namespace.
    async fn list_quotas(&self, namespace: &Namespace) -> Answer<Quotas>;

    /// A quota policy and its usage; refused as `quota_policy_not_found` when there is none.
    async fn describe_quota(&self, quota: QuotaRef) -> Answer<QuotaInfo>;

    /// Defines a schedule, or defines it anew; the same again changes nothing.
    async fn put_schedule(&self, args: PutScheduleArgs) -> Answer<ScheduleInfo>;

    /// Deletes a schedule. Executions and flows that it has started go on.
    async fn delete_schedule(&self, schedule: ScheduleRef) -> Answer<ScheduleDeleted>;

    /// The schedules of a namespace, in the order of their names.
    async fn schedules(&self, args: ListSchedulesArgs) -> Answer<SchedulesPage>;

    /// A schedule with its next and last ticks; refused as `schedule_not_found` when there is none.
    async fn describe_schedule(&self, schedule: ScheduleRef) -> Answer<ScheduleInfo>;

    /// Keeps a schedule from ticking until it is resumed.
    async fn pause_schedule(&self, args: PauseScheduleArgs) -> Answer<ScheduleInfo>;

    /// Has a schedule tick again. Ticks that came meanwhile are not made up for.
    async fn resume_schedule(&self, schedule: ScheduleRef) -> Answer<ScheduleInfo>;

    /// Starts the work of a tick now, as the overlap policy allows. Asked again it starts again.
    async fn trigger_schedule(&self, schedule: ScheduleRef) -> Answer<TickRecord>;

    /// Starts the work of all ticks of a past range, each once, without the overlap policy. Safe to repeat.
    async fn backfill_schedule(&self, args: BackfillArgs) -> Answer<BackfilledTicks>;

    /// The next ticks of a schedule.
    async fn next_ticks(&self, schedule: ScheduleRef, count: usize) -> Answer<NextTicks>;
    /// Defines a budget, or defines it anew. Once this is answered it holds on every partition; executions it kept
    /// waiting are judged anew. Safe to repeat, and to be repeated when it was not answered.
    async fn put_budget(&self, args: PutBudgetArgs) -> Answer<Budget>;

    /// Deletes a budget; the executions it kept waiting are ready again.
    async fn delete_budget(&self, budget: BudgetRef) -> Answer<BudgetDeleted>;

    /// The budgets of a namespace.
    async fn list_budgets(&self, namespace: &Namespace) -> Answer<Budgets>;

    /// A budget and how it stands; refused as `budget_not_found` when there is none.
    async fn describe_budget(&self, budget: BudgetRef) -> Answer<BudgetInfo>;

    /// Has a budget begin anew before its time; the executions it kept waiting are ready again.
    async fn reset_budget(&self, budget: BudgetRef) -> Answer<BudgetReset>;

    /// The usage of all members of a flow together.
    async fn flow_usage(&self, flow_id: &FlowId) -> Answer<UsageInfo>;

    /// Brings a new secret to every partition, and returns the result of each.
    async fn rotate_secret(&self, args: RotateSecretArgs) -> Answer<RotationReport>;

    /// Signs a token that reads the stream of an execution for a while, for a reader without a key.
    async fn stream_token(&self, args: StreamTokenArgs) -> Answer<StreamToken>;

    /// Why an execution does not run, or that it does: a bounded number of looks, and nothing is written.
    async fn explain(&self, id: &ExecutionId) -> Answer<Explanation>;

    /// Why the work of a lane does not run, grouped by cause.
    async fn explain_lane(&self, namespace: &Namespace, lane: &LaneId) -> Answer<LaneExplanation>;

    /// Notifies the dependents of an execution that has ended, as far as one step goes. They are notified by themselves; this
    /// is for a caller that does not want to wait for it.
    fn cascade_completion(&self, id: &ExecutionId) -> BoxedAnswer<'_, CascadeStep> {
        self.cascade(CascadeArgs { execution_id: *id, owed_since: None })
    }
}
