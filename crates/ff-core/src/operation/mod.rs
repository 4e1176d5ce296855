//! Every mutation as a value, and the one place that decides it. Stores that run the rules queue these; tests compare
//! them between stores.

pub mod command;

use crate::due::Pumped;
use crate::engine_error::Refusal;
use crate::event::Feed;
use crate::event::contracts::FollowArgs;
use crate::execution::contracts::{
    CancelArgs, Cancelled, ChangePriorityArgs, CompleteArgs, Completed, DelayArgs, Delayed, FailArgs, Failed, Noted,
    PriorityChanged, ProgressArgs, ReplayArgs, Replayed, SetTagsArgs, SubmitArgs, Submitted, Tagged,
};
use crate::flow;
use crate::flow::contracts::{
    CancelFlowArgs, CascadeArgs, Cascaded, CloseFlowArgs, ClosedFlow, CreateFlowArgs, FlowCancelled, GrowFlowArgs,
    Grown, SetFlowTagsArgs, StageFlowArgs, StagedFlow, SubmittedFlow, TaggedFlow, WaitForChildrenArgs,
    WaitedForChildren,
};
use crate::key::contracts::{CreateKeyArgs, CreatedKey, RevokeKeyArgs, RevokedKey};
use crate::lane::Lane;
use crate::lane::contracts::{
    AllotArgs, Allotted, ConfigureLaneArgs, CopyLaneArgs, GrantedClaim, GrantedClaimArgs, LaneCount, LaneSettled,
    RecountLaneArgs, SettleLaneArgs,
};
use crate::lease::contracts::{ClaimArgs, RenewArgs, Renewed, RevokeArgs, Revoked, Taken};
use crate::partition::PartitionConfig;
use crate::signal::contracts::{DeliverArgs, Delivered};
use crate::suspension::contracts::{
    CloseWaitpointArgs, ClosedWaitpoint, CreateWaitpointArgs, GrantedWaitpoint, ResumeArgs, Resumed, SuspendArgs,
    Suspended,
};
use crate::token::contracts::{RotatePartitionArgs, Rotated};
use crate::view::{Stop, View};
use crate::worker::contracts::{
    HeartbeatArgs, LeaveArgs, LeftWorker, RegisterWorkerArgs, RegisteredWorker, SeenWorker, SweepWorkerArgs,
    SweptWorker,
};

pub use crate::due::PumpArgs;
pub use command::{Command, Conditions, check_id};

/// The answer to an operation, and what is to be written.
pub type Decision = command::Decision<Reply>;

macro_rules! operations {
    ($($name:ident($args:ty) -> $reply:ident($answer:ty);)*) => {
        /// One mutation.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Operation {
            $($name($args),)*
        }

        /// The answer to a mutation.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Reply {
            $($reply($answer),)*
        }

        impl Operation {
            /// Refuses what no state of the store could make acceptable.
            pub fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
                match self {
                    $(Self::$name(args) => Command::check(args, partitions),)*
                }
            }

            /// The partition this operation writes to.
            pub fn partition(&self, partitions: &PartitionConfig) -> u16 {
                match self {
                    $(Self::$name(args) => Command::partition(args, partitions),)*
                }
            }

            /// Decides what happens, and what follows from it within flows. Runs again with more loaded when it stops at
            /// a miss.
            pub fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision, Stop> {
                match self {
                    $(Self::$name(args) => Ok(decide(args, view, at)?.map(Reply::$reply)),)*
                }
            }
        }

        $(
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
            }
        )*
    };
}

/// Arguments that know their operation and the type of its answer.
pub trait Ask: Send + 'static {
    type Answer: Send;

    fn into_operation(self) -> Operation;

    /// The answer, when the reply is one to this operation.
    fn answer(reply: Reply) -> Option<Self::Answer>;
}

operations! {
    Submit(SubmitArgs) -> Submitted(Submitted);
    Claim(ClaimArgs) -> Taken(Taken);
    Renew(RenewArgs) -> Renewed(Renewed);
    Progress(ProgressArgs) -> Noted(Noted);
    Complete(CompleteArgs) -> Completed(Completed);
    Fail(FailArgs) -> Failed(Failed);
    Delay(DelayArgs) -> Delayed(Delayed);
    Cancel(CancelArgs) -> Cancelled(Cancelled);
    Replay(ReplayArgs) -> Replayed(Replayed);
    Revoke(RevokeArgs) -> Revoked(Revoked);
    ChangePriority(ChangePriorityArgs) -> PriorityChanged(PriorityChanged);
    SetTags(SetTagsArgs) -> Tagged(Tagged);
    Suspend(SuspendArgs) -> Suspended(Suspended);
    CreateWaitpoint(CreateWaitpointArgs) -> WaitpointCreated(GrantedWaitpoint);
    CloseWaitpoint(CloseWaitpointArgs) -> WaitpointClosed(ClosedWaitpoint);
    Deliver(DeliverArgs) -> Delivered(Delivered);
    Resume(ResumeArgs) -> Resumed(Resumed);
    Rotate(RotatePartitionArgs) -> Rotated(Rotated);
    StageFlow(StageFlowArgs) -> FlowStaged(StagedFlow);
    CreateFlow(CreateFlowArgs) -> FlowCreated(SubmittedFlow);
    GrowFlow(GrowFlowArgs) -> FlowGrown(Grown);
    CloseFlow(CloseFlowArgs) -> FlowClosed(ClosedFlow);
    CancelFlow(CancelFlowArgs) -> FlowCancelled(FlowCancelled);
    SetFlowTags(SetFlowTagsArgs) -> FlowTagged(TaggedFlow);
    WaitForChildren(WaitForChildrenArgs) -> WaitedForChildren(WaitedForChildren);
    Cascade(CascadeArgs) -> Cascaded(Cascaded);
    ConfigureLane(ConfigureLaneArgs) -> LaneConfigured(Lane);
    CopyLane(CopyLaneArgs) -> LaneCopied(LaneCount);
    Allot(AllotArgs) -> Allotted(Allotted);
    ClaimGranted(GrantedClaimArgs) -> ClaimGranted(GrantedClaim);
    RecountLane(RecountLaneArgs) -> LaneRecounted(LaneCount);
    SettleLane(SettleLaneArgs) -> LaneSettled(LaneSettled);
    RegisterWorker(RegisterWorkerArgs) -> WorkerRegistered(RegisteredWorker);
    Heartbeat(HeartbeatArgs) -> WorkerSeen(SeenWorker);
    Leave(LeaveArgs) -> WorkerLeft(LeftWorker);
    SweepWorker(SweepWorkerArgs) -> WorkerSwept(SweptWorker);
    CreateKey(CreateKeyArgs) -> KeyCreated(CreatedKey);
    RevokeKey(RevokeKeyArgs) -> KeyRevoked(RevokedKey);
    Follow(FollowArgs) -> Followed(Feed);
    Pump(PumpArgs) -> Pumped(Pumped);
}

/// Checks and decides a command, and draws the consequences within flows, unless its rule has.
fn decide<C: Command>(command: &C, view: &dyn View, at: &Conditions) -> Result<command::Decision<C::Reply>, Stop> {
    command.check(&at.partitions)?;
    let mut decision = command.decide(view, at)?;
    if decision.flows.is_empty() && !C::SETTLES_FLOWS {
        let settled = flow::follow(view, std::mem::take(&mut decision.changes), at.now)?;
        (decision.changes, decision.flows) = (settled.changes, settled.flows);
    }
    Ok(decision)
}
