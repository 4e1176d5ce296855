//! A step: a function that runs once, however often its handler runs.

use std::future::IntoFuture;
use std::marker::PhantomData;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use bytes::Bytes;
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::backend::entropy::{Entropy, SystemEntropy};
use ff_core::engine_error::Refusal;
use ff_core::payload::Payload;
use ff_core::policy::Backoff;
use ff_core::step::{StepKind, StepOutcome, StepRef};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::log::{Compensation, Undo};
use super::record::check_held;
use super::{invalid, record, reference};
use crate::worker::WaitError;
use crate::worker::handler::{failure, panicked};
use crate::{Context, Fault};

/// The function of a step, with its result as JSON.
type Action<'a> = Box<dyn FnMut() -> BoxFuture<'a, Result<Bytes, Fault>> + Send + 'a>;

/// A step, which runs at `.await`. A step that is already recorded returns its result at once, and its function is not
/// called.
///
/// An error that is not permanent is returned unchanged and is not recorded: the step runs again when the execution is
/// retried. With [`retries`](Self::retries) the step is retried within the run instead, and its last error is recorded
/// as permanent.
#[must_use = "a step runs when it is awaited"]
pub struct RunStep<'a, T> {
    context: Context,
    name: String,
    key: String,
    plan: Plan<'a>,
    result: PhantomData<fn() -> T>,
}

/// The parts of a step that do not depend on the type of its result.
struct Plan<'a> {
    action: Action<'a>,
    retries: Option<u32>,
    backoff: Backoff,
    undo: Option<Undo>,
}

impl<'a, T: Serialize + DeserializeOwned + Send + 'static> RunStep<'a, T> {
    pub(in crate::worker) fn new<F, Fut>(context: Context, name: &str, mut action: F) -> Self
    where
        F: FnMut() -> Fut + Send + 'a,
        Fut: Future<Output = Result<T, Fault>> + Send + 'a,
    {
        let action = move || -> BoxFuture<'a, Result<Bytes, Fault>> {
            let running = action();
            Box::pin(async move { encode(&running.await?) })
        };
        let plan = Plan { action: Box::new(action), retries: None, backoff: Backoff::default(), undo: None };
        Self { context, name: name.to_owned(), key: String::new(), plan, result: PhantomData }
    }

    /// Sets the key, which distinguishes steps of the same name, for example in a loop.
    pub fn key(mut self, key: impl ToString) -> Self {
        self.key = key.to_string();
        self
    }

    /// Sets how often the step is retried within this run. After the last retry the step has failed permanently.
    pub fn retries(mut self, retries: u32) -> Self {
        self.plan.retries = Some(retries);
        self
    }

    /// Sets the delay before each retry. The default is the default backoff of executions.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.plan.backoff = backoff;
        self
    }

    /// Sets the compensation, which undoes the step when the execution fails permanently. The compensations of all steps that
    /// the run has reached run in reverse order of recording, and each is recorded as a step.
    pub fn undo<F, Fut>(mut self, undo: F) -> Self
    where
        F: Fn(T) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), Fault>> + Send + 'static,
    {
        self.plan.undo = Some(Box::new(move |result| match serde_json::from_slice(result) {
            Ok(result) => Box::pin(undo(result)),
            Err(error) => Box::pin(std::future::ready(Err(Fault::permanent("invalid_step", error.to_string())))),
        }));
        self
    }
}

impl<'a, T: DeserializeOwned + Send + 'a> IntoFuture for RunStep<'a, T> {
    type Output = Result<T, Fault>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { context, name, key, plan, .. } = self;
        Box::pin(async move {
            let step = reference(StepKind::Step, &name, &key).map_err(refused)?;
            let result = run(context, step.clone(), plan).await?;
            decode(&step, &result)
        })
    }
}

/// Returns the fault of a step with an invalid name or key.
fn refused(refusal: Refusal) -> Fault {
    WaitError::from(refusal).into()
}

fn encode(result: &impl Serialize) -> Result<Bytes, Fault> {
    let unwritable = |error| Fault::permanent("invalid_step", format!("the result cannot be JSON: {error}"));
    serde_json::to_vec(result).map(Bytes::from).map_err(unwritable)
}

/// Reads a recorded result. The first run does this too, so that a result that cannot be read back fails in the first run
/// and not in a later one.
pub(super) fn decode<T: DeserializeOwned>(step: &StepRef, result: &[u8]) -> Result<T, Fault> {
    serde_json::from_slice(result).map_err(|error| invalid(step, format!("what is recorded cannot be read: {error}")))
}

/// Runs a step unless it is recorded, and returns the recorded result. Boxed, so that it is compiled here, and not again in
/// every program that has steps.
#[inline(never)]
fn run(context: Context, step: StepRef, plan: Plan<'_>) -> BoxFuture<'_, Result<Bytes, Fault>> {
    Box::pin(async move {
        let log = context.steps();
        log.ask(&step)?;
        let Plan { action, retries, backoff, undo } = plan;
        let recorded = match log.find(&step) {
            Some(recorded) => recorded,
            None => {
                log.begin_new().await;
                check_held(&context)?;
                log.check_count(&context, &step)?;
                let started_at = SystemClock.now();
                let outcome = run_with_retries(&context, action, retries, &backoff).await?;
                record(&context, step.clone(), Some(started_at), outcome).await?
            }
        };
        let seq = recorded.seq;
        let result = recorded.result()?;
        if let Some(undo) = undo {
            let step = StepRef { kind: StepKind::Undo, ..step };
            log.register(Compensation { seq, step, result: result.clone(), undo });
        }
        Ok(result)
    })
}

/// Runs the action of a step with its retries. Returns the final outcome of the step, or an error that the retry policy
/// of the execution must handle.
async fn run_with_retries(
    context: &Context,
    mut action: Action<'_>,
    retries: Option<u32>,
    backoff: &Backoff,
) -> Result<StepOutcome, Fault> {
    let mut retried = 0;
    loop {
        let fault = match attempt(&mut action).await {
            Ok(result) => return Ok(StepOutcome::Succeeded { result: Payload::json(result) }),
            Err(fault) => fault,
        };
        match retries {
            _ if fault.permanent => return Ok(failed(&fault)),
            None => return Err(fault),
            Some(retries) if retried >= retries => return Ok(failed(&fault)),
            Some(_) => pause(context, backoff, retried).await?,
        }
        retried += 1;
    }
}

/// Converts a fault to a permanent failure of the step.
pub(super) fn failed(fault: &Fault) -> StepOutcome {
    StepOutcome::Failed { failure: failure(&Fault { permanent: true, ..fault.clone() }) }
}

/// Runs a function once. A panic counts as an error of the step.
pub(super) async fn attempt<T, F>(action: &mut (impl FnMut() -> F + ?Sized)) -> Result<T, Fault>
where
    F: Future<Output = Result<T, Fault>>,
{
    let caught = AssertUnwindSafe(async { action().await }).catch_unwind().await;
    caught.unwrap_or_else(|panic| Err(panicked(&*panic)))
}

/// Waits before a retry. If the lease is lost during the wait, returns an error at once.
pub(super) async fn pause(context: &Context, backoff: &Backoff, retried: u32) -> Result<(), Fault> {
    let delay = Duration::from_millis(backoff.delay_ms(retried, SystemEntropy.nonce().jitter()));
    #[allow(clippy::disallowed_methods, reason = "the wait before a retry is what is asked for")]
    let waited = tokio::time::sleep(delay);
    tokio::select! {
        () = waited => Ok(()),
        () = context.hold().lost.cancelled() => check_held(context),
    }
}
