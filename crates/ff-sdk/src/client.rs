//! The client: submits work, inspects it and waits for its end.

use std::sync::Arc;

use ff_core::backend::{EngineBackend, LongPoll};
use ff_core::contracts::{
    AssignArgs, Attempts, CancelArgs, CancelledExecution, DeliveredSignal, DeliveriesArgs, DeliveriesPage,
    ExecutionEnd, ExecutionInfo, Filter, FlowsPage, GrantInfo, GrantIssued, GrantRevoked, HoldArgs, HoldPlaced,
    HoldReleased, ListArgs, ListFlowsArgs, Page, PartitionKids, ReleaseHoldArgs, ResumeArgs, ResumedExecution,
    RevokeArgs, RevokedLease, RotateSecretArgs, RotationReport, SignalsArgs, SignalsPage, SubmittedExecution,
    UnassignArgs, WaitpointInfo,
};
use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::execution::{Blocker, Outcome};
use ff_core::explain::Explanation;
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::signal::FeedCursor;
use ff_core::suspension::OperatorDecision;
use ff_core::types::{ExecutionId, FlowId, Namespace, SignalId};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::flowfabric::check_named;
use crate::{Error, Flow, FlowHandle, Job, Signal, SignalMessage, Waitpoint};

/// Number of partitions that are queried at the same time for a uuid.
const LOOKS_AT_ONCE: usize = 16;

/// A client that submits and follows executions. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    backend: Arc<dyn EngineBackend>,
    long_poll: Arc<dyn LongPoll>,
    /// The namespace of the API key, if the key belongs to one.
    own: Option<Namespace>,
}

impl Client {
    pub(crate) fn new(backend: Arc<dyn EngineBackend>, long_poll: Arc<dyn LongPoll>, own: Option<Namespace>) -> Self {
        Self { backend, long_poll, own }
    }

    /// Refuses the namespace `default` when it is named explicitly and the API key belongs to another one.
    pub(crate) fn check_named(&self, named: Option<&Namespace>) -> Result<(), Error> {
        Ok(check_named(named, self.own.as_ref())?)
    }

    pub(crate) fn backend(&self) -> &dyn EngineBackend {
        &*self.backend
    }

    pub(crate) fn long_poll(&self) -> &dyn LongPoll {
        &*self.long_poll
    }

    /// Submits one job.
    pub async fn submit(&self, job: Job) -> Result<SubmittedExecution, Error> {
        self.check_named(job.named())?;
        Ok(self.backend.submit(job.build()?).await?)
    }

    /// Submits up to 1 000 jobs in one call. Each has its own result, in the order of the jobs.
    pub async fn submit_many(
        &self,
        jobs: impl IntoIterator<Item = Job>,
    ) -> Result<Vec<Result<SubmittedExecution, Error>>, Error> {
        let checked = |job: Job| self.check_named(job.named()).and_then(|()| job.build());
        let jobs: Vec<_> = jobs.into_iter().map(checked).collect();
        let sound = jobs.iter().filter_map(|job| job.as_ref().ok().cloned()).collect();
        let mut answers = self.backend.submit_many(sound).await?.into_iter();
        let mut results = Vec::with_capacity(jobs.len());
        for job in jobs {
            results.push(match job {
                Err(error) => Err(error),
                Ok(_) => answers.next().map_or_else(|| Err(short_answer()), |answer| answer.map_err(Error::from)),
            });
        }
        Ok(results)
    }

    /// Submits a whole flow: all of it or nothing. A repeated submission of the same flow, by its id or idempotency
    /// key, returns the existing flow.
    pub async fn submit_flow(&self, flow: Flow) -> Result<FlowHandle, Error> {
        self.check_named(flow.named())?;
        let submitted = self.backend.submit_flow(flow.build()?).await?;
        Ok(self.flow(&submitted.flow_id))
    }

    /// Creates a flow without members, to be grown later. It does not end before it is closed.
    pub async fn create_flow(&self, flow: Flow) -> Result<FlowHandle, Error> {
        self.check_named(flow.named())?;
        let created = self.backend.create_flow(flow.build_empty()?).await?;
        Ok(self.flow(&created.flow_id))
    }

    /// Returns a handle to a flow.
    pub fn flow(&self, id: &FlowId) -> FlowHandle {
        FlowHandle::new(self.clone(), *id)
    }

    /// Returns a page of flows, newest first.
    pub async fn list_flows(&self, args: ListFlowsArgs) -> Result<FlowsPage, Error> {
        Ok(self.backend.list_flows(args).await?)
    }

    /// Finds the id of an execution from its uuid alone. It looks first on the partition of a submission without a key,
    /// and then on every other partition. A uuid that exists on several of the others is refused.
    pub async fn find(&self, uuid: Uuid) -> Result<ExecutionId, Error> {
        let partitions = self.backend.partitions();
        let placed = ExecutionId::place(uuid, &Namespace::default_name(), None, &partitions);
        if self.is_there(placed).await?.is_some() {
            return Ok(placed);
        }
        let others = (0..partitions.num_flow_partitions).map(|partition| ExecutionId::new(partition, uuid));
        let looks = stream::iter(others.filter(|id| *id != placed)).map(|id| self.is_there(id));
        let found: Vec<_> =
            looks.buffer_unordered(LOOKS_AT_ONCE).try_filter_map(async |id| Ok(id)).try_collect().await?;
        match &found[..] {
            [id] => Ok(*id),
            [] => Err(Code::ExecutionNotFound.refusal().because(format!("no execution has the uuid {uuid}")).into()),
            several => {
                Err(Refusal::invalid("id", format!("must be one of {several:?}: the uuid alone is not unique")).into())
            }
        }
    }

    async fn is_there(&self, id: ExecutionId) -> Result<Option<ExecutionId>, Error> {
        match self.backend.describe(&id).await {
            Ok(_) => Ok(Some(id)),
            Err(EngineError::Refused(refusal)) if refusal.code == Code::ExecutionNotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the current state of an execution.
    pub async fn get(&self, id: &ExecutionId) -> Result<ExecutionInfo, Error> {
        Ok(self.backend.describe(id).await?)
    }

    /// Returns a page of executions, newest first.
    pub async fn list(&self, args: ListArgs) -> Result<Page, Error> {
        Ok(self.backend.list(args).await?)
    }

    /// Returns the payload that was submitted.
    pub async fn payload(&self, id: &ExecutionId) -> Result<Payload, Error> {
        Ok(self.backend.payload(id).await?)
    }

    /// Returns the end of an execution, or an error while it has not ended.
    pub async fn result(&self, id: &ExecutionId) -> Result<End, Error> {
        Ok(End(self.backend.result(id).await?))
    }

    /// Waits until an execution has ended, without a time limit.
    pub async fn wait(&self, id: &ExecutionId) -> Result<End, Error> {
        loop {
            if let Some(ended) = self.long_poll.ended(id, limits::LONG_POLL_MS).await? {
                return Ok(End(ended));
            }
        }
    }

    /// Returns the attempts and the lease history of an execution.
    pub async fn attempts(&self, id: &ExecutionId) -> Result<Attempts, Error> {
        Ok(self.backend.attempts(id).await?)
    }

    /// Cancels an execution in any live state. A running handler is notified at once.
    pub async fn cancel(&self, id: &ExecutionId, reason: Option<&str>) -> Result<CancelledExecution, Error> {
        let args = CancelArgs { execution_id: *id, reason: reason.map(str::to_owned), requested_by: None };
        Ok(self.backend.cancel(args).await?)
    }

    /// Holds an execution: no worker can claim it until it is released. A running one continues, and is held once it is ready
    /// again.
    pub async fn hold(&self, id: &ExecutionId, reason: Option<&str>) -> Result<HoldPlaced, Error> {
        let args = HoldArgs { execution_id: *id, reason: reason.map(str::to_owned), requested_by: None };
        Ok(self.backend.hold(args).await?)
    }

    /// Ends the hold of an execution.
    pub async fn release(&self, id: &ExecutionId) -> Result<HoldReleased, Error> {
        Ok(self.backend.release_hold(ReleaseHoldArgs { execution_id: *id }).await?)
    }

    /// Assigns an execution to one worker instance: no other instance can claim it until the grant expires. The
    /// execution must be ready or blocked, or its lease must have expired.
    pub async fn assign(&self, args: AssignArgs) -> Result<GrantIssued, Error> {
        Ok(self.backend.assign(args).await?)
    }

    /// Ends an assignment early, so that any worker can claim the execution.
    pub async fn unassign(&self, id: &ExecutionId) -> Result<GrantRevoked, Error> {
        Ok(self.backend.unassign(UnassignArgs { execution_id: *id }).await?)
    }

    /// Lists the executions of a namespace that are assigned to worker instances.
    pub async fn grants(&self, namespace: &Namespace) -> Result<Vec<GrantInfo>, Error> {
        let filter =
            Filter { blocking_reason: Some(Blocker::Assignment.reason()), ..Filter::everything(namespace.clone()) };
        let (mut grants, mut after) = (Vec::new(), None);
        loop {
            let page = self.backend.list(ListArgs { filter: filter.clone(), after, limit: limits::PAGE }).await?;
            grants.extend(page.executions.iter().filter_map(GrantInfo::of));
            after = page.next;
            if after.is_none() {
                return Ok(grants);
            }
        }
    }

    /// Explains why an execution does not run and suggests actions, or reports that it runs.
    pub async fn explain(&self, id: &ExecutionId) -> Result<Explanation, Error> {
        Ok(self.backend.explain(id).await?)
    }

    /// Delivers a signal to the execution that waits for it.
    pub async fn signal(&self, signal: Signal) -> Result<DeliveredSignal, Error> {
        Ok(self.backend.deliver(signal.build()?).await?)
    }

    /// Returns a page of the signals that an execution received, oldest first.
    pub async fn signals(&self, args: SignalsArgs) -> Result<SignalsPage, Error> {
        Ok(self.backend.signals(args).await?)
    }

    /// Returns one signal that an execution received, with its payload.
    pub async fn received(&self, id: &ExecutionId, signal: &SignalId) -> Result<SignalMessage, Error> {
        Ok(SignalMessage(self.backend.signal(id, signal).await?))
    }

    /// Returns the signal deliveries to all executions after a cursor, and waits up to a minute for one. Start without
    /// a cursor, and pass the `next` of each page to the next call.
    pub async fn deliveries(&self, after: Option<FeedCursor>) -> Result<DeliveriesPage, Error> {
        let args = DeliveriesArgs { after, limit: limits::PAGE };
        Ok(self.long_poll.next_deliveries(args, limits::LONG_POLL_MS).await?)
    }

    /// Approves the wait of a suspended execution. The worker receives the reason as a comment.
    pub async fn approve(&self, id: &ExecutionId, reason: Option<&str>) -> Result<ResumedExecution, Error> {
        self.decide(decision(id, OperatorDecision::Approve, reason)).await
    }

    /// Rejects the wait of a suspended execution. The worker receives the reason as a comment.
    pub async fn reject(&self, id: &ExecutionId, reason: Option<&str>) -> Result<ResumedExecution, Error> {
        self.decide(decision(id, OperatorDecision::Reject, reason)).await
    }

    /// Resumes a suspended execution without a decision. The worker receives the reason as a comment.
    pub async fn resume(&self, id: &ExecutionId, reason: Option<&str>) -> Result<ResumedExecution, Error> {
        self.decide(decision(id, OperatorDecision::Resume, reason)).await
    }

    /// Ends a suspension by a decision, with every option.
    pub async fn decide(&self, args: ResumeArgs) -> Result<ResumedExecution, Error> {
        Ok(self.backend.resume(args).await?)
    }

    /// Lists the open waitpoints of an execution, without their tokens, oldest first.
    pub async fn waitpoints(&self, id: &ExecutionId) -> Result<Vec<WaitpointInfo>, Error> {
        Ok(self.backend.waitpoints(id).await?)
    }

    /// Returns a waitpoint with its token, so that an operator can give the token out again.
    pub async fn open_waitpoint(&self, id: &ExecutionId, waitpoint: &WaitpointInfo) -> Result<Waitpoint, Error> {
        let waitpoint_token = self.backend.waitpoint_token(id, &waitpoint.waitpoint_id).await?;
        let (waitpoint_id, waitpoint_key) = (waitpoint.waitpoint_id, waitpoint.waitpoint_key.clone());
        Ok(Waitpoint { execution_id: *id, waitpoint_id, waitpoint_key, waitpoint_token })
    }

    /// Installs a new secret for future tokens on every partition, and returns the outcome of each.
    pub async fn rotate_secret(&self, args: RotateSecretArgs) -> Result<RotationReport, Error> {
        Ok(self.backend.rotate_secret(args).await?)
    }

    /// Lists the names of the token secrets on every partition.
    pub async fn secrets(&self) -> Result<Vec<PartitionKids>, Error> {
        Ok(self.backend.kids().await?)
    }

    /// Revokes the lease of an execution, so that another worker can claim it.
    pub async fn revoke(&self, id: &ExecutionId, reason: Option<&str>) -> Result<RevokedLease, Error> {
        let args = RevokeArgs { execution_id: *id, lease_id: None, reason: reason.map(str::to_owned) };
        Ok(self.backend.revoke(args).await?)
    }
}

/// Builds a decision. Its reason is stored with the execution and is sent to the worker as a comment.
fn decision(id: &ExecutionId, decision: OperatorDecision, reason: Option<&str>) -> ResumeArgs {
    let comment = |reason| Payload::json(serde_json::json!({ "comment": reason }).to_string());
    ResumeArgs { reason: reason.map(str::to_owned), payload: reason.map(comment), ..ResumeArgs::new(*id, decision) }
}

fn short_answer() -> Error {
    Error::Engine(EngineError::Unknown("fewer answers than submissions came back".into()))
}

/// The end of an execution: its outcome, and its result or failure.
#[derive(Clone, Debug, PartialEq)]
pub struct End(pub ExecutionEnd);

impl End {
    /// Returns the result of a successful execution, which is empty if it has none. Any other outcome is an error.
    pub fn payload(&self) -> Result<Payload, Error> {
        match self.0.outcome {
            Outcome::Success => Ok(self.0.result.clone().unwrap_or_default()),
            outcome => Err(Error::NotSuccessful(outcome, self.0.failure.as_ref().map(|why| why.message.clone()))),
        }
    }

    /// Returns the result of a successful execution, read as JSON. An empty result is read as `null`.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        let payload = self.payload()?;
        let text = if payload.bytes.is_empty() { b"null" } else { payload.bytes.as_ref() };
        serde_json::from_slice(text).map_err(Error::Decode)
    }
}
