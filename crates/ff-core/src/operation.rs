//! Every mutation as a value, and the one place that decides it. Stores that run the rules queue these; tests compare
//! them between stores.

use crate::change::Change;
use crate::dice::Nonce;
use crate::due::{self, Pumped};
use crate::engine_error::{Code, Refusal};
use crate::execution::contracts::{
    CancelArgs, Cancelled, CompleteArgs, Completed, DelayArgs, Delayed, FailArgs, Failed, Noted, ProgressArgs,
    ReplayArgs, Replayed, SubmitArgs, Submitted,
};
use crate::execution::{self, Execution};
use crate::flow::contracts::{
    CancelFlowArgs, CascadeArgs, Cascaded, CloseFlowArgs, ClosedFlow, CreateFlowArgs, FlowCancelled, GrowFlowArgs,
    Grown, SetFlowTagsArgs, StageFlowArgs, StagedFlow, SubmittedFlow, TaggedFlow, WaitForChildrenArgs,
    WaitedForChildren,
};
use crate::flow::{self, FlowChange, Settled};
use crate::lease::contracts::{ClaimArgs, RenewArgs, Renewed, RevokeArgs, Revoked, Taken};
use crate::lease::{self, LeaseEnding};
use crate::partition::{PartitionConfig, flow_partition};
use crate::signal::contracts::{DeliverArgs, Delivered};
use crate::suspension::contracts::{
    CloseWaitpointArgs, ClosedWaitpoint, CreateWaitpointArgs, GrantedWaitpoint, ResumeArgs, Resumed, SuspendArgs,
    Suspended,
};
use crate::token::contracts::{RotatePartitionArgs, Rotated};
use crate::token::{self, KeyRing};
use crate::types::{ExecutionId, LeaseEpoch, TimestampMs};
use crate::view::{Stop, View};
use crate::{signal, suspension};

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
    Pump(PumpArgs) -> Pumped(Pumped);
}

/// What was decided: the answer, and what is to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub reply: Reply,
    pub changes: Vec<Change>,
    /// What is to be written of flows. Empty for executions that are in none.
    pub flows: Vec<FlowChange>,
    /// The secrets of a partition, as they are to be.
    pub ring: Option<(u16, KeyRing)>,
}

impl Decision {
    fn of(reply: Reply, changes: Vec<Change>) -> Self {
        Self { reply, changes, flows: Vec::new(), ring: None }
    }

    /// A decision whose consequences within flows are drawn already.
    fn settled(reply: Reply, settled: Settled) -> Self {
        Self { reply, changes: settled.changes, flows: settled.flows, ring: None }
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

impl Operation {
    /// Refuses what no state of the store could make acceptable.
    pub fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        let here = |id: &ExecutionId| check_id(id, partitions);
        match self {
            Self::Submit(args) => args.check(),
            Self::Claim(args) => check_partition(args.partition, partitions).and(args.check()),
            Self::Renew(args) => here(&args.execution_id).and(args.check()),
            Self::Progress(args) => here(&args.execution_id).and(args.check()),
            Self::Complete(args) => here(&args.execution_id).and(args.check()),
            Self::Fail(args) => here(&args.execution_id).and(args.check()),
            Self::Delay(args) => here(&args.execution_id).and(args.check()),
            Self::Cancel(args) => here(&args.execution_id).and(args.check()),
            Self::Replay(args) => here(&args.execution_id).and(args.check()),
            Self::Revoke(args) => here(&args.execution_id).and(args.check()),
            Self::Suspend(args) => here(&args.execution_id).and(args.check()),
            Self::CreateWaitpoint(args) => here(&args.execution_id).and(args.check()),
            Self::CloseWaitpoint(args) => here(&args.execution_id).and(args.check()),
            Self::Deliver(args) => here(&args.execution_id).and(args.check()),
            Self::Resume(args) => here(&args.execution_id).and(args.check()),
            Self::Rotate(args) => check_partition(args.partition, partitions).and(args.rotation.check()),
            Self::StageFlow(args) => args.check(),
            Self::CreateFlow(args) => args.header.check(),
            Self::GrowFlow(args) => args.check(),
            Self::CancelFlow(args) => args.check(),
            Self::CloseFlow(_) | Self::SetFlowTags(_) => Ok(()),
            Self::WaitForChildren(args) => here(&args.execution_id),
            Self::Cascade(args) => here(&args.execution_id),
            Self::Pump(args) => check_partition(args.partition, partitions),
        }
    }

    /// The partition this operation writes to.
    pub fn partition(&self, partitions: &PartitionConfig) -> u16 {
        match self {
            Self::Submit(args) => args.execution_id(partitions).partition(),
            Self::Claim(args) => args.partition,
            Self::Renew(args) => args.execution_id.partition(),
            Self::Progress(args) => args.execution_id.partition(),
            Self::Complete(args) => args.execution_id.partition(),
            Self::Fail(args) => args.execution_id.partition(),
            Self::Delay(args) => args.execution_id.partition(),
            Self::Cancel(args) => args.execution_id.partition(),
            Self::Replay(args) => args.execution_id.partition(),
            Self::Revoke(args) => args.execution_id.partition(),
            Self::Suspend(args) => args.execution_id.partition(),
            Self::CreateWaitpoint(args) => args.execution_id.partition(),
            Self::CloseWaitpoint(args) => args.execution_id.partition(),
            Self::Deliver(args) => args.execution_id.partition(),
            Self::Resume(args) => args.execution_id.partition(),
            Self::Rotate(args) => args.partition,
            Self::StageFlow(args) => flow_partition(&args.header.flow_id, partitions).index,
            Self::CreateFlow(args) => flow_partition(&args.header.flow_id, partitions).index,
            Self::GrowFlow(args) => flow_partition(&args.flow_id, partitions).index,
            Self::CloseFlow(args) => flow_partition(&args.flow_id, partitions).index,
            Self::CancelFlow(args) => flow_partition(&args.flow_id, partitions).index,
            Self::SetFlowTags(args) => flow_partition(&args.flow_id, partitions).index,
            Self::WaitForChildren(args) => args.execution_id.partition(),
            Self::Cascade(args) => args.execution_id.partition(),
            Self::Pump(args) => args.partition,
        }
    }

    /// Decides what happens, and what follows from it within flows. Runs again with more loaded when it stops at a miss.
    pub fn decide(&self, view: &impl View, at: &Conditions) -> Result<Decision, Stop> {
        self.check(&at.partitions)?;
        let mut decision = self.decide_alone(view, at)?;
        if decision.flows.is_empty() && !self.settles_itself() {
            let settled = flow::follow(view, std::mem::take(&mut decision.changes), at.now)?;
            (decision.changes, decision.flows) = (settled.changes, settled.flows);
        }
        Ok(decision)
    }

    /// Whether its rule has drawn the consequences within flows already.
    fn settles_itself(&self) -> bool {
        matches!(
            self,
            Self::Replay(_)
                | Self::StageFlow(_)
                | Self::CreateFlow(_)
                | Self::GrowFlow(_)
                | Self::CloseFlow(_)
                | Self::CancelFlow(_)
                | Self::SetFlowTags(_)
                | Self::Cascade(_)
                | Self::Pump(_)
        )
    }

    fn decide_alone(&self, view: &impl View, at: &Conditions) -> Result<Decision, Stop> {
        let now = at.now;
        match self {
            Self::Submit(args) => {
                let (submitted, change) = execution::submit(view, args, &at.partitions, now)?;
                Ok(Decision::perhaps(Reply::Submitted(submitted), change))
            }
            Self::Claim(args) => {
                let (taken, changes) = lease::claim(view, args, &at.nonce, now)?;
                Ok(Decision::of(Reply::Taken(taken), changes))
            }
            Self::Renew(args) => {
                let change = lease::renew(found(view, &args.execution_id)?, args, now)?;
                let until = change.after.due_at(due::Due::LeaseExpiry).unwrap_or(now);
                decided(Reply::Renewed(Renewed { lease_expires_at: until }), change)
            }
            Self::Progress(args) => {
                let change = execution::progress(found(view, &args.execution_id)?, args, now)?;
                decided(Reply::Noted(Noted { at: now }), change)
            }
            Self::Complete(args) => {
                let change = execution::complete(found(view, &args.execution_id)?, args, now)?;
                decided(Reply::Completed(Completed { public_state: crate::state::PublicState::Completed }), change)
            }
            Self::Fail(args) => {
                let change = execution::fail(found(view, &args.execution_id)?, args, &at.nonce, now)?;
                let failed = last_ending(&change.after).and_then(Failed::from_ending).unwrap_or(Failed::Failed);
                decided(Reply::Failed(failed), change)
            }
            Self::Delay(args) => {
                let change = execution::delay(found(view, &args.execution_id)?, args, now)?;
                let until = match last_ending(&change.after) {
                    Some(LeaseEnding::Delayed { until }) => until,
                    _ => now,
                };
                decided(Reply::Delayed(Delayed { until }), change)
            }
            Self::Cancel(args) => {
                let before = found(view, &args.execution_id)?;
                let change = execution::cancel(before, args, now)?;
                let already = before.is_finished();
                let public_state = change.after.public_state();
                decided(Reply::Cancelled(Cancelled { public_state, already }), change)
            }
            Self::Replay(args) => {
                let settled = flow::replay(view, found(view, &args.execution_id)?, args, now)?;
                let after = settled.after(&args.execution_id).ok_or(Code::InvariantViolation)?;
                let replayed = Replayed { public_state: after.public_state(), replays: after.replays };
                Ok(Decision::settled(Reply::Replayed(replayed), settled))
            }
            Self::Revoke(args) => {
                let before = found(view, &args.execution_id)?;
                let change = lease::revoke(before, args, now)?;
                let lease_epoch = change.after.last_lease.as_ref().map_or(LeaseEpoch(0), |l| l.fence.lease_epoch);
                let already = change.after == *before;
                decided(Reply::Revoked(Revoked { lease_epoch, already }), change)
            }
            Self::Suspend(args) => {
                let (suspended, change) = suspension::suspend(view, args, &at.nonce, now)?;
                Ok(Decision::perhaps(Reply::Suspended(suspended), change))
            }
            Self::CreateWaitpoint(args) => {
                let (granted, change) = suspension::create_waitpoint(view, args, &at.nonce, now)?;
                Ok(Decision::perhaps(Reply::WaitpointCreated(granted), change))
            }
            Self::CloseWaitpoint(args) => {
                let (closed, change) = suspension::close_waitpoint(view, args, now)?;
                Ok(Decision::perhaps(Reply::WaitpointClosed(closed), change))
            }
            Self::Deliver(args) => {
                let (delivered, change) = signal::deliver(view, args, &at.nonce, now)?;
                Ok(Decision::perhaps(Reply::Delivered(delivered), change))
            }
            Self::Resume(args) => {
                let before = found(view, &args.execution_id)?;
                let (resumed, change) = suspension::resume(before, args, &at.nonce, now)?;
                Ok(Decision::perhaps(Reply::Resumed(resumed), change))
            }
            Self::Rotate(args) => {
                let before = view.ring(args.partition)?.cloned().unwrap_or_default();
                let (rotated, after) = token::rotate(&before, &args.rotation, now)?;
                let ring = after.map(|after| (args.partition, after));
                Ok(Decision { ring, ..Decision::of(Reply::Rotated(rotated), Vec::new()) })
            }
            Self::StageFlow(args) => {
                let (staged, settled) = flow::stage(view, args, &at.partitions, now)?;
                Ok(Decision::settled(Reply::FlowStaged(staged), settled))
            }
            Self::CreateFlow(args) => {
                let (created, settled) = flow::create(view, args, &at.partitions, now)?;
                Ok(Decision::settled(Reply::FlowCreated(created), settled))
            }
            Self::GrowFlow(args) => {
                let (grown, settled) = flow::grow(view, args, &at.partitions, now)?;
                Ok(Decision::settled(Reply::FlowGrown(grown), settled))
            }
            Self::CloseFlow(args) => {
                let (closed, settled) = flow::close(view, args, now)?;
                Ok(Decision::settled(Reply::FlowClosed(closed), settled))
            }
            Self::CancelFlow(args) => {
                let (cancelled, settled) = flow::cancel(view, args, now)?;
                Ok(Decision::settled(Reply::FlowCancelled(cancelled), settled))
            }
            Self::SetFlowTags(args) => {
                let (tagged, settled) = flow::set_tags(view, args, now)?;
                Ok(Decision::settled(Reply::FlowTagged(tagged), settled))
            }
            Self::WaitForChildren(args) => {
                let before = found(view, &args.execution_id)?;
                let (waited, change) = flow::wait_for_children(view, before, args, now)?;
                Ok(Decision::perhaps(Reply::WaitedForChildren(waited), change))
            }
            Self::Cascade(args) => {
                let (cascaded, settled) = flow::cascade(view, found(view, &args.execution_id)?, args, now)?;
                Ok(Decision::settled(Reply::Cascaded(cascaded), settled))
            }
            Self::Pump(args) => {
                let (pumped, settled) = due::pump(view, args.partition, &at.nonce, now)?;
                Ok(Decision::settled(Reply::Pumped(pumped), settled))
            }
        }
    }
}

/// Refuses an id that names a partition this deployment does not have: it would be kept where nobody looks.
pub fn check_id(id: &ExecutionId, partitions: &PartitionConfig) -> Result<(), Refusal> {
    if partitions.holds(id) {
        return Ok(());
    }
    let (count, sent) = (partitions.num_flow_partitions, id.partition());
    Err(Refusal::new(Code::InvalidExecutionId)
        .at("execution_id")
        .because(format!("names partition {sent}; this deployment has {count}")))
}

fn check_partition(partition: u16, partitions: &PartitionConfig) -> Result<(), Refusal> {
    if partition < partitions.num_flow_partitions {
        return Ok(());
    }
    let count = partitions.num_flow_partitions;
    Err(Refusal::invalid("partition", format!("must be below {count}, got {partition}")))
}

/// An execution that is there for whoever asks: what is staged is not, until its flow is.
fn found<'v>(view: &'v impl View, id: &ExecutionId) -> Result<&'v Execution, Stop> {
    let execution = view.execution(id)?.ok_or(Code::ExecutionNotFound)?;
    if execution.is_staged()
        && let Some(membership) = &execution.membership
        && view.flow(&membership.flow_id)?.is_none_or(|flow| flow.staging.is_some())
    {
        return Err(Code::ExecutionNotFound.into());
    }
    Ok(execution)
}

fn last_ending(execution: &Execution) -> Option<LeaseEnding> {
    execution.last_lease.as_ref().map(|last| last.ended)
}

/// A decision about one execution.
fn decided(reply: Reply, change: Change) -> Result<Decision, Stop> {
    Ok(Decision::of(reply, vec![change]))
}
