//! The side that is right: the model, and what a walk remembers of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use ff_core::clock::{Clock, ManualClock};
use ff_core::contracts::{
    CancelArgs, ClaimArgs, Claimed, Claims, CompleteArgs, DelayArgs, FailArgs, ProgressArgs, PumpArgs, RenewArgs,
    ReplayArgs, RevokeArgs, Task,
};
use ff_core::dice::Nonce;
use ff_core::engine_error::Refusal;
use ff_core::event::EventCursor;
use ff_core::execution::Failure;
use ff_core::lease::Fence;
use ff_core::model::Model;
use ff_core::operation::{Ask, Conditions, Operation, Reply};
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::token::{KeyRing, Secret};
use ff_core::types::{AttemptId, ExecutionId, FlowId, Kid, LeaseEpoch, LeaseId, Namespace, TimestampMs};
use uuid::Uuid;

use super::flow::inputs_of;
use super::step::{Step, Whose};
use super::told::Word;
use super::vocabulary;
use super::waiting::{Handed, handed_with};

/// The model at a moment of a walk.
pub(crate) struct Reference {
    pub(crate) model: Model,
    pub(crate) partitions: PartitionConfig,
    clock: Arc<ManualClock>,
    /// Which execution a job number turned out to be.
    ids: BTreeMap<u32, ExecutionId>,
    /// Which number a flow was given.
    pub(super) flows: BTreeMap<FlowId, u32>,
    /// Every fence given out, oldest first.
    fences: BTreeMap<ExecutionId, Vec<Fence>>,
    pub(crate) handed: Handed,
    /// Where the reader of what happens is.
    pub(super) reader: Option<EventCursor>,
    /// How often a lane's home gave leave to claim.
    pub(super) leaves: usize,
}

impl Reference {
    /// An empty model whose partitions share this first secret.
    pub(crate) fn new(partitions: PartitionConfig, clock: Arc<ManualClock>, secret: Secret) -> Self {
        let (ids, flows, fences, handed) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new(), Handed::default());
        let (mut model, ring) = (Model::default(), KeyRing::of(Kid::first(), secret));
        (0..partitions.num_flow_partitions).for_each(|partition| model.set_ring(partition, ring.clone()));
        Self { model, partitions, clock, ids, flows, fences, handed, reader: None, leaves: 0 }
    }

    /// Decides and applies one operation.
    pub(crate) fn perform(&mut self, operation: &Operation, nonce: Nonce) -> Result<Word, Refusal> {
        let at = Conditions { partitions: self.partitions, nonce, now: self.clock.now() };
        let (reply, _) = self.model.execute(operation, &at)?;
        self.handed.note(operation, &reply);
        let Reply::Taken(taken) = reply else { return Ok(Word::Reply(reply)) };
        let taken = match operation {
            Operation::Claim(args) if taken.limited => self.claim_with_leave(args, nonce)?,
            _ => taken,
        };
        let with_payload = |task: Task| {
            let payload = self.model.payload(&task.execution_id).cloned().unwrap();
            let resumption = task.resumption.as_ref();
            let signals = resumption.map(|resumption| handed_with(&self.model, &task.execution_id, resumption));
            let inputs = inputs_of(&self.model, &task);
            Claimed { task, payload, signals: signals.unwrap_or_default(), inputs }
        };
        let claimed: Vec<_> = taken.tasks.into_iter().map(with_payload).collect();
        for Claimed { task, .. } in &claimed {
            self.fences.entry(task.execution_id).or_default().push(task.fence);
        }
        Ok(Word::Claims(Claims { claimed, next: taken.next, limited: taken.limited }))
    }

    /// Decides and applies one operation whose answer is of a type that is known.
    pub(super) fn ask<A: Ask>(&mut self, args: A, nonce: Nonce) -> Result<A::Reply, Refusal> {
        let at = Conditions { partitions: self.partitions, nonce, now: self.clock.now() };
        let operation = args.into_operation();
        operation.check(&self.partitions)?;
        let (reply, _) = self.model.execute(&operation, &at)?;
        Ok(A::decided(reply).unwrap())
    }

    /// What time it is.
    pub(super) fn now(&self) -> TimestampMs {
        self.clock.now()
    }

    /// Remembers which execution a job is.
    pub(crate) fn note(&mut self, job: u32, told: &Result<Word, Refusal>) {
        if let Ok(Word::Reply(Reply::Submitted(submitted))) = told {
            self.ids.insert(job, submitted.execution_id);
        }
    }

    /// Remembers that a job is this execution.
    pub(crate) fn know(&mut self, job: u32, id: ExecutionId) {
        self.ids.insert(job, id);
    }

    /// The execution of a job; one that is not there when the job was never submitted.
    pub(crate) fn id(&self, job: u32) -> ExecutionId {
        let nowhere = || ExecutionId::place(vocabulary::uuid(job), &Namespace::default_name(), None, &self.partitions);
        // A number no walk gives to a job stands for an id that cannot be here.
        if job == u32::MAX {
            return ExecutionId::new(self.partitions.num_flow_partitions, vocabulary::uuid(job));
        }
        self.ids.get(&job).copied().unwrap_or_else(nowhere)
    }

    /// Every job there is, with its execution.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = (u32, ExecutionId)> {
        self.ids.iter().map(|(job, id)| (*job, *id))
    }

    /// What a step asks; nothing when it only lets time pass or shuts the store, or when it submits a graph, which comes
    /// in parts.
    pub(crate) fn operations(&self, step: &Step) -> Vec<Operation> {
        match step {
            Step::SubmitMany(many) => many.iter().map(|one| Operation::Submit(vocabulary::submit_args(one))).collect(),
            Step::Advance { .. } | Step::Reopen | Step::SubmitFlow(_) | Step::Operate(_) => Vec::new(),
            Step::Suspend { .. }
            | Step::CreateWaitpoint { .. }
            | Step::CloseWaitpoint { .. }
            | Step::Deliver(_)
            | Step::Resume { .. }
            | Step::Rotate { .. } => self.waiting_operations(step),
            Step::CreateFlow { .. }
            | Step::Grow(_)
            | Step::CloseFlow { .. }
            | Step::CancelFlow { .. }
            | Step::TagFlow { .. }
            | Step::WaitForChildren { .. }
            | Step::Cascade { .. } => vec![self.flow_operation(step)],
            one => vec![self.operation(one)],
        }
    }

    fn operation(&self, step: &Step) -> Operation {
        match step {
            Step::Submit(submission) => Operation::Submit(vocabulary::submit_args(submission)),
            Step::Claim { partition, namespace, lane, kinds, max, worker, ttl_ms } => Operation::Claim(ClaimArgs {
                partition: *partition,
                namespace: vocabulary::namespace(*namespace),
                lane: vocabulary::lane(*lane),
                kinds: kinds.iter().map(|nth| vocabulary::kind(*nth)).collect(),
                max: *max,
                holder: vocabulary::holder(*worker),
                lease_ttl_ms: *ttl_ms,
            }),
            Step::Renew { job, fence, ttl_ms } => {
                let (execution_id, fence) = self.held(*job, *fence);
                Operation::Renew(RenewArgs { execution_id, fence, lease_ttl_ms: *ttl_ms })
            }
            Step::Progress { job, fence, percent, message } => {
                let (execution_id, fence) = self.held(*job, *fence);
                Operation::Progress(ProgressArgs {
                    execution_id,
                    fence,
                    percent: *percent,
                    message: message.map(vocabulary::text),
                })
            }
            Step::Complete { job, fence, result } => {
                let (execution_id, fence) = self.held(*job, *fence);
                let result = result.map(|bytes| Payload::bytes(vec![b'r'; bytes]));
                Operation::Complete(CompleteArgs { execution_id, fence, result })
            }
            Step::Fail { job, fence, category, permanent } => {
                let (execution_id, fence) = self.held(*job, *fence);
                let failure = Failure {
                    category: vocabulary::kind(*category),
                    message: "it went wrong".into(),
                    permanent: *permanent,
                };
                Operation::Fail(FailArgs { execution_id, fence, failure })
            }
            Step::Delay { job, fence, start } => {
                let (execution_id, fence) = self.held(*job, *fence);
                Operation::Delay(DelayArgs { execution_id, fence, start: *start })
            }
            Step::Cancel { job, reason } => {
                let (execution_id, reason) = (self.id(*job), reason.map(vocabulary::text));
                Operation::Cancel(CancelArgs { execution_id, reason, requested_by: None })
            }
            Step::Replay { job, reason, reopen } => {
                let (execution_id, reason) = (self.id(*job), reason.map(vocabulary::text));
                Operation::Replay(ReplayArgs { execution_id, reason, requested_by: None, reopen_downstream: *reopen })
            }
            Step::Revoke { job, lease } => {
                let lease_id = lease.map(|whose| self.held(*job, whose).1.lease_id);
                Operation::Revoke(RevokeArgs { execution_id: self.id(*job), lease_id, reason: None })
            }
            Step::Pump { partition } => Operation::Pump(PumpArgs { partition: *partition }),
            other => unreachable!("{other:?} is not an operation on an execution or a lease"),
        }
    }

    /// An execution and the fence a caller shows for it; a made-up one when it was never held.
    pub(super) fn held(&self, job: u32, whose: Whose) -> (ExecutionId, Fence) {
        let id = self.id(job);
        let given = self.fences.get(&id).map_or(&[][..], Vec::as_slice);
        let made_up = Uuid::from_u128(9);
        let nobody = Fence {
            lease_id: LeaseId::from_uuid(made_up),
            lease_epoch: LeaseEpoch(1),
            attempt_id: AttemptId::from_uuid(made_up),
        };
        let mut fence = given.last().copied().unwrap_or(nobody);
        match whose {
            Whose::Latest => {}
            Whose::Earlier => fence = given.iter().rev().nth(1).copied().unwrap_or(nobody),
            Whose::OtherLease => fence.lease_id = LeaseId::from_uuid(made_up),
            Whose::OtherEpoch => fence.lease_epoch = fence.lease_epoch.next(),
            Whose::OtherAttempt => fence.attempt_id = AttemptId::from_uuid(made_up),
        }
        (id, fence)
    }
}
