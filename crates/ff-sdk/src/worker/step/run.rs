//! A step: a function that is run once, however often its handler is.

use std::future::IntoFuture;
use std::marker::PhantomData;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use bytes::Bytes;
use ff_core::clock::{Clock, SystemClock};
use ff_core::engine_error::Refusal;
use ff_core::entropy::{Entropy, SystemEntropy};
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

/// A step to be run, begun by `.await`. A step that is recorded returns its result at once, and its function is not called.
///
/// An error that is not permanent is returned as it is, and not recorded: the step runs again when the execution is retried.
/// With [`retries`](Self::retries) the step is retried within the run instead, and its last error is recorded as permanent.
#[must_use = "a step runs when it is awaited"]
pub struct RunStep<'a, T> {
    context: Context,
    name: String,
    key: String,
    plan: Plan<'a>,
    result: PhantomData<fn() -> T>,
}

/// A step without its types.
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

    /// Tells steps of one name apart, in a loop for example.
    pub fn key(mut self, key: impl ToString) -> Self {
        self.key = key.to_string();
        self
    }

    /// Tries again so many times, within this run, before the step has failed for good.
    pub fn retries(mut self, retries: u32) -> Self {
        self.plan.retries = Some(retries);
        self
    }

    /// How long to wait before each retry; as an execution does unless said.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.plan.backoff = backoff;
        self
    }

    /// How the step is undone when the execution fails for good. The compensations of the steps a run has come to are run in
    /// reverse order of recording, each recorded as a step itself.
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

/// The fault of a step whose name or key is not allowed.
fn refused(refusal: Refusal) -> Fault {
    WaitError::from(refusal).into()
}

fn encode(result: &impl Serialize) -> Result<Bytes, Fault> {
    let unwritable = |error| Fault::permanent("invalid_step", format!("the result cannot be JSON: {error}"));
    serde_json::to_vec(result).map(Bytes::from).map_err(unwritable)
}

/// Reads a recorded result. The first run does so too: a result that does not read back then fails it and no later run.
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
                let outcome = tries(&context, action, retries, &backoff).await?;
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

/// How a step ends for good; an error when that is for the execution to decide.
async fn tries(
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

/// A fault that is final.
pub(super) fn failed(fault: &Fault) -> StepOutcome {
    StepOutcome::Failed { failure: failure(&Fault { permanent: true, ..fault.clone() }) }
}

/// Runs a function once. A panic is an error of the step.
pub(super) async fn attempt<T, F>(action: &mut (impl FnMut() -> F + ?Sized)) -> Result<T, Fault>
where
    F: Future<Output = Result<T, Fault>>,
{
    let caught = AssertUnwindSafe(async { action().await }).catch_unwind().await;
    caught.unwrap_or_else(|panic| Err(panicked(&*panic)))
}

/// Waits before a retry, unless the work is taken away meanwhile.
pub(super) async fn pause(context: &Context, backoff: &Backoff, retried: u32) -> Result<(), Fault> {
    let delay = Duration::from_millis(backoff.delay_ms(retried, SystemEntropy.nonce().jitter()));
    #[allow(clippy::disallowed_methods, reason = "the wait before a retry is what is asked for")]
    let waited = tokio::time::sleep(delay);
    tokio::select! {
        () = waited => Ok(()),
        () = context.hold().lost.cancelled() => check_held(context),
    }
}
