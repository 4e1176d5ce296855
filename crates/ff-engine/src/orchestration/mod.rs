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

/// A row is a call: its arguments, its answer, and the function that makes it.
macro_rules! calls {
    ($($(#[$doc:meta])* $call:ident($($arg:ident: $type:ty),*) -> $answer:ty = $function:path;)*) => {
        /// Calls that take several operations, for every store.
        pub trait Orchestration: EngineStore {$(
            $(#[$doc])*
            fn $call(&self $(, $arg: $type)*) -> impl Future<Output = Answer<$answer>> + Send {
                $function(self $(, $arg)*)
            }
        )*}
    };
}

calls! {
    /// Submits up to [`limits::BULK`] executions, in order, each with its own outcome.
    submit_many(args: Vec<SubmitArgs>) -> Vec<Answer<SubmittedExecution>> = submit_many;

    /// Performs an operation that may bring new work: a submission, or members of a flow. The first work of a class on a partition
    /// takes three more calls.
    perform_work(operation: Operation) -> Reply = class::perform;

    /// Submits a whole graph in parts. Other operations may run between them. Parts written by an earlier, interrupted submission
    /// are not sent again.
    submit_flow(args: SubmitFlowArgs) -> SubmittedFlow = submit_flow;

    /// Acts on one page of the executions that a filter selects. Refusals are reported and passed over. If the store does not
    /// answer, the page ends and the caller requests it again.
    bulk(args: BulkArgs) -> BulkPage = bulk::act_on_page;

    /// Configures a lane on every partition. Afterwards no partition uses earlier settings. If one does not answer, the call fails;
    /// a repetition continues.
    configure_lane(args: ConfigureLaneArgs) -> LaneInfo = lane::configure;

    /// Defines or deletes a quota policy on every partition. Afterwards no partition uses an earlier definition. If one does not
    /// answer, the call fails; a repetition continues.
    put_quota(args: PutQuotaArgs) -> QuotaSet = quota::put;

    /// Returns a quota policy and its usage.
    describe_quota(quota: QuotaRef) -> QuotaInfo = quota::describe;

    /// Gives back slots of a quota policy, and wakes the executions whose turn has come.
    settle_quota(args: SettleAdmissionsArgs) -> QuotaSettlement = quota::settle;

    /// Checks every key of a quota policy: drops starts outside a window, and gives free slots to waiting executions.
    look_after_quota(policy_id: QuotaPolicyId) -> () = quota::look_after_keys;

    /// Makes executions ready that a quota or a budget blocks. Returns their number.
    unblock_from(on: Blocker, ids: Vec<ExecutionId>) -> usize = quota::unblock;

    /// Defines or deletes a budget on every partition, like [`Self::put_quota`].
    put_budget(args: PutBudgetArgs) -> QuotaSet = budget::put;

    /// Returns a budget and its current state.
    describe_budget(budget: BudgetRef) -> BudgetInfo = budget::describe;

    /// Resets a budget. Executions that waited for it become ready.
    reset_budget(budget: BudgetRef) -> BudgetReset = budget::reset;

    /// Adds a holder's usage to its execution and to every budget that applies. Also returns the settlement left to do, which the
    /// holder need not wait for.
    report_and_charge(args: ReportUsageArgs) -> (UsageReported, Option<SettleUsageArgs>) = budget::report;

    /// Settles unsettled reports. Returns the number of executions settled.
    settle_usage_of(ids: Vec<ExecutionId>) -> usize = budget::settle_backlog;

    /// Returns the usage of all members of a flow together.
    flow_usage(flow_id: FlowId) -> UsageInfo = budget::usage_of_flow;

    /// Looks at one batch of the due schedules of a partition, and starts their work.
    look_at_schedules(partition: u16) -> TickedPartition = schedule::look_at_partition;

    /// Looks at one schedule: a waiting tick may start.
    look_at_schedule(schedule: &ScheduleRef, now: TimestampMs) -> TickedSchedule = schedule::look_at_schedule;

    /// Creates or redefines a schedule.
    put_schedule(args: PutScheduleArgs) -> ScheduleInfo = schedule::put;
    delete_schedule(schedule: ScheduleRef) -> ScheduleDeleted = schedule::delete;
    describe_schedule(schedule: ScheduleRef) -> ScheduleInfo = schedule::describe;
    pause_schedule(args: PauseScheduleArgs) -> ScheduleInfo = schedule::pause;
    resume_schedule(schedule: ScheduleRef) -> ScheduleInfo = schedule::resume;
    trigger_schedule(schedule: ScheduleRef) -> TickRecord = schedule::trigger;
    backfill_schedule(args: BackfillArgs) -> BackfilledTicks = schedule::backfill;
    next_ticks(schedule: ScheduleRef, count: usize) -> NextTicks = schedule::next;

    /// Claims executions that the quota policies admit, with a grant of the lane's home where the lane has a limit.
    claim_within_limit(args: ClaimArgs) -> Claims = claim::claim;

    /// Counts the active executions of a lane with a limit after one has ended, and reports to the lane's home, which can then
    /// grant the free capacity. `lane` is named as in indexes.
    recount_and_settle(lane: &LaneId, partitions: Vec<u16>) -> () = lane::recount_and_settle;

    /// Writes a new secret to every partition. Returns the outcome on each.
    rotate_secret(rotation: RotateSecretArgs) -> RotationReport = rotate_secret;

    /// Explains why an execution does not run, or that it does.
    explain(id: ExecutionId) -> Explanation = explain::execution;

    /// Explains why the work of a lane does not run.
    explain_lane(namespace: &Namespace, lane: &LaneId) -> LaneExplanation = explain::lane;

    /// Signs a token for the stream of an execution, under the secrets of its partition.
    stream_token(args: StreamTokenArgs) -> StreamToken = stream_token;

    /// Removes worker instances that stopped without leaving, and returns them.
    sweep_workers() -> Vec<WorkerInstanceId> = sweep_workers;
}

impl<S: EngineStore + ?Sized> Orchestration for S {}

async fn submit_many<S: EngineStore + ?Sized>(
    store: &S,
    args: Vec<SubmitArgs>,
) -> Answer<Vec<Answer<SubmittedExecution>>> {
    if args.len() > limits::BULK {
        return Err(Refusal::over_limit(Code::LimitExceeded, "executions", limits::BULK, args.len()).into());
    }
    let partitions = store.partitions();
    let mut by_partition: BTreeMap<u16, Vec<(usize, SubmitArgs)>> = BTreeMap::new();
    for (nth, one) in args.into_iter().enumerate() {
        by_partition.entry(one.execution_id(&partitions).partition()).or_default().push((nth, one));
    }
    // Submissions to one partition run in the given order. A store performs calls in the order they are first polled, so
    // the runtime must not make one yield to those behind it.
    let in_order = |some: Vec<(usize, SubmitArgs)>| {
        let submit = |(nth, one)| unconstrained(async move { (nth, ask(store, one).await) });
        let at_once = if some.iter().all(|(_, one)| is_one_call(one)) { ON_A_PARTITION } else { 1 };
        stream::iter(some).map(submit).buffered(at_once).collect::<Vec<_>>()
    };
    let answers: Vec<_> =
        stream::iter(by_partition.into_values()).map(in_order).buffer_unordered(AT_ONCE).collect().await;
    let mut answers: Vec<_> = answers.into_iter().flatten().collect();
    answers.sort_unstable_by_key(|(nth, _)| *nth);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

async fn submit_flow<S: EngineStore + ?Sized>(store: &S, args: SubmitFlowArgs) -> Answer<SubmittedFlow> {
    let mut next = 0;
    for part in args.plan()? {
        if part.part < next {
            continue;
        }
        match ask(store, part).await? {
            StagedFlow::Submitted(submitted) => return Ok(submitted),
            StagedFlow::Staged { next_part } => next = next_part,
        }
    }
    Err(EngineError::Corrupt("the last part of a flow did not complete it".into()))
}

async fn rotate_secret<S: EngineStore + ?Sized>(store: &S, rotation: RotateSecretArgs) -> Answer<RotationReport> {
    rotation.check()?;
    let rotate = |partition| {
        let rotated = store.rotate_on_partition(RotatePartitionArgs { partition, rotation: rotation.clone() });
        async move { (partition, rotated.await) }
    };
    let mut answers = stream::iter(0..store.partitions().num_flow_partitions).map(rotate).buffered(AT_ONCE);
    let mut report = RotationReport::default();
    while let Some((partition, answer)) = answers.next().await {
        report.enter(partition, answer);
    }
    Ok(report)
}

async fn stream_token<S: EngineStore + ?Sized>(store: &S, args: StreamTokenArgs) -> Answer<StreamToken> {
    args.check(&store.partitions())?;
    let id = args.execution_id;
    store.namespace_of(&id).await?.ok_or(Code::ExecutionNotFound)?;
    let (ring, now) = (store.key_ring(id.partition()).await?, store.now().await?);
    Ok(ring.mint_for_stream(&id, now + args.expires_in_ms)?)
}

async fn sweep_workers<S: EngineStore + ?Sized>(store: &S) -> Answer<Vec<WorkerInstanceId>> {
    let mut swept = Vec::new();
    for worker_instance_id in store.sweepable_workers().await? {
        let args = SweepWorkerArgs { worker_instance_id: worker_instance_id.clone() };
        if store.sweep_worker(args).await?.gone {
            swept.push(worker_instance_id);
        }
    }
    Ok(swept)
}

/// Returns none for an execution that is not there.
pub(crate) fn if_there<T>(answer: Answer<T>) -> Answer<Option<T>> {
    match answer {
        Err(error) if error.code() == Code::ExecutionNotFound => Ok(None),
        answer => answer.map(Some),
    }
}

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
