//! Every mutation as a value, and the one place that decides it. Stores that run the rules queue these; tests compare
//! them between stores.

mod check;
mod decide;

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
use crate::token::KeyRing;
use crate::token::contracts::{RotatePartitionArgs, Rotated};
use crate::types::{ExecutionId, TimestampMs};
use crate::worker::WorkerChange;
use crate::worker::contracts::{
    HeartbeatArgs, LeaveArgs, LeftWorker, RegisterWorkerArgs, RegisteredWorker, SeenWorker, SweepWorkerArgs,
    SweptWorker,
};

pub use check::check_id;

/// An engine asks a partition to fire what is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PumpArgs {
    pub partition: u16,
}

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
