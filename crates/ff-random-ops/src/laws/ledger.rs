//! A ledger that is built only from the replies and events that callers received. The model must agree with it. It
//! covers executions in no flow, and the number of running executions that a lane allows.

use std::collections::{HashMap, HashSet};

use super::{Step, Verdict, holder_of, is_member};
use crate::prelude::*;

/// All promises made to callers.
#[derive(Default)]
pub(super) struct Ledger {
    promises: HashMap<ExecutionId, Promise>,
    keys: HashMap<(Namespace, IdempotencyKey), (ExecutionId, TimestampMs)>,
    leases: HashSet<LeaseId>,
    /// The highest limit that the settings of a lane have on any partition. A missing entry and `u32::MAX` mean no
    /// limit.
    limits: HashMap<LaneId, u32>,
    /// Number of leases taken by a worker other than the one that lost the execution.
    pub(super) steals: u64,
}

/// The promises about one execution.
struct Promise {
    key: Option<IdempotencyKey>,
    payload: Payload,
    result: Option<Payload>,
    outcome: Option<Outcome>,
    lease: Option<HeldLease>,
    /// The worker that last lost the lease.
    lost_by: Option<WorkerInstanceId>,
    epoch: LeaseEpoch,
    free_since: TimestampMs,
}

#[derive(Clone)]
struct HeldLease {
    fence: Fence,
    until: TimestampMs,
    by: WorkerInstanceId,
}

impl Ledger {
    /// Enters the replies and events of a step. Fails if they contradict earlier ones.
    pub(super) fn enter(&mut self, step: &Step<'_>, after: &Model) -> Verdict {
        let Ok(decision) = &step.decided else { return Ok(()) };
        let now = step.at.now;
        if step.alters()
            && let Some((id, fence)) = holder_of(step.operation)
            && !step.before.find(&id).is_some_and(is_member)
        {
            self.held_in_time(&id, &fence, now)?;
        }
        match (step.operation, &decision.reply) {
            (Operation::Submit(args), Reply::Submitted(submitted)) => self.submitted(args, submitted, now)?,
            (Operation::Fork(args), Reply::Forked(forked)) if !forked.duplicate => {
                let payload = step.before.payload(&args.execution_id).cloned().unwrap_or_default();
                self.begun(forked.execution_id, None, payload, now)?;
            }
            (Operation::Claim(args), Reply::ClaimDecision(taken)) => self.note_claim(args, taken, now, after)?,
            (Operation::ClaimGranted(args), Reply::ClaimGranted(granted)) => {
                self.note_claim(&args.claim, &granted.decision, now, after)?;
                self.within_limit(&args.claim, &granted.decision, after, &step.at.partitions)?;
            }
            (_, Reply::LaneConfigured(lane)) => {
                let before = self.limits.get(&lane.key()).copied().unwrap_or(u32::MAX);
                self.limits.insert(lane.key(), lane.settings.concurrency.unwrap_or(u32::MAX).max(before));
            }
            (Operation::CopyLane(args), _) => self.copied(&args.lane, after, &step.at.partitions),
            (Operation::Renew(args), Reply::Renewed(renewed)) => {
                let promise = self.promises.get_mut(&args.execution_id);
                promise
                    .into_iter()
                    .flat_map(|promise| &mut promise.lease)
                    .for_each(|held| held.until = renewed.lease_expires_at);
            }
            (Operation::Complete(args), Reply::Completed(_)) if step.alters() => {
                let promise = self.promises.get_mut(&args.execution_id);
                promise.into_iter().for_each(|promise| promise.result.clone_from(&args.result));
            }
            _ => {}
        }
        for (before, change) in step.changes().filter(|(_, change)| !is_member(&change.after)) {
            self.changed(before, change, now)?;
        }
        step.forgotten().flatten().try_for_each(|execution| self.forgotten(execution, now))
    }

    /// Checks that the model holds the promised executions and no others, each as promised.
    pub(super) fn agrees(&self, model: &Model) -> Verdict {
        if model.executions().filter(|execution| !is_member(execution)).count() != self.promises.len() {
            return Err("I1: an execution is lost, or was never asked for".into());
        }
        for (id, promise) in &self.promises {
            let Some(execution) = model.find(id) else { return Err(format!("I1: {id} is lost")) };
            let (outcome, held) = match &execution.phase {
                Phase::Finished { outcome, .. } => (Some(*outcome), None),
                Phase::Running { lease } => (None, Some((lease.fence, lease.until))),
                Phase::Waiting | Phase::Delayed { .. } | Phase::Blocked { .. } | Phase::Suspended { .. } => {
                    (None, None)
                }
            };
            if outcome != promise.outcome {
                return Err(format!("I2: {id} ended as {outcome:?}, told was {:?}", promise.outcome));
            }
            if held != promise.lease.as_ref().map(|held| (held.fence, held.until)) {
                return Err(format!(
                    "I5: {id} is held by {held:?}, told was {:?}",
                    promise.lease.as_ref().map(|h| h.fence)
                ));
            }
            if (model.payload(id), model.result(id)) != (Some(&promise.payload), promise.result.as_ref()) {
                return Err(format!("I17: {id} has other bytes than it was given"));
            }
        }
        Ok(())
    }

    /// Returns the times at which idempotency keys are forgotten.
    pub(super) fn keys_forgotten_at(&self) -> impl Iterator<Item = TimestampMs> {
        self.keys.values().map(|(_, until)| *until)
    }

    fn promise(&mut self, id: &ExecutionId) -> Result<&mut Promise, String> {
        self.promises.get_mut(id).ok_or_else(|| format!("I1: {id} was never submitted"))
    }

    /// I5: only the holder of the lease may change an execution, and only until the lease expires.
    fn held_in_time(&mut self, id: &ExecutionId, fence: &Fence, now: TimestampMs) -> Verdict {
        match &self.promise(id)?.lease {
            Some(held) if held.fence == *fence && now < held.until => Ok(()),
            _ => Err(format!("I5: {fence:?} changed {id}, which it did not hold")),
        }
    }

    /// I16: a key refers to one execution for as long as the key is remembered.
    fn submitted(&mut self, args: &SubmitArgs, submitted: &SubmittedExecution, now: TimestampMs) -> Verdict {
        let id = submitted.execution_id;
        let key = args.idempotency_key.clone();
        let is_debounced = matches!(args.key_rule.as_deref(), Some(KeyRule::Debounce(_)));
        if submitted.conflict == Some(KeyConflict::Skipped) {
            self.promise(&id)?;
        } else if is_debounced && submitted.conflict == Some(KeyConflict::Replaced) {
            self.promise(&id)?.payload = args.payload.clone();
        } else if submitted.duplicate && is_debounced {
            // Another submission may have replaced its payload.
            self.promise(&id)?;
        } else if submitted.duplicate {
            let promise = self.promise(&id)?;
            if (&promise.key, &promise.payload) != (&key, &args.payload) {
                return Err(format!("I16: {id} is said to be a submission that it is not"));
            }
        } else {
            self.begun(id, key.clone(), args.payload.clone(), now)?;
        }
        let Some(key) = key else { return Ok(()) };
        match self.keys.get(&(args.namespace.clone(), key.clone())) {
            Some((first, until)) if now < *until && *first != id => Err(format!("I16: {key} was {first}, is {id}")),
            _ if submitted.duplicate => Ok(()),
            _ => {
                self.keys.insert((args.namespace.clone(), key), (id, now + args.policy.dedup_window_ms));
                Ok(())
            }
        }
    }

    /// I1: a submission or fork that is not a duplicate creates a new execution.
    fn begun(&mut self, id: ExecutionId, key: Option<IdempotencyKey>, payload: Payload, now: TimestampMs) -> Verdict {
        let (result, outcome, lease, lost_by) = (None, None, None, None);
        let promise = Promise { key, payload, result, outcome, lease, lost_by, epoch: LeaseEpoch(0), free_since: now };
        match self.promises.insert(id, promise) {
            Some(_) => Err(format!("I1: {id} was submitted twice")),
            None => Ok(()),
        }
    }

    /// I3, I4 and I6: a lease has a new id and a higher epoch than any before, and no other lease is held.
    fn note_claim(&mut self, args: &ClaimArgs, decision: &ClaimDecision, now: TimestampMs, after: &Model) -> Verdict {
        for task in &decision.tasks {
            if !self.leases.insert(task.fence.lease_id) {
                return Err(format!("I6: {} was handed out twice", task.fence.lease_id));
            }
            if after.find(&task.execution_id).is_some_and(is_member) {
                continue;
            }
            let by = args.holder.worker_instance_id.clone();
            let promise = self.promise(&task.execution_id)?;
            if promise.lease.is_some() || promise.free_since > now {
                return Err(format!("I3: {} was claimed while it was held", task.execution_id));
            }
            if promise.epoch >= task.fence.lease_epoch {
                return Err(format!("I4: epoch {} follows {}", task.fence.lease_epoch, promise.epoch));
            }
            promise.epoch = task.fence.lease_epoch;
            let stolen = promise.lost_by.take().is_some_and(|loser| loser != by);
            promise.lease = Some(HeldLease { fence: task.fence, until: task.lease_expires_at, by });
            self.steals += u64::from(stolen);
        }
        Ok(())
    }

    /// I14: when a claim starts executions, the running executions on all partitions together are within the lane's
    /// limit.
    fn within_limit(
        &self,
        claim: &ClaimArgs,
        decision: &ClaimDecision,
        after: &Model,
        partitions: &PartitionConfig,
    ) -> Verdict {
        let lane = claim.lane.within(&claim.namespace);
        let active = |partition| after.active(partition, &lane).unwrap_or_default();
        let held: u32 = (0..partitions.num_flow_partitions).map(active).sum();
        let limit = self.limits.get(&lane).copied().unwrap_or(u32::MAX);
        if decision.tasks.is_empty() || held <= limit {
            Ok(())
        } else {
            Err(format!("I14: {held} are held, {limit} may be"))
        }
    }

    /// Lowers the limit of a lane to that of its newest settings, once every partition has them. More executions may be
    /// running already, but none is added.
    fn copied(&mut self, lane: &Lane, after: &Model, partitions: &PartitionConfig) {
        let known = |partition| after.lane(partition, &lane.key()).ok().flatten().map(|known| known.revision);
        let newest = known(lane_partition(&lane.key(), partitions));
        if newest == Some(lane.revision) && (0..partitions.num_flow_partitions).all(|one| known(one) == newest) {
            self.limits.insert(lane.key(), lane.settings.concurrency.unwrap_or(u32::MAX));
        }
    }

    /// I16: a forgotten execution had ended, and no remembered key refers to it.
    fn forgotten(&mut self, execution: &Execution, now: TimestampMs) -> Verdict {
        let id = execution.id;
        if self.promises.remove(&id).is_none_or(|promise| promise.outcome.is_none()) {
            return Err(format!("I1: {id} is forgotten, and was not over"));
        }
        if self.keys.values().any(|(of, until)| *of == id && now < *until) {
            return Err(format!("I16: {id} is forgotten, and its key is not"));
        }
        self.keys.retain(|_, (of, _)| *of != id);
        Ok(())
    }

    /// I2: every life of an execution ends once, with one event.
    fn changed(&mut self, before: Option<&Execution>, change: &Change, now: TimestampMs) -> Verdict {
        let id = &change.after.id;
        let promise = self.promise(id)?;
        for event in &change.events {
            match event.what {
                EventKind::Finished { outcome } if promise.outcome.replace(outcome).is_some() => {
                    return Err(format!("I2: {id} ended twice"));
                }
                EventKind::Replayed => {
                    promise.result = None;
                    if promise.outcome.take().is_none() {
                        return Err(format!("I2: {id} began again before it had ended"));
                    }
                }
                _ => {}
            }
        }
        let was_held = before.is_some_and(|before| matches!(before.phase, Phase::Running { .. }));
        if was_held && !matches!(change.after.phase, Phase::Running { .. }) {
            promise.free_since = now;
            promise.lost_by = promise
                .lease
                .take()
                .map(|held| held.by)
                .filter(|_| change.after.last_lease.as_ref().is_some_and(|last| last.ended.is_loss()));
        }
        Ok(())
    }
}
