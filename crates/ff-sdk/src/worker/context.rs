//! The context of a handler's run.

use std::any::{TypeId, type_name};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ff_core::backend::outage::OutageLog;
use ff_core::backend::{EngineBackend, LongPoll};
use ff_core::contracts::{Input, ProgressArgs, Task, TaskFlow};
use ff_core::payload::Payload;
use ff_core::trace::TraceContext;
use ff_core::types::ExecutionId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::children::AddChildren;
use super::held_executions::HeldExecution;
use super::output::{Output, OutputBuffer};
use super::setup::States;
use super::step::{RunStep, StepLog};
use super::suspension::{CreateWaitpoint, Suspend, WaitForApproval, WaitForSignal, WaitLog};
use super::usage::UsageReport;
use super::{Fault, WaitError, children, step, suspension};
use crate::{End, Error, Growth, Job};

/// The execution that a handler runs, and the calls that the handler can make. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    inner: Arc<Work>,
}

pub(super) struct Work {
    pub(super) task: Task,
    pub(super) payload: Payload,
    pub(super) inputs: Vec<Input>,
    pub(super) backend: Arc<dyn EngineBackend>,
    pub(super) states: Arc<States>,
    pub(super) hold: HeldExecution,
    pub(super) outages: Arc<OutageLog>,
    pub(super) long_poll: Arc<dyn LongPoll>,
    pub(super) steps: StepLog,
    pub(super) waits: WaitLog,
    pub(super) output: Arc<OutputBuffer>,
    /// Number of usage reports without a name that this run has made.
    pub(super) unnamed_reports: AtomicU64,
}

impl Context {
    pub(super) fn new(work: Work) -> Self {
        Self { inner: Arc::new(work) }
    }

    /// Returns the claimed task: id, kind, tags, attempt, deadline.
    pub fn task(&self) -> &Task {
        &self.inner.task
    }

    /// Returns the payload: the submitted one, or the result of an upstream that replaces it.
    pub fn payload(&self) -> &Payload {
        &self.inner.payload
    }

    /// Returns the payload, read as JSON. An empty payload is read as `null`. An unreadable payload is a permanent fault,
    /// because a retry would get the same bytes.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        let bytes = &self.inner.payload.bytes;
        let text: &[u8] = if bytes.is_empty() { b"null" } else { bytes };
        serde_json::from_slice(text).map_err(|error| Fault::permanent("invalid_payload", error.to_string()))
    }

    /// Returns the flow of this execution and its node in that flow; `None` outside of a flow.
    pub fn flow(&self) -> Option<&TaskFlow> {
        self.inner.task.flow.as_ref()
    }

    /// Returns the trace in which the execution was submitted, the same for every attempt; `None` without one.
    pub fn trace(&self) -> Option<&TraceContext> {
        self.inner.task.trace.as_deref()
    }

    /// Returns the names of the inputs that upstreams have passed, sorted. An upstream that ended without a result passes
    /// no input.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        self.inner.inputs.iter().map(|input| input.name.as_str())
    }

    /// Returns the input of this name, read as JSON. It came with the claim or, if the inputs were too large, is read from
    /// the store.
    pub async fn input<T: DeserializeOwned>(&self, name: &str) -> Result<T, Fault> {
        input_json(name, &self.input_payload(name).await?)
    }

    /// Returns the input of this name, read as JSON; `None` when no upstream has passed it, for example because a join fired
    /// before that upstream had ended.
    pub async fn input_if_any<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Fault> {
        if self.inputs().any(|input| input == name) { self.input(name).await.map(Some) } else { Ok(None) }
    }

    /// Returns the bytes of the input of this name.
    pub async fn input_payload(&self, name: &str) -> Result<Payload, Fault> {
        input_of(&*self.inner.backend, &self.inner.inputs, name).await
    }

    /// Returns the state of this type that the worker got with [`super::Worker::state`].
    pub fn state<T: Send + Sync + 'static>(&self) -> Result<Arc<T>, Fault> {
        let found = self.inner.states.get(&TypeId::of::<T>()).cloned();
        found.and_then(|state| state.downcast().ok()).ok_or_else(|| {
            Fault::permanent("missing_state", format!("the worker was given no state of type {}", type_name::<T>()))
        })
    }

    /// Reports the progress of the execution. `None` leaves the percentage or the message unchanged.
    pub async fn progress(&self, percent: Option<u8>, message: Option<&str>) -> Result<(), Error> {
        let args = ProgressArgs {
            execution_id: self.inner.task.execution_id,
            fence: self.inner.task.fence,
            percent,
            message: message.map(str::to_owned),
        };
        self.inner.backend.progress(args).await?;
        Ok(())
    }

    /// Creates a report of the usage since the last report.
    ///
    /// ```
    /// # use ff_sdk::{Context, Error};
    /// # async fn spend(ctx: Context) -> Result<(), Error> {
    /// ctx.usage().add("tokens", 812).add("usd_micros", 4_060).report().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn usage(&self) -> UsageReport {
        UsageReport::new(self.clone())
    }

    /// Returns the output of this attempt on a channel, for readers that follow it while it runs. All channels are one
    /// stream, with one order. After a wait, the attempt runs its handler again from the start, and the handler repeats
    /// its output before the wait.
    pub fn stream(&self, channel: &str) -> Output {
        Output::new(self.inner.output.clone(), channel)
    }

    /// Runs a function once, however often the handler runs. The result is recorded before it is returned, and every later
    /// run returns that result. A step is identified by its name, not by its place in the code.
    ///
    /// ```
    /// # use ff_sdk::{Context, Fault};
    /// # async fn send(_: &str) -> Result<u64, Fault> { Ok(7) }
    /// async fn welcome(ctx: Context, people: Vec<String>) -> Result<u64, Fault> {
    ///     let mut last = 0;
    ///     for name in &people {
    ///         last = ctx.step("send mail", || send(name)).key(name).retries(5).await?;
    ///     }
    ///     Ok(last)
    /// }
    /// ```
    pub fn step<'a, T, F, Fut>(&self, name: &str, function: F) -> RunStep<'a, T>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        F: FnMut() -> Fut + Send + 'a,
        Fut: Future<Output = Result<T, Fault>> + Send + 'a,
    {
        RunStep::new(self.clone(), name, function)
    }

    /// Waits for this much time, as [`wait_for_signal`](Self::wait_for_signal) waits for a signal. The wait occupies no
    /// worker.
    pub async fn sleep(&self, name: &str, span: Duration) -> Result<(), WaitError> {
        suspension::sleep(self, name, span).await
    }

    /// Submits a job once, however often the handler runs, and returns its result, read as JSON. The call waits up to two
    /// seconds with the lease held. After that it waits as [`sleep`](Self::sleep) does, and checks from time to time whether
    /// the callee has ended. A callee that did not succeed is a permanent fault.
    pub async fn call<T: DeserializeOwned>(&self, name: &str, job: Job) -> Result<T, Fault> {
        let value = step::call(self, name, job).await?;
        let unreadable = |error| Fault::permanent("invalid_step", format!("the result of the call {name:?}: {error}"));
        serde_json::from_value(value).map_err(unreadable)
    }

    /// Waits for one signal of this name, at a waitpoint of the same name.
    ///
    /// The wait ends this run of the handler. When the signal has arrived, the handler is called again from its start, and
    /// this call then returns the signal. So all code before it runs again. A wait is identified by its name; the same name
    /// again in one run is the next wait of that name.
    pub fn wait_for_signal(&self, name: &str) -> WaitForSignal {
        WaitForSignal::new(self.clone(), name)
    }

    /// Waits for an approval or a rejection, as [`wait_for_signal`](Self::wait_for_signal) waits for a signal. The name
    /// is the heading of the approval page.
    pub fn wait_for_approval(&self, name: &str) -> WaitForApproval {
        WaitForApproval::new(self.clone(), name)
    }

    /// Waits for any condition, as [`wait_for_signal`](Self::wait_for_signal) waits for a signal.
    pub fn suspend(&self, name: &str) -> Suspend {
        Suspend::new(self.clone(), name)
    }

    /// Creates a waitpoint before the wait on it begins, so that its token can be given out early; `None` once that wait is
    /// over.
    pub fn create_waitpoint(&self, key: &str) -> CreateWaitpoint {
        CreateWaitpoint::new(self.clone(), key)
    }

    /// Adds children to the flow of this execution and waits for them, as [`wait_for_signal`](Self::wait_for_signal) waits
    /// for a signal. The wait is identified by its name, which must not contain a dot. A child is the node
    /// `<this node>.<wait>.<child>`. The children are added once, however often the handler runs: a retry also gets the
    /// results of the first ones.
    pub fn children(&self, wait: &str) -> AddChildren {
        AddChildren::new(self.clone(), wait)
    }

    /// Adds members and edges to the flow of this execution, without waiting for them: once for each name, however often
    /// the handler runs. Returns the new members.
    pub async fn grow(&self, name: &str, growth: Growth) -> Result<Vec<ExecutionId>, Error> {
        children::grow(self, name, growth).await
    }

    /// Returns true when the handler should stop: the execution was cancelled or timed out, its lease was lost or revoked,
    /// or the worker is stopping and cannot wait longer.
    pub fn is_cancelled(&self) -> bool {
        self.inner.hold.cancelled.is_cancelled()
    }

    /// Waits until the handler should stop.
    pub async fn cancelled(&self) {
        self.inner.hold.cancelled.cancelled().await;
    }

    pub(super) fn backend(&self) -> &Arc<dyn EngineBackend> {
        &self.inner.backend
    }

    /// Returns the number of the next usage report without a name, and counts it.
    pub(super) fn next_report(&self) -> u64 {
        self.inner.unnamed_reports.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn outages(&self) -> &OutageLog {
        &self.inner.outages
    }

    pub(super) fn hold(&self) -> &HeldExecution {
        &self.inner.hold
    }

    pub(super) fn output(&self) -> &OutputBuffer {
        &self.inner.output
    }

    pub(super) fn long_poll(&self) -> &dyn LongPoll {
        &*self.inner.long_poll
    }

    pub(super) fn steps(&self) -> &StepLog {
        &self.inner.steps
    }

    pub(super) fn waits(&self) -> &WaitLog {
        &self.inner.waits
    }
}

/// Returns the bytes of an input by its name.
async fn input_of(backend: &dyn EngineBackend, inputs: &[Input], name: &str) -> Result<Payload, Fault> {
    let Some(input) = inputs.iter().find(|input| input.name.as_str() == name) else {
        return Err(missing(inputs, name));
    };
    if let Some(payload) = &input.payload {
        return Ok(payload.clone());
    }
    // The upstream may be running again, so a retry may find a result.
    let gone = |error: Error| Fault::retryable("input_unavailable", format!("the input {name}: {error}"));
    let ended = backend.result(&input.from).await.map_err(|error| gone(error.into()))?;
    End(ended).payload().map_err(gone)
}

/// Reads an input as JSON. An unreadable input is a permanent fault, because a retry would get the same bytes.
fn input_json<T: DeserializeOwned>(name: &str, payload: &Payload) -> Result<T, Fault> {
    let text: &[u8] = if payload.bytes.is_empty() { b"null" } else { &payload.bytes };
    let unreadable = |error: serde_json::Error| Fault::permanent("invalid_input", format!("the input {name}: {error}"));
    serde_json::from_slice(text).map_err(unreadable)
}

fn missing(inputs: &[Input], name: &str) -> Fault {
    let names: Vec<_> = inputs.iter().map(|input| input.name.as_str()).collect();
    let there =
        if names.is_empty() { "no input was passed on".into() } else { format!("there are {}", names.join(", ")) };
    Fault::permanent("missing_input", format!("nothing was passed on as {name}: {there}"))
}
