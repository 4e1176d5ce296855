//! Every mutation as a value, and the one place that decides it. Stores that run the rules queue these values; tests
//! compare the values between stores.

pub mod command;
pub mod query;

use crate::backend::{BoxedAnswer, Handle};
use crate::contracts::*;
use crate::engine_error::Refusal;
use crate::event::Feed;
use crate::fairness;
use crate::flow;
use crate::lane::Lane;
use crate::partition::PartitionConfig;
use crate::quota::QuotaSet;
use crate::rule::due::PumpedPartition;
use crate::rule::view::{Stop, View};
use crate::singleton;

pub use crate::partition::check_id;
pub use crate::rule::due::PumpArgs;
pub use command::{Command, Conditions, ExecutionCommand};

/// The answer to an operation, and its writes.
pub type Decision = command::Decision<Reply>;

/// The table of operations, as `call: Variant(Arguments) -> ReplyVariant(Answer)`. Any caller may use those of
/// `callers`; only an engine uses those of `engine`. `from` names the answer of the rule if a store adds to it.
macro_rules! operations {
    ($callback:ident) => {
        $callback! {
            callers {
                /// Creates an execution, or finds the one already created under the same key or uuid.
                submit: Submit(SubmitArgs) -> Submitted(SubmittedExecution);
                /// Takes up to `max` executions of one lane on one partition. Answers at once, perhaps with none.
                claim: Claim(ClaimArgs) -> Claimed(Claims) from ClaimDecision(ClaimDecision);
                renew: Renew(RenewArgs) -> Renewed(RenewedLease);
                progress: Progress(ProgressArgs) -> ProgressRecorded(RecordedProgress);
                /// Adds frames to the stream of the running attempt. Safe to repeat if it names the number of the first
                /// frame.
                append_frames: AppendFrames(AppendFramesArgs) -> FramesAppended(FramesAppended);
                /// Records a step of the execution once. A step that is already recorded is returned instead.
                record_step: RecordStep(RecordStepArgs) -> StepRecorded(StepRecorded);
                /// Reports usage by the holder. Safe to repeat under the same report id.
                report_usage: ReportUsage(ReportUsageArgs) -> UsageReported(UsageReported);
                complete: Complete(CompleteArgs) -> Completed(CompletedExecution);
                fail: Fail(FailArgs) -> Failed(FailedAttempt);
                delay: Delay(DelayArgs) -> Delayed(DelayedExecution);
                cancel: Cancel(CancelArgs) -> Cancelled(CancelledExecution);
                replay: Replay(ReplayArgs) -> Replayed(ReplayedExecution);
                /// Creates an execution from another one, with its recorded steps up to a given step.
                fork: Fork(ForkArgs) -> Forked(ForkedExecution);
                /// Revokes the lease of an execution.
                revoke: Revoke(RevokeArgs) -> Revoked(RevokedLease);
                change_priority: ChangePriority(ChangePriorityArgs) -> PriorityChanged(PriorityChanged);
                /// Moves the deadline of a live execution, sooner or later.
                extend_deadline: ExtendDeadline(ExtendDeadlineArgs) -> DeadlineExtended(DeadlineExtended);
                /// Holds a live execution: it cannot be claimed until it is released. A running execution continues.
                hold: Hold(HoldArgs) -> HoldPlaced(HoldPlaced);
                release_hold: ReleaseHold(ReleaseHoldArgs) -> HoldReleased(HoldReleased);
                /// Assigns an execution that is ready or blocked, or whose lease has expired, to one worker instance
                /// for a limited time.
                assign: Assign(AssignArgs) -> GrantIssued(GrantIssued);
                /// Ends an assignment early.
                unassign: Unassign(UnassignArgs) -> GrantRevoked(GrantRevoked);
                set_tags: SetTags(SetTagsArgs) -> Tagged(TaggedExecution);
                /// Ends the holder's lease and suspends the execution, unless the condition is met already.
                suspend: Suspend(SuspendArgs) -> Suspended(SuspendedExecution);
                /// Creates a waitpoint ahead of a suspension, so that its token can be given out first.
                create_waitpoint: CreateWaitpoint(CreateWaitpointArgs) -> WaitpointCreated(GrantedWaitpoint);
                /// Closes a waitpoint that no suspension has used.
                close_waitpoint: CloseWaitpoint(CloseWaitpointArgs) -> WaitpointClosed(ClosedWaitpoint);
                /// Delivers a signal, authorized by the token of its waitpoint. Safe to repeat under an idempotency key.
                deliver: Deliver(DeliverArgs) -> Delivered(DeliveredSignal);
                /// Ends a suspension, by decision of an operator.
                resume: Resume(ResumeArgs) -> Resumed(ResumedExecution);
                /// Creates a flow without members, which stays open until it is closed.
                create_flow: CreateFlow(CreateFlowArgs) -> FlowCreated(SubmittedFlow);
                /// Adds members and edges to a live flow, all of them or none.
                grow_flow: GrowFlow(GrowFlowArgs) -> FlowGrown(GrownFlow);
                /// Closes a flow: it ends when its last member ends.
                close_flow: CloseFlow(CloseFlowArgs) -> FlowClosed(ClosedFlow);
                /// Cancels a flow. After the answer, no member starts unless the policy spares it.
                cancel_flow: CancelFlow(CancelFlowArgs) -> FlowCancelled(FlowCancelled);
                set_flow_tags: SetFlowTags(SetFlowTagsArgs) -> FlowTagged(TaggedFlow);
                /// Ends the holder's lease until the join of the members that it added is decided, unless it is decided
                /// already.
                wait_for_children: WaitForChildren(WaitForChildrenArgs) -> WaitedForChildren(WaitedForChildren);
                /// Notifies the dependents of an execution that has ended, within the bounds of one step.
                cascade: Cascade(CascadeArgs) -> Cascaded(CascadeStep);
                register_worker: RegisterWorker(RegisterWorkerArgs) -> WorkerRegistered(RegisteredWorker);
                /// Records that a worker instance is alive. Refused as `not_found` if the instance counts as gone, so
                /// that it registers again.
                heartbeat: Heartbeat(HeartbeatArgs) -> WorkerSeen(SeenWorker);
                leave: Leave(LeaveArgs) -> WorkerLeft(LeftWorker);
                create_key: CreateKey(CreateKeyArgs) -> KeyCreated(CreatedKey);
                /// Revokes a key; refused as `not_found` when there is none.
                revoke_key: RevokeKey(RevokeKeyArgs) -> KeyRevoked(RevokedKey);
            }
            engine {
                /// Fires at most one batch of due executions and flows of a partition, and does one step of pending
                /// work of flows. Returns the time at which the next execution or flow is due, which is in the past if
                /// any of this work is left.
                pump_partition: Pump(PumpArgs) -> Pumped(PumpedPartition);
                /// Writes one part of a flow that is submitted in several.
                stage_flow: StageFlow(StageFlowArgs) -> FlowStaged(StagedFlow);
                rotate_on_partition: Rotate(RotatePartitionArgs) -> Rotated(RotatedSecret);
                /// Configures a lane at its home partition.
                configure_lane_home: ConfigureLane(ConfigureLaneArgs) -> LaneConfigured(Lane);
                /// Adds requirement classes to a lane at its home partition.
                register_classes: RegisterClasses(RegisterClassesArgs) -> ClassesRegistered(Lane);
                copy_lane: CopyLane(CopyLaneArgs) -> LaneCopied(LaneCount);
                allot_lane: Allot(AllotArgs) -> Allotted(Allotment);
                claim_granted: ClaimGranted(GrantedClaimArgs) -> GrantClaimed(GrantedClaims) from ClaimGranted(GrantedClaim);
                recount_lane: RecountLane(RecountLaneArgs) -> LaneRecounted(LaneCount);
                settle_lane: SettleLane(SettleLaneArgs) -> LaneSettled(LaneSettled);
                /// Creates, replaces or deletes a quota policy at the home of its namespace.
                put_quota_home: PutQuota(PutQuotaArgs) -> QuotaPut(QuotaSet);
                /// Writes the definition of a quota policy to the home of the policy.
                define_quota: DefineQuota(DefineQuotaArgs) -> QuotaDefined(QuotaDefined);
                /// Creates, replaces or deletes a budget at the home of its namespace.
                put_budget_home: PutBudget(PutBudgetArgs) -> BudgetPut(QuotaSet);
                /// Writes the definition of a budget to the home of the budget.
                define_budget: DefineBudget(DefineBudgetArgs) -> BudgetDefined(QuotaDefined);
                /// Charges the usage of an execution to a budget.
                charge_budget: ChargeBudget(ChargeBudgetArgs) -> BudgetCharged(BudgetAnswer);
                /// Resets a budget at its home.
                restart_budget: ResetBudget(ResetBudgetArgs) -> BudgetRestarted(BudgetReset);
                /// Records that every budget has counted the usage of an execution.
                settle_usage: SettleUsage(SettleUsageArgs) -> UsageSettled(UsageSettled);
                copy_quotas: CopyQuotas(CopyQuotasArgs) -> QuotasCopied(QuotasCopied);
                /// Asks a quota policy whether executions may be claimed, and reserves their slots.
                admit: Admit(AdmitArgs) -> AdmissionsEvaluated(AdmissionVerdicts);
                /// Releases slots of a quota policy, and returns the executions that need not wait any longer.
                settle_admissions: SettleAdmissions(SettleAdmissionsArgs) -> AdmissionsSettled(AdmissionsSettled);
                /// Takes executions that every quota policy has admitted.
                claim_admitted: ClaimAdmitted(AdmittedClaimArgs) -> AdmittedClaimed(AdmittedClaims)
                    from ClaimAdmitted(AdmittedClaim);
                /// Blocks executions that may not run now, which removes them from the queues. Executions that do not
                /// wait under the given epoch are left alone.
                block: Block(BlockArgs) -> BlockedCount(BlockedCount);
                /// Makes executions ready again that have the given blocker. Others are left alone.
                unblock: Unblock(UnblockArgs) -> UnblockedExecutions(UnblockedExecutions);
                /// Replaces or removes the expected version of a schedule, or creates a schedule.
                write_schedule: WriteSchedule(WriteScheduleArgs) -> ScheduleWritten(ScheduleWritten);
                sweep_worker: SweepWorker(SweepWorkerArgs) -> WorkerSwept(SweptWorker);
                /// Keeps a partition's feed of events recording for [`crate::limits::FOLLOWED_MS`].
                follow: Follow(FollowArgs) -> Followed(Feed);
            }
        }
    };
}
pub(crate) use operations;

macro_rules! define_operations {
    (callers { $($callers:tt)* } engine { $($engine:tt)* }) => {
        define_operations! { $($callers)* $($engine)* }
        define_operations! { callers $($callers)* }
    };
    (callers $($(#[$doc:meta])* $call:ident: $name:ident($args:ty) -> $reply:ident($answer:ty)
        $(from $decided:ident($decision:ty))?;)*
    ) => {
        /// Calls the handler of an operation on an implementation that serves only callers. Returns the name of the
        /// operation if it is reserved for engines.
        pub fn dispatch_for_caller<S>(store: &S, operation: Operation) -> Result<BoxedAnswer<'_, Reply>, &'static str>
        where
            S: Sync $(+ Handle<$args, $answer>)*,
        {
            match operation {
                $(Operation::$name(args) => {
                    Ok(Box::pin(async move { Ok(Reply::$reply(store.handle(args).await?)) }))
                })*
                engines => Err(engines.name()),
            }
        }
    };
    ($($(#[$doc:meta])* $call:ident: $name:ident($args:ty) -> $reply:ident($answer:ty)
        $(from $decided:ident($decision:ty))?;)*
    ) => {
        /// One mutation.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Operation {
            $($name($args),)*
        }

        /// The answer to a mutation.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Reply {
            $($reply($answer),)*
            $($($decided($decision),)?)*
        }

        impl Operation {
            /// Returns the name of the operation in metrics and logs.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => stringify!($call),)*
                }
            }

            /// Refuses arguments that no state of the store could make acceptable.
            pub fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
                match self {
                    $(Self::$name(args) => Command::check(args, partitions),)*
                }
            }

            /// Returns the partition to which the operation writes.
            pub fn partition(&self, partitions: &PartitionConfig) -> u16 {
                match self {
                    $(Self::$name(args) => Command::partition(args, partitions),)*
                }
            }

            /// Decides the operation, and its consequences within flows. After a miss, it runs again with the missing
            /// records loaded.
            pub fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision, Stop> {
                match self {
                    $(Self::$name(args) => Ok(decide(args, view, at)?.map(<$args>::reply)),)*
                }
            }
        }

        $(ask!($args, $name, $reply($answer) $(from $decided($decision))?);)*

        /// Calls the handler of a store for an operation.
        pub fn dispatch<S>(store: &S, operation: Operation) -> BoxedAnswer<'_, Reply>
        where
            S: Sync $(+ Handle<$args, $answer>)*,
        {
            match operation {
                $(Operation::$name(args) => Box::pin(async move { Ok(Reply::$reply(store.handle(args).await?)) }),)*
            }
        }
    };
}

macro_rules! ask {
    ($args:ty, $name:ident, $reply:ident($answer:ty)) => {
        ask!($args, $name, $reply($answer) from $reply($answer));
    };
    ($args:ty, $name:ident, $reply:ident($answer:ty) from $decided:ident($decision:ty)) => {
        impl Ask for $args {
            type Answer = $answer;

            fn into_operation(self) -> Operation {
                Operation::$name(self)
            }

            fn answer(reply: Reply) -> Option<$answer> {
                match reply {
                    Reply::$reply(answer) => Some(answer),
                    _ => None,
                }
            }

            fn reply(decided: $decision) -> Reply {
                Reply::$decided(decided)
            }

            fn decided(reply: Reply) -> Option<$decision> {
                match reply {
                    Reply::$decided(decided) => Some(decided),
                    _ => None,
                }
            }
        }
    };
}

/// A command with its operation, the store's answer and the rule's reply. A store adds payloads, signals and inputs to
/// a claim; for other commands, answer and reply are the same.
pub trait Ask: Command + Send + 'static {
    /// The store's answer.
    type Answer: Send + 'static;

    fn into_operation(self) -> Operation;

    /// Returns the store's answer, if the reply is one of a store to this operation.
    fn answer(reply: Reply) -> Option<Self::Answer>;

    fn reply(decided: <Self as Command>::Reply) -> Reply;

    /// Returns the rule's reply, if it is one to this operation.
    fn decided(reply: Reply) -> Option<<Self as Command>::Reply>;
}

operations!(define_operations);

/// Checks and decides a command. Adds the consequences within flows and key queues, unless the rule has decided them,
/// and those for the turns of keys.
fn decide<C: Command>(command: &C, view: &dyn View, at: &Conditions) -> Result<command::Decision<C::Reply>, Stop> {
    command.check(&at.partitions)?;
    let mut decision = command.decide(view, at)?;
    if decision.flows.is_empty() && !C::SETTLES_FLOWS {
        let settled = flow::follow(view, std::mem::take(&mut decision.changes), at.now)?;
        (decision.changes, decision.flows) = (settled.changes, settled.flows);
    }
    if decision.key_queues.is_empty() {
        decision.key_queues = singleton::follow(view, &mut decision.changes, at.now)?;
    }
    decision.turns = fairness::follow(view, &decision.changes, decision.turns)?;
    Ok(decision)
}
