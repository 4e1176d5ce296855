//! Every mutation as a value, and the one place that decides it. Stores that run the rules queue these; tests compare
//! them between stores.

mod check;
mod decide;

use crate::backend::{Handle, Pending};
use crate::change::Change;
use crate::dice::Nonce;
use crate::due::Pumped;
use crate::event::Feed;
use crate::event::contracts::FollowArgs;
use crate::execution::contracts::{
    CancelArgs, Cancelled, ChangePriorityArgs, CompleteArgs, Completed, DelayArgs, Delayed, FailArgs, Failed, Noted,
    PriorityChanged, ProgressArgs, ReplayArgs, Replayed, SetTagsArgs, SubmitArgs, Submitted, Tagged,
};
use crate::flow::contracts::{
    CancelFlowArgs, CascadeArgs, Cascaded, CloseFlowArgs, ClosedFlow, CreateFlowArgs, FlowCancelled, GrowFlowArgs,
    Grown, SetFlowTagsArgs, StageFlowArgs, StagedFlow, SubmittedFlow, TaggedFlow, WaitForChildrenArgs,
    WaitedForChildren,
};
use crate::flow::{FlowChange, Settled};
use crate::key::ApiKey;
use crate::key::contracts::{CreateKeyArgs, CreatedKey, RevokeKeyArgs, RevokedKey};
use crate::lane::Lane;
use crate::lane::contracts::{
    AllotArgs, Allotted, ConfigureLaneArgs, CopyLaneArgs, GrantedClaim, GrantedClaimArgs, GrantedClaims, LaneCount,
    LaneSettled, RecountLaneArgs, SettleLaneArgs,
};
use crate::lease::contracts::{ClaimArgs, Claims, RenewArgs, Renewed, RevokeArgs, Revoked, Taken};
use crate::partition::PartitionConfig;
use crate::signal::contracts::{DeliverArgs, Delivered};
use crate::suspension::contracts::{
    CloseWaitpointArgs, ClosedWaitpoint, CreateWaitpointArgs, GrantedWaitpoint, ResumeArgs, Resumed, SuspendArgs,
    Suspended,
};
use crate::token::KeyRing;
use crate::token::contracts::{RotatePartitionArgs, Rotated};
use crate::types::{ExecutionId, TimestampMs};
use crate::worker::WorkerChange;
use crate::worker::contracts::{
    HeartbeatArgs, LeaveArgs, LeftWorker, RegisterWorkerArgs, RegisteredWorker, SeenWorker, SweepWorkerArgs,
    SweptWorker,
};

pub use check::check_id;
pub(crate) use check::check_partition;

/// An engine asks a partition to fire what is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PumpArgs {
    pub partition: u16,
}

/// Every operation, as `call: Variant(Arguments) -> ReplyVariant(Answer)`: those any caller may ask for, and those only an engine asks
/// for. `from` names what the rule answers, where a store adds to it.
macro_rules! operations {
    ($callback:ident) => {
        $callback! {
            callers {
                /// Creates an execution, or finds the one already created under the same key or uuid.
                submit: Submit(SubmitArgs) -> Submitted(Submitted);
                /// Takes up to `max` executions of one lane on one partition. Answers at once, with what there is.
                claim: Claim(ClaimArgs) -> Claimed(Claims) from Taken(Taken);
                renew: Renew(RenewArgs) -> Renewed(Renewed);
                progress: Progress(ProgressArgs) -> Noted(Noted);
                complete: Complete(CompleteArgs) -> Completed(Completed);
                fail: Fail(FailArgs) -> Failed(Failed);
                delay: Delay(DelayArgs) -> Delayed(Delayed);
                cancel: Cancel(CancelArgs) -> Cancelled(Cancelled);
                replay: Replay(ReplayArgs) -> Replayed(Replayed);
                /// Takes an execution from its holder.
                revoke: Revoke(RevokeArgs) -> Revoked(Revoked);
                change_priority: ChangePriority(ChangePriorityArgs) -> PriorityChanged(PriorityChanged);
                set_tags: SetTags(SetTagsArgs) -> Tagged(Tagged);
                /// The holder gives up its lease and waits, unless the condition is met already.
                suspend: Suspend(SuspendArgs) -> Suspended(Suspended);
                /// Makes a waitpoint ahead of a suspension, so that its token can be handed out first.
                create_waitpoint: CreateWaitpoint(CreateWaitpointArgs) -> WaitpointCreated(GrantedWaitpoint);
                /// Closes a waitpoint no suspension has used.
                close_waitpoint: CloseWaitpoint(CloseWaitpointArgs) -> WaitpointClosed(ClosedWaitpoint);
                /// Delivers a signal by the authority of its token. Safe to repeat under an idempotency key.
                deliver: Deliver(DeliverArgs) -> Delivered(Delivered);
                /// An operator ends a suspension.
                resume: Resume(ResumeArgs) -> Resumed(Resumed);
                /// Makes a flow without members, which stays open until it is closed.
                create_flow: CreateFlow(CreateFlowArgs) -> FlowCreated(SubmittedFlow);
                /// Adds members and edges to a live flow, all of them or none.
                grow_flow: GrowFlow(GrowFlowArgs) -> FlowGrown(Grown);
                /// Lets a flow end with its last member.
                close_flow: CloseFlow(CloseFlowArgs) -> FlowClosed(ClosedFlow);
                /// Stops a flow. Once this is answered, no member starts that the policy does not spare.
                cancel_flow: CancelFlow(CancelFlowArgs) -> FlowCancelled(FlowCancelled);
                set_flow_tags: SetFlowTags(SetFlowTagsArgs) -> FlowTagged(TaggedFlow);
                /// The holder gives up its lease until the members it added have ended as its join asks.
                wait_for_children: WaitForChildren(WaitForChildrenArgs) -> WaitedForChildren(WaitedForChildren);
                /// Notifies the dependents of an execution that has ended, as far as one step goes.
                cascade: Cascade(CascadeArgs) -> Cascaded(Cascaded);
                register_worker: RegisterWorker(RegisterWorkerArgs) -> WorkerRegistered(RegisteredWorker);
                /// Says that a worker instance is alive; refused as `not_found` when it counts as gone, so that it registers again.
                heartbeat: Heartbeat(HeartbeatArgs) -> WorkerSeen(SeenWorker);
                leave: Leave(LeaveArgs) -> WorkerLeft(LeftWorker);
                create_key: CreateKey(CreateKeyArgs) -> KeyCreated(CreatedKey);
                /// Revokes a key; refused as `not_found` when there is none.
                revoke_key: RevokeKey(RevokeKeyArgs) -> KeyRevoked(RevokedKey);
            }
            engine {
                /// Fires what is due on a partition, at most one batch, does one step of pending propagation within flows, and
                /// answers when the next thing is due: in the past when there is more of either.
                pump_partition: Pump(PumpArgs) -> Pumped(Pumped);
                /// Writes one part of a flow that is submitted in several.
                stage_flow: StageFlow(StageFlowArgs) -> FlowStaged(StagedFlow);
                rotate_on_partition: Rotate(RotatePartitionArgs) -> Rotated(Rotated);
                /// Configures a lane at its home partition.
                configure_lane_home: ConfigureLane(ConfigureLaneArgs) -> LaneConfigured(Lane);
                copy_lane: CopyLane(CopyLaneArgs) -> LaneCopied(LaneCount);
                allot_lane: Allot(AllotArgs) -> Allotted(Allotted);
                claim_granted: ClaimGranted(GrantedClaimArgs) -> GrantClaimed(GrantedClaims) from ClaimGranted(GrantedClaim);
                recount_lane: RecountLane(RecountLaneArgs) -> LaneRecounted(LaneCount);
                settle_lane: SettleLane(SettleLaneArgs) -> LaneSettled(LaneSettled);
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
            /// What it is called in metrics and logs.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => stringify!($call),)*
                    $(Self::$ename(_) => stringify!($ecall),)*
                }
            }
        }

        $(ask!($args, $name, $reply($answer) $(from $decided($decision))?);)*
        $(ask!($eargs, $ename, $ereply($eanswer) $(from $edecided($edecision))?);)*

        /// Has a store handle an operation by the function it has for it.
        pub fn dispatch<S>(store: &S, operation: Operation) -> Pending<'_, Reply>
        where
            S: Sync $(+ Handle<$args, $answer>)* $(+ Handle<$eargs, $eanswer>)*,
        {
            match operation {
                $(Operation::$name(args) => Box::pin(async move { Ok(Reply::$reply(store.handle(args).await?)) }),)*
                $(Operation::$ename(args) => Box::pin(async move { Ok(Reply::$ereply(store.handle(args).await?)) }),)*
            }
        }

        /// Has something that is not an engine's store handle an operation; gives back those only an engine asks for.
        pub fn dispatch_for_caller<S>(store: &S, operation: Operation) -> Result<Pending<'_, Reply>, Operation>
        where
            S: Sync $(+ Handle<$args, $answer>)*,
        {
            match operation {
                $(Operation::$name(args) => {
                    Ok(Box::pin(async move { Ok(Reply::$reply(store.handle(args).await?)) }))
                })*
                engines => Err(engines),
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
            type Decided = $decision;

            fn into_operation(self) -> Operation {
                Operation::$name(self)
            }

            fn answer(reply: Reply) -> Option<$answer> {
                match reply {
                    Reply::$reply(answer) => Some(answer),
                    _ => None,
                }
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

/// Arguments that know their operation and the type of its answer.
pub trait Ask: Send + 'static {
    /// What a store answers.
    type Answer: Send + 'static;
    /// What the rule answers. A store adds payloads, signals and inputs to a claim; otherwise it is the same.
    type Decided: Send + 'static;

    fn into_operation(self) -> Operation;

    /// The answer, when the reply is one of a store to this operation.
    fn answer(reply: Reply) -> Option<Self::Answer>;

    /// The answer, when the reply is one of the rule to this operation.
    fn decided(reply: Reply) -> Option<Self::Decided>;
}

operations!(define_operations);

/// What was decided: the answer, and what is to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub reply: Reply,
    pub changes: Vec<Change>,
    /// What is to be written of flows. Empty for executions that are in none.
    pub flows: Vec<FlowChange>,
    /// Executions that go, with everything of them: attempts, leases, bytes, waitpoints, signals, and the keys that are
    /// remembered for them.
    pub forgotten: Vec<ExecutionId>,
    /// Lanes as a partition is to know them.
    pub lanes: Vec<(u16, Lane)>,
    /// What becomes of what is known of workers.
    pub workers: Vec<WorkerChange>,
    /// API keys as they are to be.
    pub api_keys: Vec<ApiKey>,
    /// How a partition is to tell what happens on it.
    pub feed: Option<(u16, Feed)>,
    /// The secrets of a partition, as they are to be.
    pub ring: Option<(u16, KeyRing)>,
}

impl Decision {
    fn of(reply: Reply, changes: Vec<Change>) -> Self {
        let (flows, forgotten, lanes, workers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { reply, changes, flows, forgotten, lanes, workers, api_keys: Vec::new(), feed: None, ring: None }
    }

    /// A decision whose consequences within flows are drawn already.
    fn settled(reply: Reply, settled: Settled) -> Self {
        let Settled { changes, flows, forgotten, .. } = settled;
        Self { flows, forgotten, ..Self::of(reply, changes) }
    }

    /// A decision about how a partition knows a lane, if it is to know it otherwise.
    fn about_lane(reply: Reply, partition: u16, lane: Option<Lane>) -> Self {
        Self { lanes: lane.map(|lane| (partition, lane)).into_iter().collect(), ..Self::of(reply, Vec::new()) }
    }

    /// A decision about what is known of a worker.
    fn about_worker(reply: Reply, change: Option<WorkerChange>) -> Self {
        Self { workers: change.into_iter().collect(), ..Self::of(reply, Vec::new()) }
    }

    /// A decision about an API key, if it is to be another.
    fn about_key(reply: Reply, key: Option<ApiKey>) -> Self {
        Self { api_keys: key.into_iter().collect(), ..Self::of(reply, Vec::new()) }
    }

    /// A decision that may leave everything as it is.
    fn perhaps(reply: Reply, change: Option<Change>) -> Self {
        Self::of(reply, change.into_iter().collect())
    }
}

/// The conditions an operation is decided under.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    pub partitions: PartitionConfig,
    pub nonce: Nonce,
    pub now: TimestampMs,
}
