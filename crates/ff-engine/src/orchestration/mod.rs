//! Calls that take several operations, over many executions or over several partitions. Each operation is atomic; a call that fails
//! half-way is repeated.

mod budget;
mod bulk;
mod claim;
mod class;
mod coordinator;
mod explain;
mod lane;
mod quota;
mod schedule;

use std::collections::BTreeMap;

use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::{
    BackfillArgs, BackfilledTicks, BudgetInfo, BudgetRef, BudgetReset, BulkArgs, BulkPage, ClaimArgs, Claims,
    ConfigureLaneArgs, LaneInfo, NextTicks, PauseScheduleArgs, PutBudgetArgs, PutQuotaArgs, PutScheduleArgs, QuotaInfo,
    QuotaRef, ReportUsageArgs, RotatePartitionArgs, RotateSecretArgs, RotationReport, ScheduleDeleted, ScheduleInfo,
    ScheduleRef, SettleAdmissionsArgs, SettleUsageArgs, StagedFlow, StreamTokenArgs, SubmitArgs, SubmitFlowArgs,
    SubmittedExecution, SubmittedFlow, SweepWorkerArgs, UsageInfo, UsageReported,
};
use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::execution::Blocker;
use ff_core::explain::{Explanation, LaneExplanation};
use ff_core::limits;
use ff_core::operation::{Ask, Operation, Reply};
use ff_core::quota::QuotaSet;
use ff_core::schedule::TickRecord;
use ff_core::token::StreamToken;
use ff_core::types::{ExecutionId, FlowId, LaneId, Namespace, QuotaPolicyId, TimestampMs, WorkerInstanceId};
use futures_util::{StreamExt, stream};
use tokio::task::unconstrained;

pub use coordinator::Coordinator;
pub use quota::QuotaSettlement;
pub use schedule::{TickedPartition, TickedSchedule};

/// Maximum number of concurrent operations of one call. A SQL store commits as many together.
const AT_ONCE: usize = 256;

/// Maximum number of concurrent submissions to one partition. Valkey performs as many in one call.
const ON_A_PARTITION: usize = 24;

/// Calls that take several operations, for every store.
pub trait Orchestration: EngineStore {
    /// Submits up to [`limits::BULK`] executions, in order, each with its own outcome.
    fn submit_many(
        &self,
        args: Vec<SubmitArgs>,
    ) -> impl Future<Output = Answer<Vec<Answer<SubmittedExecution>>>> + Send {
        async move {
            if args.len() > limits::BULK {
                return Err(Refusal::over_limit(Code::LimitExceeded, "executions", limits::BULK, args.len()).into());
            }
            let partitions = self.partitions();
            let mut by_partition: BTreeMap<u16, Vec<(usize, SubmitArgs)>> = BTreeMap::new();
            for (nth, one) in args.into_iter().enumerate() {
                by_partition.entry(one.execution_id(&partitions).partition()).or_default().push((nth, one));
            }
            // Submissions to one partition run in the given order. A store performs calls in the order they are first polled, so
            // the runtime must not make one yield to those behind it.
            let in_order = |some: Vec<(usize, SubmitArgs)>| {
                let submit = |(nth, one)| unconstrained(async move { (nth, ask(self, one).await) });
                let at_once = if some.iter().all(|(_, one)| is_one_call(one)) { ON_A_PARTITION } else { 1 };
                stream::iter(some).map(submit).buffered(at_once).collect::<Vec<_>>()
            };
            let answers: Vec<_> =
                stream::iter(by_partition.into_values()).map(in_order).buffer_unordered(AT_ONCE).collect().await;
            let mut answers: Vec<_> = answers.into_iter().flatten().collect();
            answers.sort_unstable_by_key(|(nth, _)| *nth);
            Ok(answers.into_iter().map(|(_, answer)| answer).collect())
        }
    }

    /// Performs an operation that may bring new work: a submission, or members of a flow. The first work of a class on a partition
    /// takes three more calls.
    fn perform_work(&self, operation: Operation) -> impl Future<Output = Answer<Reply>> + Send {
        class::perform(self, operation)
    }

    /// Submits a whole graph in parts. Other operations may run between them. Parts written by an earlier, interrupted submission
    /// are not sent again.
    fn submit_flow(&self, args: SubmitFlowArgs) -> impl Future<Output = Answer<SubmittedFlow>> + Send {
        async move {
            let mut next = 0;
            for part in args.plan()? {
                if part.part < next {
                    continue;
                }
                match ask(self, part).await? {
                    StagedFlow::Submitted(submitted) => return Ok(submitted),
                    StagedFlow::Staged { next_part } => next = next_part,
                }
            }
            Err(EngineError::Corrupt("the last part of a flow did not complete it".into()))
        }
    }

    /// Acts on one page of the executions that a filter selects. Refusals are reported and passed over. If the store does not
    /// answer, the page ends and the caller requests it again.
    fn bulk(&self, args: BulkArgs) -> impl Future<Output = Answer<BulkPage>> + Send {
        bulk::act_on_page(self, args)
    }

    /// Configures a lane on every partition. Afterwards no partition uses earlier settings. If one does not answer, the call fails;
    /// a repetition continues.
    fn configure_lane(&self, args: ConfigureLaneArgs) -> impl Future<Output = Answer<LaneInfo>> + Send {
        lane::configure(self, args)
    }

    /// Defines or deletes a quota policy on every partition. Afterwards no partition uses an earlier definition. If one does not
    /// answer, the call fails; a repetition continues.
    fn put_quota(&self, args: PutQuotaArgs) -> impl Future<Output = Answer<QuotaSet>> + Send {
        quota::put(self, args)
    }

    /// Returns a quota policy and its usage.
    fn describe_quota(&self, quota: QuotaRef) -> impl Future<Output = Answer<QuotaInfo>> + Send {
        quota::describe(self, quota)
    }

    /// Gives back slots of a quota policy, and wakes the executions whose turn has come.
    fn settle_quota(&self, args: SettleAdmissionsArgs) -> impl Future<Output = Answer<QuotaSettlement>> + Send {
        quota::settle(self, args)
    }

    /// Checks every key of a quota policy: drops starts outside a window, and gives free slots to waiting executions.
    fn look_after_quota(&self, policy_id: QuotaPolicyId) -> impl Future<Output = Answer<()>> + Send {
        quota::look_after_keys(self, policy_id)
    }

    /// Makes executions ready that a quota or a budget blocks. Returns their number.
    fn unblock_from(&self, on: Blocker, ids: Vec<ExecutionId>) -> impl Future<Output = Answer<usize>> + Send {
        async move { quota::unblock(self, on, ids.into_iter()).await }
    }

    /// Defines or deletes a budget on every partition, like [`Self::put_quota`].
    fn put_budget(&self, args: PutBudgetArgs) -> impl Future<Output = Answer<QuotaSet>> + Send {
        budget::put(self, args)
    }

    /// Returns a budget and its current state.
    fn describe_budget(&self, budget: BudgetRef) -> impl Future<Output = Answer<BudgetInfo>> + Send {
        budget::describe(self, budget)
    }

    /// Resets a budget. Executions that waited for it become ready.
    fn reset_budget(&self, budget: BudgetRef) -> impl Future<Output = Answer<BudgetReset>> + Send {
        budget::reset(self, budget)
    }

    /// Adds a holder's usage to its execution and to every budget that applies. Also returns the settlement left to do, which the
    /// holder need not wait for.
    fn report_and_charge(
        &self,
        args: ReportUsageArgs,
    ) -> impl Future<Output = Answer<(UsageReported, Option<SettleUsageArgs>)>> + Send {
        budget::report(self, args)
    }

    /// Settles unsettled reports. Returns the number of executions settled.
    fn settle_usage_of(&self, ids: Vec<ExecutionId>) -> impl Future<Output = Answer<usize>> + Send {
        budget::settle_backlog(self, ids)
    }

    /// Returns the usage of all members of a flow together.
    fn flow_usage(&self, flow_id: FlowId) -> impl Future<Output = Answer<UsageInfo>> + Send {
        budget::usage_of_flow(self, flow_id)
    }

    /// Looks at one batch of the due schedules of a partition, and starts their work.
    fn look_at_schedules(&self, partition: u16) -> impl Future<Output = Answer<TickedPartition>> + Send {
        schedule::look_at_partition(self, partition)
    }

    /// Looks at one schedule: a waiting tick may start.
    fn look_at_schedule(
        &self,
        schedule: &ScheduleRef,
        now: TimestampMs,
    ) -> impl Future<Output = Answer<TickedSchedule>> + Send {
        schedule::look_at_schedule(self, schedule, now)
    }

    /// Creates or redefines a schedule.
    fn put_schedule(&self, args: PutScheduleArgs) -> impl Future<Output = Answer<ScheduleInfo>> + Send {
        schedule::put(self, args)
    }

    fn delete_schedule(&self, schedule: ScheduleRef) -> impl Future<Output = Answer<ScheduleDeleted>> + Send {
        schedule::delete(self, schedule)
    }

    fn describe_schedule(&self, schedule: ScheduleRef) -> impl Future<Output = Answer<ScheduleInfo>> + Send {
        schedule::describe(self, schedule)
    }

    fn pause_schedule(&self, args: PauseScheduleArgs) -> impl Future<Output = Answer<ScheduleInfo>> + Send {
        schedule::pause(self, args)
    }

    fn resume_schedule(&self, schedule: ScheduleRef) -> impl Future<Output = Answer<ScheduleInfo>> + Send {
        schedule::resume(self, schedule)
    }

    fn trigger_schedule(&self, schedule: ScheduleRef) -> impl Future<Output = Answer<TickRecord>> + Send {
        schedule::trigger(self, schedule)
    }

    fn backfill_schedule(&self, args: BackfillArgs) -> impl Future<Output = Answer<BackfilledTicks>> + Send {
        schedule::backfill(self, args)
    }

    fn next_ticks(&self, schedule: ScheduleRef, count: usize) -> impl Future<Output = Answer<NextTicks>> + Send {
        schedule::next(self, schedule, count)
    }

    /// Claims executions that the quota policies admit, with a grant of the lane's home where the lane has a limit.
    fn claim_within_limit(&self, args: ClaimArgs) -> impl Future<Output = Answer<Claims>> + Send {
        claim::claim(self, args)
    }

    /// Counts the active executions of a lane with a limit after one has ended, and reports to the lane's home, which can then
    /// grant the free capacity. `lane` is named as in indexes.
    fn recount_and_settle(&self, lane: &LaneId, partitions: Vec<u16>) -> impl Future<Output = Answer<()>> + Send {
        lane::recount_and_settle(self, lane.apart(), partitions)
    }

    /// Writes a new secret to every partition. Returns the outcome on each.
    fn rotate_secret(&self, rotation: RotateSecretArgs) -> impl Future<Output = Answer<RotationReport>> + Send {
        async move {
            rotation.check()?;
            let rotate = |partition| {
                let rotated = self.rotate_on_partition(RotatePartitionArgs { partition, rotation: rotation.clone() });
                async move { (partition, rotated.await) }
            };
            let mut answers = stream::iter(0..self.partitions().num_flow_partitions).map(rotate).buffered(AT_ONCE);
            let mut report = RotationReport::default();
            while let Some((partition, answer)) = answers.next().await {
                report.enter(partition, answer);
            }
            Ok(report)
        }
    }

    /// Explains why an execution does not run, or that it does.
    fn explain(&self, id: ExecutionId) -> impl Future<Output = Answer<Explanation>> + Send {
        explain::execution(self, id)
    }

    /// Explains why the work of a lane does not run.
    fn explain_lane(
        &self,
        namespace: &Namespace,
        lane: &LaneId,
    ) -> impl Future<Output = Answer<LaneExplanation>> + Send {
        explain::lane(self, namespace, lane)
    }

    /// Signs a token for the stream of an execution, under the secrets of its partition.
    fn stream_token(&self, args: StreamTokenArgs) -> impl Future<Output = Answer<StreamToken>> + Send {
        async move {
            args.check(&self.partitions())?;
            let id = args.execution_id;
            self.namespace_of(&id).await?.ok_or(Code::ExecutionNotFound)?;
            let (ring, now) = (self.key_ring(id.partition()).await?, self.now().await?);
            Ok(ring.mint_for_stream(&id, now + args.expires_in_ms)?)
        }
    }

    /// Removes worker instances that stopped without leaving, and returns them.
    fn sweep_workers(&self) -> impl Future<Output = Answer<Vec<WorkerInstanceId>>> + Send {
        async move {
            let mut swept = Vec::new();
            for worker_instance_id in self.sweepable_workers().await? {
                let args = SweepWorkerArgs { worker_instance_id: worker_instance_id.clone() };
                if self.sweep_worker(args).await?.gone {
                    swept.push(worker_instance_id);
                }
            }
            Ok(swept)
        }
    }
}

impl<S: EngineStore + ?Sized> Orchestration for S {}

/// Returns whether a submission is one call, which keeps its place in the order. A class may have to be registered first, and a key
/// rule is a separate function on Valkey.
fn is_one_call(submission: &SubmitArgs) -> bool {
    submission.key_rule.is_none() && submission.policy.class().is_plain()
}

/// Performs an operation that may bring new work, and returns its typed answer.
async fn ask<S: EngineStore + ?Sized, A: Ask>(store: &S, args: A) -> Answer<A::Answer> {
    let reply = class::perform(store, args.into_operation()).await?;
    A::answer(reply).ok_or_else(|| EngineError::Corrupt("a store gave the answer to another operation".into()))
}
