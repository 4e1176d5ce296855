//! What callers were told, kept as they would keep it: from replies and events alone. The model must agree with it.

use std::collections::{HashMap, HashSet};

use ff_core::change::Change;
use ff_core::contracts::{ClaimArgs, CompleteArgs, SubmitArgs, Submitted, Taken};
use ff_core::event::What;
use ff_core::execution::{Execution, Outcome, Phase};
use ff_core::lease::Fence;
use ff_core::model::Model;
use ff_core::operation::{Operation, Reply};
use ff_core::payload::Payload;
use ff_core::types::{ExecutionId, IdempotencyKey, LeaseEpoch, LeaseId, Namespace, TimestampMs, WorkerInstanceId};

use super::deed::{Deed, Verdict, in_the_name_of};

/// Everything that was promised.
#[derive(Default)]
pub(crate) struct Ledger {
    promises: HashMap<ExecutionId, Promise>,
    keys: HashMap<(Namespace, IdempotencyKey), (ExecutionId, TimestampMs)>,
    leases: HashSet<LeaseId>,
    /// Leases taken by another worker than the one that lost the execution.
    pub(crate) steals: u64,
}

/// What was promised of one execution.
struct Promise {
    key: Option<IdempotencyKey>,
    payload: Payload,
    result: Option<Payload>,
    outcome: Option<Outcome>,
    held: Option<Held>,
    /// Who lost it last.
    lost_by: Option<WorkerInstanceId>,
    epoch: LeaseEpoch,
    free_since: TimestampMs,
}

#[derive(Clone)]
struct Held {
    fence: Fence,
    until: TimestampMs,
    by: WorkerInstanceId,
}

impl Ledger {
    /// Enters what a step told, unless it contradicts what was told before.
    pub(crate) fn enter(&mut self, deed: &Deed<'_>) -> Verdict {
        let Ok(decision) = &deed.decided else { return Ok(()) };
        let now = deed.at.now;
        if deed.alters()
            && let Some((id, fence)) = in_the_name_of(deed.operation)
        {
            self.held_in_time(&id, &fence, now)?;
        }
        match (deed.operation, &decision.reply) {
            (Operation::Submit(args), Reply::Submitted(submitted)) => self.submitted(args, submitted, now)?,
            (Operation::Claim(args), Reply::Taken(taken)) => self.taken(args, taken, now)?,
            (Operation::Renew(args), Reply::Renewed(renewed)) => {
                let promise = self.promise(&args.execution_id)?;
                promise.held.iter_mut().for_each(|held| held.until = renewed.lease_expires_at);
            }
            (Operation::Complete(args), Reply::Completed(_)) if deed.alters() => self.completed(args)?,
            _ => {}
        }
        for (before, change) in deed.changes() {
            self.changed(before, change, now)?;
        }
        deed.forgotten().flatten().try_for_each(|execution| self.forgotten(execution, now))
    }

    /// Whether the model holds what was promised, and nothing else.
    pub(crate) fn agrees(&self, model: &Model) -> Verdict {
        if model.executions().count() != self.promises.len() {
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
            if held != promise.held.as_ref().map(|held| (held.fence, held.until)) {
                return Err(format!(
                    "I5: {id} is held by {held:?}, told was {:?}",
                    promise.held.as_ref().map(|h| h.fence)
                ));
            }
            if (model.payload(id), model.result(id)) != (Some(&promise.payload), promise.result.as_ref()) {
                return Err(format!("I17: {id} has other bytes than it was given"));
            }
        }
        Ok(())
    }

    /// When keys are forgotten.
    pub(crate) fn forgotten_at(&self) -> impl Iterator<Item = TimestampMs> {
        self.keys.values().map(|(_, until)| *until)
    }

    fn promise(&mut self, id: &ExecutionId) -> Result<&mut Promise, String> {
        self.promises.get_mut(id).ok_or_else(|| format!("I1: nobody submitted {id}"))
    }

    /// I5: only who holds it may change anything, and only in time.
    fn held_in_time(&mut self, id: &ExecutionId, fence: &Fence, now: TimestampMs) -> Verdict {
        match &self.promise(id)?.held {
            Some(held) if held.fence == *fence && now < held.until => Ok(()),
            _ => Err(format!("I5: {fence:?} changed {id}, which it did not hold")),
        }
    }

    /// I16: a key stands for one execution for as long as it is remembered.
    fn submitted(&mut self, args: &SubmitArgs, submitted: &Submitted, now: TimestampMs) -> Verdict {
        let id = submitted.execution_id;
        let key = args.idempotency_key.clone();
        if submitted.duplicate {
            let promise = self.promise(&id)?;
            if (&promise.key, &promise.payload) != (&key, &args.payload) {
                return Err(format!("I16: {id} is said to be a submission that it is not"));
            }
        } else {
            let promise = Promise {
                key: key.clone(),
                payload: args.payload.clone(),
                result: None,
                outcome: None,
                held: None,
                lost_by: None,
                epoch: LeaseEpoch(0),
                free_since: now,
            };
            if self.promises.insert(id, promise).is_some() {
                return Err(format!("I1: {id} was submitted twice"));
            }
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

    /// I3, I4 and I6: a lease is new, its epoch higher than any before, and nobody else's lease is still on.
    fn taken(&mut self, args: &ClaimArgs, taken: &Taken, now: TimestampMs) -> Verdict {
        for task in &taken.tasks {
            if !self.leases.insert(task.fence.lease_id) {
                return Err(format!("I6: {} was handed out twice", task.fence.lease_id));
            }
            let by = args.holder.worker_instance_id.clone();
            let promise = self.promise(&task.execution_id)?;
            if promise.held.is_some() || promise.free_since > now {
                return Err(format!("I3: {} was claimed while it was held", task.execution_id));
            }
            if promise.epoch >= task.fence.lease_epoch {
                return Err(format!("I4: epoch {} follows {}", task.fence.lease_epoch, promise.epoch));
            }
            promise.epoch = task.fence.lease_epoch;
            let stolen = promise.lost_by.take().is_some_and(|loser| loser != by);
            promise.held = Some(Held { fence: task.fence, until: task.lease_expires_at, by });
            self.steals += u64::from(stolen);
        }
        Ok(())
    }

    /// I16: what is forgotten had ended, and no key stands for it any more.
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

    fn completed(&mut self, args: &CompleteArgs) -> Verdict {
        self.promise(&args.execution_id)?.result.clone_from(&args.result);
        Ok(())
    }

    /// I2: one end to every life, told by one event.
    fn changed(&mut self, before: Option<&Execution>, change: &Change, now: TimestampMs) -> Verdict {
        let id = &change.after.id;
        let promise = self.promise(id)?;
        for event in &change.events {
            match event.what {
                What::Finished { outcome } if promise.outcome.replace(outcome).is_some() => {
                    return Err(format!("I2: {id} ended twice"));
                }
                What::Replayed => {
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
                .held
                .take()
                .map(|held| held.by)
                .filter(|_| change.after.last_lease.as_ref().is_some_and(|last| last.ended.is_loss()));
        }
        Ok(())
    }
}
