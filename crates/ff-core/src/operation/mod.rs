//! Every mutation as a value, and the one place that decides it. Stores that run the rules queue these; tests compare
//! them between stores.

pub mod command;

use crate::backend::{BoxedAnswer, Handle};
use crate::contracts::*;
use crate::due::PumpedPartition;
use crate::engine_error::Refusal;
use crate::event::Feed;
use crate::fairness;
use crate::flow;
use crate::lane::Lane;
use crate::partition::PartitionConfig;
use crate::quota::QuotaSet;
use crate::singleton;
use crate::view::{Stop, View};

pub use crate::due::PumpArgs;
pub use crate::partition::check_id;
pub use command::{Command, Conditions};

/// The answer to an operation, and its writes.
pub type Decision = command::Decision<Reply>;

/// Every operation, as `call: Variant(Arguments) -> ReplyVariant(Answer)`: those any caller may ask for, and those only an engine asks
/// for. `from` names the rule's answer, where a store adds to it.
macro_rules! operations {
    ($callback:ident) => {
        $callback! {
            callers {
                /// Creates an execution, or finds the one already created under the same key or uuid.
                submit: Submit(SubmitArgs) -> Submitted(SubmittedExecution);
                /// Takes up to `max` executions of one lane on one partition. Answers at once, perhaps with none.
                claim: Claim(ClaimArgs) -> Claimed(Claims) from ClaimDecision(ClaimDecision);
                renew: Renew(RenewArgs) -> Renewed(RenewedLease);
                progress: Progress(ProgressArgs) -> Noted(RecordedProgress);
                /// Adds frames to the stream of the running attempt. Safe to repeat when it says which number the first gets.
                append_frames: AppendFrames(AppendFramesArgs) -> FramesAppended(FramesAppended);
                /// Records a step of the execution, once: a step that is there already is answered with.
                record_step: RecordStep(RecordStepArgs) -> StepRecorded(StepRecorded);
                /// Reports usage of the holder. Safe to repeat under the same report id.
                report_usage: ReportUsage(ReportUsageArgs) -> UsageReported(UsageReported);
                complete: Complete(CompleteArgs) -> Completed(CompletedExecution);
                fail: Fail(FailArgs) -> Failed(FailedAttempt);
                delay: Delay(DelayArgs) -> Delayed(DelayedExecution);
                cancel: Cancel(CancelArgs) -> Cancelled(CancelledExecution);
                replay: Replay(ReplayArgs) -> Replayed(ReplayedExecution);
                /// Creates an execution from another one, with its recorded steps up to a given step.
                fork: Fork(ForkArgs) -> Forked(ForkedExecution);
                /// Takes an execution from its holder.
                revoke: Revoke(RevokeArgs) -> Revoked(RevokedLease);
                change_priority: ChangePriority(ChangePriorityArgs) -> PriorityChanged(PriorityChanged);
                /// Moves the deadline of a live execution, sooner or later.
                extend_deadline: ExtendDeadline(ExtendDeadlineArgs) -> DeadlineExtended(DeadlineExtended);
                /// Keeps a live execution from being claimed until it is released. One that runs goes on.
                hold: Hold(HoldArgs) -> HoldPlaced(HoldPlaced);
                release_hold: ReleaseHold(ReleaseHoldArgs) -> HoldReleased(HoldReleased);
                /// Hands a ready, blocked or expired execution to one worker instance for a while.
                assign: Assign(AssignArgs) -> GrantIssued(GrantIssued);
                /// Ends an assignment before its time.
                unassign: Unassign(UnassignArgs) -> GrantRevoked(GrantRevoked);
                set_tags: SetTags(SetTagsArgs) -> Tagged(TaggedExecution);
                /// The holder gives up its lease and waits, unless the condition is met already.
                suspend: Suspend(SuspendArgs) -> Suspended(SuspendedExecution);
                /// Makes a waitpoint ahead of a suspension, so that its token can be handed out first.
                create_waitpoint: CreateWaitpoint(CreateWaitpointArgs) -> WaitpointCreated(GrantedWaitpoint);
                /// Closes a waitpoint no suspension has used.
                close_waitpoint: CloseWaitpoint(CloseWaitpointArgs) -> WaitpointClosed(ClosedWaitpoint);
                /// Delivers a signal by the authority of its token. Safe to repeat under an idempotency key.
                deliver: Deliver(DeliverArgs) -> Delivered(DeliveredSignal);
                /// An operator ends a suspension.
                resume: Resume(ResumeArgs) -> Resumed(ResumedExecution);
                /// Makes a flow without members, which stays open until it is closed.
                create_flow: CreateFlow(CreateFlowArgs) -> FlowCreated(SubmittedFlow);
                /// Adds members and edges to a live flow, all of them or none.
                grow_flow: GrowFlow(GrowFlowArgs) -> FlowGrown(GrownFlow);
                /// Closes a flow: it ends when its last member ends.
                close_flow: CloseFlow(CloseFlowArgs) -> FlowClosed(ClosedFlow);
                /// Stops a flow. Once this is answered, no member starts that the policy does not spare.
                cancel_flow: CancelFlow(CancelFlowArgs) -> FlowCancelled(FlowCancelled);
                set_flow_tags: SetFlowTags(SetFlowTagsArgs) -> FlowTagged(TaggedFlow);
                /// The holder gives up its lease until the members it added have ended as its join asks.
                wait_for_children: WaitForChildren(WaitForChildrenArgs) -> WaitedForChildren(WaitedForChildren);
                /// Notifies the dependents of an execution that has ended, as far as one step goes.
                cascade: Cascade(CascadeArgs) -> Cascaded(CascadeStep);
                register_worker: RegisterWorker(RegisterWorkerArgs) -> WorkerRegistered(RegisteredWorker);
                /// Says that a worker instance is alive; refused as `not_found` when it counts as gone, so that it registers again.
                heartbeat: Heartbeat(HeartbeatArgs) -> WorkerSeen(SeenWorker);
                leave: Leave(LeaveArgs) -> WorkerLeft(LeftWorker);
                create_key: CreateKey(CreateKeyArgs) -> KeyCreated(CreatedKey);
                /// Revokes a key; refused as `not_found` when there is none.
                revoke_key: RevokeKey(RevokeKeyArgs) -> KeyRevoked(RevokedKey);
            }
            engine {
                /// Fires due executions and flows of a partition, at most one batch, does one step of pending work of
                /// flows, and answers when the next thing is due: in the past when there is more of either.
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
                /// Decides at the home of its namespace how a quota policy is to be.
                put_quota_home: PutQuota(PutQuotaArgs) -> QuotaPut(QuotaSet);
                /// Tells the home of a quota policy how it is defined.
                define_quota: DefineQuota(DefineQuotaArgs) -> QuotaDefined(QuotaDefined);
                /// Decides at the home of its namespace how a budget is to be.
                put_budget_home: PutBudget(PutBudgetArgs) -> BudgetPut(QuotaSet);
                /// Tells the home of a budget how it is defined.
                define_budget: DefineBudget(DefineBudgetArgs) -> BudgetDefined(QuotaDefined);
                /// Tells a budget the usage of an execution.
                charge_budget: ChargeBudget(ChargeBudgetArgs) -> BudgetCharged(BudgetAnswer);
                /// Has the home of a budget begin anew.
                restart_budget: ResetBudget(ResetBudgetArgs) -> BudgetRestarted(BudgetReset);
                /// Notes that every budget has counted the usage of an execution.
                settle_usage: SettleUsage(SettleUsageArgs) -> UsageSettled(UsageSettled);
                copy_quotas: CopyQuotas(CopyQuotasArgs) -> QuotasCopied(QuotasCopied);
                /// Asks a quota policy whether executions may be claimed, and reserves their slots.
                admit: Admit(AdmitArgs) -> AdmissionsJudged(AdmissionVerdicts);
                /// Gives slots of a quota policy back, and says which executions need not wait any longer.
                settle_admissions: SettleAdmissions(SettleAdmissionsArgs) -> AdmissionsSettled(AdmissionsSettled);
                /// Takes executions that every quota policy has admitted.
                claim_admitted: ClaimAdmitted(AdmittedClaimArgs) -> AdmittedClaimed(AdmittedClaims)
                    from ClaimAdmitted(AdmittedClaim);
                /// Takes executions that may not run now out of the queues. Those that do not wait under the given epoch are left alone.
                block: Block(BlockArgs) -> BlockedCount(BlockedCount);
                /// Makes executions ready again that are blocked on something. Others are left alone.
                unblock: Unblock(UnblockArgs) -> UnblockedExecutions(UnblockedExecutions);
                /// Writes a schedule over a version of it, or removes it.
                write_schedule: WriteSchedule(WriteScheduleArgs) -> ScheduleWritten(ScheduleWritten);
                sweep_worker: SweepWorker(SweepWorkerArgs) -> WorkerSwept(SweptWorker);
                /// Keeps a partition's feed of events going for [`crate::limits::FOLLOWED_MS`].
                follow: Follow(FollowArgs) -> Followed(Feed);
            }
        }
    };
}
pub(crate) use operations;

macro_rules! define_operations {
    (
        callers {
            $($(#[$doc:meta])* $call:ident: $name:ident($args:ty) -> $reply:ident($answer:ty)
                $(from $decided:ident($decision:ty))?;)*
        }
        engine {
            $($(#[$edoc:meta])* $ecall:ident: $ename:ident($eargs:ty) -> $ereply:ident($eanswer:ty)
                $(from $edecided:ident($edecision:ty))?;)*
        }
    ) => {
        /// One mutation.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Operation {
            $($name($args),)*
            $($ename($eargs),)*
        }

        /// The answer to a mutation.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Reply {
            $($reply($answer),)*
            $($ereply($eanswer),)*
            $($($decided($decision),)?)*
            $($($edecided($edecision),)?)*
        }

        impl Operation {
            /// Its name in metrics and logs.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => stringify!($call),)*
                    $(Self::$ename(_) => stringify!($ecall),)*
                }
            }
        }

        impl Operation {
            /// Refuses arguments that no state of the store could make acceptable.
            pub fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
                match self {
                    $(Self::$name(args) => Command::check(args, partitions),)*
                    $(Self::$ename(args) => Command::check(args, partitions),)*
                }
            }

            /// The partition this operation writes to.
            pub fn partition(&self, partitions: &PartitionConfig) -> u16 {
                match self {
                    $(Self::$name(args) => Command::partition(args, partitions),)*
                    $(Self::$ename(args) => Command::partition(args, partitions),)*
                }
            }

            /// Decides the operation, and its consequences within flows. Runs again with more loaded when it stops at
            /// a miss.
            pub fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision, Stop> {
                match self {
                    $(Self::$name(args) => Ok(decide(args, view, at)?.map(<$args>::reply)),)*
                    $(Self::$ename(args) => Ok(decide(args, view, at)?.map(<$eargs>::reply)),)*
                }
            }
        }

        $(ask!($args, $name, $reply($answer) $(from $decided($decision))?);)*
        $(ask!($eargs, $ename, $ereply($eanswer) $(from $edecided($edecision))?);)*

        /// Has a store handle an operation by the function it has for it.
        pub fn dispatch<S>(store: &S, operation: Operation) -> BoxedAnswer<'_, Reply>
        where
            S: Sync $(+ Handle<$args, $answer>)* $(+ Handle<$eargs, $eanswer>)*,
        {
            match operation {
                $(Operation::$name(args) => Box::pin(async move { Ok(Reply::$reply(store.handle(args).await?)) }),)*
                $(Operation::$ename(args) => Box::pin(async move { Ok(Reply::$ereply(store.handle(args).await?)) }),)*
            }
        }

        /// Has something that is not an engine's store handle an operation; or gives the name of one only an engine asks for.
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

/// Commands with their operation, the store's answer and the rule's reply. A store adds payloads, signals and inputs to
/// a claim; otherwise the two are the same.
pub trait Ask: Command + Send + 'static {
    /// The store's answer.
    type Answer: Send + 'static;

    fn into_operation(self) -> Operation;

    /// The answer, when the reply is one of a store to this operation.
    fn answer(reply: Reply) -> Option<Self::Answer>;

    fn reply(decided: <Self as Command>::Reply) -> Reply;

    /// The rule's reply, when it is one to this operation.
    fn decided(reply: Reply) -> Option<<Self as Command>::Reply>;
}

operations!(define_operations);

/// Checks and decides a command, and draws the consequences within flows and queues of keys, unless its rule has, and for
/// the turns of keys.
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
