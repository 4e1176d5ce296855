//! From an operation to the rule that decides it, and from the rule to what is answered and written.

use super::{Conditions, Decision, Operation, Reply};
use crate::change::Change;
use crate::due;
use crate::engine_error::Code;
use crate::execution::contracts::{Cancelled, Completed, Delayed, Failed, Noted, PriorityChanged, Replayed, Tagged};
use crate::execution::{self, Execution};
use crate::flow;
use crate::lane;
use crate::lease::contracts::{Renewed, Revoked};
use crate::lease::{self, LeaseEnding};
use crate::state::PublicState;
use crate::types::{ExecutionId, LeaseEpoch};
use crate::view::{Stop, View};
use crate::{event, key, signal, suspension, token, worker};

impl Operation {
    /// Decides what happens, and what follows from it within flows. Runs again with more loaded when it stops at a miss.
    pub fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision, Stop> {
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

    fn decide_alone(&self, view: &dyn View, at: &Conditions) -> Result<Decision, Stop> {
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
                decided(Reply::Completed(Completed { public_state: PublicState::Completed }), change)
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
                let before = found(view, &args.execution_id)?;
                let settled = flow::replay(view, before, args, now)?;
                lane::admit(view, before.id.partition(), (&before.namespace, &before.lane), || "execution_id".into())?;
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
            Self::ChangePriority(args) => {
                let before = found(view, &args.execution_id)?;
                let change = execution::change_priority(before, args, now)?;
                let changed = PriorityChanged { from: before.priority, priority: args.priority };
                decided(Reply::PriorityChanged(changed), change)
            }
            Self::SetTags(args) => {
                let change = execution::set_tags(found(view, &args.execution_id)?, args, now)?;
                decided(Reply::Tagged(Tagged { tags: change.after.tags.clone() }), change)
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
            Self::ConfigureLane(args) => {
                let (lane, after) = lane::configure(view, args, &at.partitions, now)?;
                Ok(Decision::about_lane(Reply::LaneConfigured(lane), self.partition(&at.partitions), after))
            }
            Self::CopyLane(args) => {
                let (count, after) = lane::copy(view, args)?;
                Ok(Decision::about_lane(Reply::LaneCopied(count), args.partition, after))
            }
            Self::Allot(args) => {
                let (allotted, after) = lane::allot(view, args, &at.partitions, now)?;
                Ok(Decision::about_lane(Reply::Allotted(allotted), self.partition(&at.partitions), after))
            }
            Self::ClaimGranted(args) => {
                let (granted, changes, after) = lease::claim_granted(view, args, &at.nonce, now)?;
                let decision = Decision::about_lane(Reply::ClaimGranted(granted), args.claim.partition, after);
                Ok(Decision { changes, ..decision })
            }
            Self::RecountLane(args) => {
                let (count, after) = lane::recount(view, args)?;
                Ok(Decision::about_lane(Reply::LaneRecounted(count), args.partition, after))
            }
            Self::SettleLane(args) => {
                let (settled, after) = lane::settle(view, args, &at.partitions, now)?;
                Ok(Decision::about_lane(Reply::LaneSettled(settled), self.partition(&at.partitions), after))
            }
            Self::RegisterWorker(args) => {
                let (registered, change) = worker::register(view, args, &at.partitions, now)?;
                Ok(Decision::about_worker(Reply::WorkerRegistered(registered), Some(change)))
            }
            Self::Heartbeat(args) => {
                let (seen, change) = worker::heartbeat(view, args, now)?;
                Ok(Decision::about_worker(Reply::WorkerSeen(seen), Some(change)))
            }
            Self::Leave(args) => {
                let (left, change) = worker::leave(view, args)?;
                Ok(Decision::about_worker(Reply::WorkerLeft(left), change))
            }
            Self::SweepWorker(args) => {
                let (swept, change) = worker::sweep(view, args, now)?;
                Ok(Decision::about_worker(Reply::WorkerSwept(swept), change))
            }
            Self::CreateKey(args) => {
                let (created, key) = key::create(view.api_key(&args.key_id)?, args, now)?;
                Ok(Decision::about_key(Reply::KeyCreated(created), key))
            }
            Self::RevokeKey(args) => {
                let (revoked, key) = key::revoke(view.api_key(&args.key_id)?, now)?;
                Ok(Decision::about_key(Reply::KeyRevoked(revoked), key))
            }
            Self::Follow(args) => {
                let known = view.feed(args.partition)?;
                let after = event::follow(known, now);
                let feed = after.or(known.copied()).ok_or(Code::InvariantViolation)?;
                let decision = Decision::of(Reply::Followed(feed), Vec::new());
                Ok(Decision { feed: after.map(|feed| (args.partition, feed)), ..decision })
            }
            Self::Pump(args) => {
                let (pumped, settled) = due::pump(view, args.partition, &at.nonce, now)?;
                Ok(Decision::settled(Reply::Pumped(pumped), settled))
            }
        }
    }
}

/// An execution that is there for whoever asks: what is staged is not, until its flow is.
fn found<'v>(view: &'v dyn View, id: &ExecutionId) -> Result<&'v Execution, Stop> {
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
