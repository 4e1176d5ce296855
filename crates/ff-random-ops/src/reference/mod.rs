//! The reference of a comparison: the model, and the values that a run remembers about it.

mod class;
mod finish;
mod flow;
mod operator;
mod output;
pub(crate) mod quota;
mod suspension;
pub(crate) mod vocabulary;

use std::collections::BTreeMap;
use std::sync::Arc;

use uuid::Uuid;

pub(crate) use self::vocabulary::{bytes, kind};
pub(crate) use flow::{FLOW_TAG, flow_id, graph_of};
pub(crate) use output::{Output, Outputs};
pub(crate) use suspension::number_of;

use self::operator::LaneMessages;
use self::suspension::GrantedWaitpoints;
use crate::coverage::Coverage;
use crate::laws::Laws;
use crate::prelude::*;
use crate::transition::{FenceChoice, HolderCall, OperatorRequest, Transition};

/// One call of a store: an operation, or a call that the store performs with several operations.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    One(Box<Operation>),
    /// An operation that only engines perform.
    Engine(Box<Operation>),
    SubmitMany(Vec<SubmitArgs>),
    SubmitFlow(SubmitFlowArgs),
    Rotate(RotateSecretArgs),
    ConfigureLane(ConfigureLaneArgs),
    SweepWorkers,
    Events(EventsArgs),
}

/// An operation that the model has performed, and the expected answer.
#[derive(Clone, Debug)]
pub struct Entry {
    pub operation: Operation,
    pub nonce: Nonce,
    /// The reply, and the claimed executions if the operation is a claim.
    pub answer: Result<(Reply, Vec<ClaimedExecution>), Refusal>,
}

/// The model and the values remembered during a run.
pub struct Reference {
    pub(crate) model: Model,
    pub(crate) partitions: PartitionConfig,
    clock: Arc<ManualClock>,
    /// The execution of each job number.
    ids: BTreeMap<u32, ExecutionId>,
    /// The number of each flow.
    pub(crate) flows: BTreeMap<FlowId, u32>,
    /// Every fence given out, oldest first.
    fences: BTreeMap<ExecutionId, Vec<Fence>>,
    pub(crate) granted: GrantedWaitpoints,
    /// The cursor of the reader of events.
    pub(crate) reader: Option<EventCursor>,
    messages: LaneMessages,
    /// Whether a call of several operations is performed one operation at a time.
    pub(crate) sends_messages: bool,
    pub(crate) laws: Option<Laws>,
    pub(crate) coverage: Coverage,
    /// The operations performed since the log was last taken, for subjects that perform groups.
    pub(crate) log: Vec<Entry>,
}

impl Reference {
    /// Creates an empty model whose partitions share this first secret.
    pub(crate) fn new(partitions: PartitionConfig, clock: Arc<ManualClock>, secret: Secret) -> Self {
        let (mut model, ring) = (Model::default(), KeyRing::of(Kid::first(), secret));
        (0..partitions.num_flow_partitions).for_each(|partition| model.set_ring(partition, ring.clone()));
        Self {
            model,
            partitions,
            clock,
            ids: BTreeMap::new(),
            flows: BTreeMap::new(),
            fences: BTreeMap::new(),
            granted: GrantedWaitpoints::default(),
            reader: None,
            messages: LaneMessages::default(),
            sends_messages: false,
            laws: None,
            coverage: Coverage::default(),
            log: Vec::new(),
        }
    }

    /// Performs a call and remembers the ids and cursors that it returned.
    pub(crate) fn perform(&mut self, transition: &Transition, call: &Call, nonce: Nonce) -> Outputs {
        let outputs = match call {
            Call::One(operation) => vec![self.one(operation, nonce)],
            Call::Engine(operation) => vec![self.perform_engine(operation, nonce)],
            Call::SubmitMany(many) => {
                many.iter().map(|args| self.one(&Operation::Submit(args.clone()), nonce)).collect()
            }
            Call::SubmitFlow(args) => vec![self.submit_flow(args, nonce)],
            Call::Rotate(rotation) => (0..self.partitions.num_flow_partitions)
                .map(|partition| RotatePartitionArgs { partition, rotation: rotation.clone() })
                .map(|args| self.one(&Operation::Rotate(args), nonce))
                .collect(),
            Call::ConfigureLane(args) => vec![self.configure(args.clone(), nonce).map(Output::Lane)],
            Call::SweepWorkers => vec![self.sweep_workers(nonce).map(Output::Workers)],
            Call::Events(args) => vec![self.events(args, nonce).map(Output::Events)],
        };
        self.note(transition, &outputs);
        outputs
    }

    fn one(&mut self, operation: &Operation, nonce: Nonce) -> Result<Output, Refusal> {
        let (reply, claimed) = self.execute_work(operation, nonce)?;
        let Reply::ClaimDecision(taken) = reply else { return Ok(Output::Reply(reply)) };
        match operation {
            Operation::Claim(args) if taken.limited => self.claim_with_leave(args, nonce).map(Output::Claims),
            _ => Ok(Output::Claims(Claims {
                claimed,
                next: taken.next,
                limited: taken.limited,
                admissions: taken.admissions,
            })),
        }
    }

    /// Decides and applies one operation. The model performs every operation through this function.
    pub(crate) fn execute(
        &mut self,
        operation: &Operation,
        nonce: Nonce,
    ) -> Result<(Reply, Vec<ClaimedExecution>), Refusal> {
        let at = Conditions { partitions: self.partitions, nonce, now: self.clock.now() };
        let executions = self.model.executions().count();
        let revision = self.revision_grown_by(operation);
        let answer = match &mut self.laws {
            Some(laws) => laws.execute(&mut self.model, operation, at, &mut self.coverage),
            None => self.model.execute(operation, &at).map(|(reply, _)| reply),
        };
        self.coverage.count(operation, &answer);
        let answer = answer.map(|reply| {
            self.coverage.count_forgotten(executions.saturating_sub(self.model.executions().count()));
            if revision.is_some() && revision == self.revision_grown_by(operation) {
                self.coverage.record("flow grown before");
            }
            self.granted.note(operation, &reply);
            self.messages.note(operation, &reply);
            let claimed = match &reply {
                Reply::ClaimDecision(decision)
                | Reply::ClaimGranted(GrantedClaim { decision, .. })
                | Reply::ClaimAdmitted(AdmittedClaim { decision, .. }) => {
                    decision.tasks.iter().map(|task| claimed_with(&self.model, task)).collect()
                }
                _ => Vec::new(),
            };
            for ClaimedExecution { task, .. } in &claimed {
                self.fences.entry(task.execution_id).or_default().push(task.fence);
            }
            self.coverage.count_claims(&claimed);
            let in_turn = claimed.iter().filter_map(|one| self.model.find(&one.task.execution_id));
            let in_turn = in_turn.filter(|execution| !execution.fair_key.is_empty()).count();
            (0..in_turn).for_each(|_| self.coverage.record("taken in turn"));
            (reply, claimed)
        });
        self.log.push(Entry { operation: operation.clone(), nonce, answer: answer.clone() });
        answer
    }

    /// Decides and applies one operation, and returns the answer in its own type.
    fn ask<A: Ask>(&mut self, args: A, nonce: Nonce) -> Result<A::Answer, Refusal> {
        let operation = args.into_operation();
        let checked = operation.check(&self.partitions);
        checked.inspect_err(|refusal| self.coverage.record(refusal.code.as_str()))?;
        let (reply, _) = self.execute(&operation, nonce)?;
        Ok(A::answer(reply).unwrap())
    }

    /// Returns the current time.
    pub(crate) fn now(&self) -> TimestampMs {
        self.clock.now()
    }

    /// Returns the milliseconds until `offset_ms` after one of the next due times and key expiries.
    pub(crate) fn until(&self, nth: usize, offset_ms: i64) -> u64 {
        let now = self.now();
        let due = self.model.executions().flat_map(|one| Due::ALL.iter().filter_map(|due| one.due_at(*due)));
        let keys = self.laws.iter().flat_map(Laws::keys_forgotten_at);
        let mut ahead: Vec<_> = due.chain(keys).filter(|at| *at > now).collect();
        ahead.sort_unstable();
        ahead.dedup();
        // Distant times are skipped: an advance to the end of a retention of days would end the whole run at once.
        let near = ahead.get(nth).filter(|at| at.since(now) < 100_000);
        near.map_or(0, |at| TimestampMs(at.0 + offset_ms).since(now))
    }

    /// Records the executions and flows that a transition created, and the cursor of the reader.
    fn note(&mut self, transition: &Transition, outputs: &Outputs) {
        let mut submitted = |job: u32, output: &Result<Output, Refusal>| {
            if let Ok(Output::Reply(Reply::Submitted(submitted))) = output {
                self.ids.insert(job, submitted.execution_id);
            }
        };
        match transition {
            Transition::Submit(one) => submitted(one.job, &outputs[0]),
            Transition::SubmitMany(many) => {
                many.iter().zip(outputs).for_each(|(one, output)| submitted(one.job, output))
            }
            Transition::Fork { fork, .. } => {
                if let Ok(Output::Reply(Reply::Forked(forked))) = &outputs[0] {
                    self.ids.insert(*fork, forked.execution_id);
                }
            }
            Transition::Operate(OperatorRequest::Read { .. }) => {
                if let Ok(Output::Events(page)) = &outputs[0] {
                    self.reader = Some(page.next.clone());
                    self.coverage.count_events(page.events.len());
                }
            }
            _ if outputs[0].is_ok() => self.note_flow(transition),
            _ => {}
        }
    }

    /// Returns the execution of a job. A job that was never submitted gets the id of an execution that does not exist.
    pub(crate) fn id(&self, job: u32) -> ExecutionId {
        let nowhere = || ExecutionId::place(vocabulary::uuid(job), &Namespace::default_name(), None, &self.partitions);
        // The number that no run gives to a job stands for an id of a partition that does not exist.
        if job == u32::MAX {
            return ExecutionId::new(self.partitions.num_flow_partitions, vocabulary::uuid(job));
        }
        self.ids.get(&job).copied().unwrap_or_else(nowhere)
    }

    /// Returns every submitted job with its execution.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = (u32, ExecutionId)> {
        self.ids.iter().map(|(job, id)| (*job, *id))
    }

    /// Returns the call of a transition, or `None` if it only advances the clock or reopens the store.
    pub(crate) fn call(&self, transition: &Transition) -> Option<Call> {
        Some(match transition {
            Transition::SubmitMany(many) => Call::SubmitMany(many.iter().map(vocabulary::submit_args).collect()),
            Transition::Advance { .. } | Transition::AdvanceTo { .. } | Transition::Reopen => return None,
            Transition::Rotate { kid, secret, grace_ms } => {
                Call::Rotate(vocabulary::rotation(*kid, *secret, *grace_ms))
            }
            Transition::SubmitFlow(plan) => Call::SubmitFlow(graph_of(plan)),
            Transition::SubmitLargeFlow { flow, first, jobs, part } => flow::large(*flow, *first, *jobs, *part),
            Transition::Operate(order) => self.order(order),
            Transition::Quota(order) => Call::Engine(Box::new(self.quota_operation(order))),
            Transition::CloseWaitpoint { .. } | Transition::Deliver(_) | Transition::Resume { .. } => {
                Call::One(Box::new(self.suspension_operation(transition)))
            }
            Transition::CreateFlow { .. }
            | Transition::Grow(_)
            | Transition::CloseFlow { .. }
            | Transition::CancelFlow { .. }
            | Transition::TagFlow { .. }
            | Transition::Cascade { .. } => Call::One(Box::new(self.flow_operation(transition))),
            one => Call::One(Box::new(self.operation(one))),
        })
    }

    fn operation(&self, transition: &Transition) -> Operation {
        match transition {
            Transition::Submit(submission) => Operation::Submit(vocabulary::submit_args(submission)),
            Transition::Claim { partition, namespace, lane, kinds, assigned, max, worker, ttl_ms } => {
                Operation::Claim(ClaimArgs {
                    partition: *partition,
                    namespace: vocabulary::namespace(*namespace),
                    lane: vocabulary::lane(*lane),
                    kinds: kinds.iter().map(|nth| kind(*nth)).collect(),
                    capabilities: vocabulary::capabilities(*worker),
                    assigned: *assigned,
                    max: *max,
                    holder: vocabulary::holder(*worker),
                    lease_ttl_ms: *ttl_ms,
                })
            }
            Transition::AsHolder { job, fence, call } => self.holder_operation(*job, *fence, call),
            Transition::Fork { job, fork, before } => {
                let (execution_id, uuid) = (self.id(*job), vocabulary::uuid(*fork));
                Operation::Fork(ForkArgs { execution_id, uuid, before_step: before.map(|point| point.point()) })
            }
            Transition::Cancel { job, reason } => {
                let (execution_id, reason) = (self.id(*job), reason.map(vocabulary::text));
                let requested_by = vocabulary::requester(&reason);
                Operation::Cancel(CancelArgs { execution_id, reason, requested_by })
            }
            Transition::Replay { job, reason, reopen, from } => {
                let (execution_id, reason) = (self.id(*job), reason.map(vocabulary::text));
                let requested_by = vocabulary::requester(&reason);
                let (reopen_downstream, from_step) = (*reopen, from.map(|point| point.point()));
                Operation::Replay(ReplayArgs { execution_id, reason, requested_by, reopen_downstream, from_step })
            }
            Transition::Revoke { job, lease } => {
                let lease_id = lease.map(|choice| self.execution_and_fence(*job, choice).1.lease_id);
                Operation::Revoke(RevokeArgs { execution_id: self.id(*job), lease_id, reason: None })
            }
            Transition::Pump { partition } => Operation::Pump(PumpArgs { partition: *partition }),
            other => unreachable!("{other:?} is not an operation on an execution or a lease"),
        }
    }

    fn holder_operation(&self, job: u32, fence: FenceChoice, call: &HolderCall) -> Operation {
        let (execution_id, fence) = self.execution_and_fence(job, fence);
        match call {
            HolderCall::Renew { ttl_ms } => Operation::Renew(RenewArgs { execution_id, fence, lease_ttl_ms: *ttl_ms }),
            HolderCall::Progress { percent, message } => {
                let (percent, message) = (*percent, message.map(vocabulary::text));
                Operation::Progress(ProgressArgs { execution_id, fence, percent, message })
            }
            HolderCall::Append(batch) => {
                let made = self.model.find(&execution_id).map_or(0, |execution| execution.attempts_made);
                let attempt = AttemptIndex(made.saturating_sub(1));
                let next = self.model.stream(&execution_id, attempt).ok().flatten().map_or(0, |stream| stream.next);
                Operation::AppendFrames(batch.args(execution_id, fence, next))
            }
            HolderCall::RecordStep(step) => Operation::RecordStep(step.args(execution_id, fence, self.now())),
            HolderCall::Complete { result } => {
                Operation::Complete(CompleteArgs { execution_id, fence, result: result.map(bytes) })
            }
            HolderCall::Fail { category, permanent } => {
                let (category, permanent) = (kind(*category), *permanent);
                let failure = Failure { category, message: "it went wrong".into(), permanent };
                Operation::Fail(FailArgs { execution_id, fence, failure })
            }
            HolderCall::Delay { start } => Operation::Delay(DelayArgs { execution_id, fence, start: *start }),
            HolderCall::Suspend(wish) => Operation::Suspend(self.suspension(execution_id, fence, wish)),
            HolderCall::CreateWaitpoint { key, ms } => {
                let (key, expires_in_ms) = (suspension::key(*key), *ms);
                Operation::CreateWaitpoint(CreateWaitpointArgs { execution_id, fence, key, expires_in_ms })
            }
            HolderCall::WaitForChildren => Operation::WaitForChildren(WaitForChildrenArgs { execution_id, fence }),
        }
    }

    /// Returns an execution and the fence that a caller presents for it. The fence is invented if the execution was
    /// never leased.
    pub(crate) fn execution_and_fence(&self, job: u32, choice: FenceChoice) -> (ExecutionId, Fence) {
        let id = self.id(job);
        let given = self.fences.get(&id).map_or(&[][..], Vec::as_slice);
        let made_up = Uuid::from_u128(9);
        let unknown = Fence {
            lease_id: LeaseId::from_uuid(made_up),
            lease_epoch: LeaseEpoch(1),
            attempt_id: AttemptId::from_uuid(made_up),
        };
        let mut fence = given.last().copied().unwrap_or(unknown);
        match choice {
            FenceChoice::Latest => {}
            FenceChoice::Earlier => fence = given.iter().rev().nth(1).copied().unwrap_or(unknown),
            FenceChoice::OtherLease => fence.lease_id = LeaseId::from_uuid(made_up),
            FenceChoice::OtherEpoch => fence.lease_epoch = fence.lease_epoch.next(),
            FenceChoice::OtherAttempt => fence.attempt_id = AttemptId::from_uuid(made_up),
        }
        (id, fence)
    }
}

/// Returns a task with all data that its worker gets.
fn claimed_with(model: &Model, task: &Task) -> ClaimedExecution {
    let payload = model.payload(&task.execution_id).cloned().unwrap();
    let resumption = task.resumption.as_ref();
    let signals = resumption.map(|resumption| suspension::resumption_signals(model, &task.execution_id, resumption));
    let inputs = flow::inputs_of(model, task);
    let steps = model.steps_page(&task.execution_id, None, limits::PAGE, limits::CLAIM_STEP_BYTES);
    ClaimedExecution { task: task.clone(), payload, signals: signals.unwrap_or_default(), inputs, steps }
}
