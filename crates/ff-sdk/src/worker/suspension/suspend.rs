//! Waiting for any condition at any waitpoints.

use std::future::IntoFuture;
use std::time::Duration;

use ff_core::limits;
use ff_core::suspension::{Condition, SignalSelection, SuspendReason, TimeoutBehavior};
use ff_core::types::WaitpointKey;
use futures_util::future::BoxFuture;

use super::plan::{Plan, WaitOutcome, key, millis};
use super::suspend_handler::make;
use super::{WaitError, suspend_handler};
use crate::{Context, Error, Fault, Waitpoint};

/// A wait for a condition, which begins at `.await`. The execution is suspended, and this run of the handler ends there.
/// When the wait is over, the handler is called again from its start, and the same wait returns.
///
/// By default it waits for any one signal, at a waitpoint with the name of the wait.
#[must_use = "a wait begins when it is awaited"]
pub struct Suspend {
    context: Context,
    plan: Result<Plan, Error>,
}

impl Suspend {
    pub(in crate::worker) fn new(context: Context, name: &str) -> Self {
        Self { context, plan: Plan::new(name) }
    }

    /// Waits on these waitpoints, each with a token of its own, until `condition` is met.
    pub fn until<'k>(self, keys: impl IntoIterator<Item = &'k str>, condition: Condition) -> Self {
        let keys: Result<Vec<_>, _> = keys.into_iter().map(|text| key("waitpoints", text)).collect();
        self.change(|plan| {
            plan.keys = keys?;
            plan.condition = condition;
            Ok(())
        })
    }

    /// Sets the reason of the wait, which is shown with the execution.
    pub fn reason(self, reason: SuspendReason) -> Self {
        self.set(|plan| plan.reason = reason)
    }

    /// Sets the question to a person, which is shown with the execution and on the page of an approval link.
    pub fn asking(self, question: &str) -> Self {
        self.set(|plan| plan.question = Some(question.to_owned()))
    }

    /// Sets the timeout. By default the wait then returns, with the timeout as its cause.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.set(|plan| plan.timeout = Some(timeout))
    }

    /// Sets the behavior on a timeout. By default the handler is called and its wait returns. Otherwise the execution ends,
    /// or is left to an operator, and the handler is not called.
    pub fn on_timeout(self, behavior: TimeoutBehavior) -> Self {
        self.set(|plan| plan.timeout_behavior = behavior)
    }

    /// Sets the delay between the end of the wait and the next call of the handler.
    pub fn resume_delay(self, delay: Duration) -> Self {
        self.set(|plan| plan.resume_policy.resume_delay_ms = millis(delay))
    }

    /// Makes the wait return all signals that arrived, including those that the condition did not need.
    pub fn all_signals(self) -> Self {
        self.set(|plan| plan.resume_policy.signals = SignalSelection::All)
    }

    /// Calls `tell` with the waitpoints right before the wait begins, for example to send links or to register a callback.
    /// `tell` is not called again once the wait is over, but it may be called again when a worker dies before the wait
    /// begins. If `tell` fails, the wait fails.
    pub fn announce<F, Fut>(self, tell: F) -> Self
    where
        F: FnOnce(Vec<Waitpoint>) -> Fut + Send + 'static,
        Fut: Future<Output = Result<(), Fault>> + Send + 'static,
    {
        self.set(|plan| plan.announce = Some(Box::new(move |waitpoints| Box::pin(tell(waitpoints)))))
    }

    pub(super) fn set(self, put: impl FnOnce(&mut Plan)) -> Self {
        self.change(|plan| {
            put(plan);
            Ok(())
        })
    }

    pub(super) fn change(mut self, change: impl FnOnce(&mut Plan) -> Result<(), Error>) -> Self {
        if let Ok(plan) = &mut self.plan
            && let Err(error) = change(plan)
        {
            self.plan = Err(error);
        }
        self
    }
}

impl IntoFuture for Suspend {
    type Output = Result<WaitOutcome, WaitError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { suspend_handler::wait(&self.context, self.plan?).await })
    }
}

/// A waitpoint that is created before a wait on it begins, so that its token can be given out early. Signals that arrive
/// before the wait are kept, and count once a wait of this name, or on this key, begins.
///
/// It returns `None` when that wait is already over: the handler runs again from its start after every wait, and must not
/// give out the token again. Until the wait begins, it returns the same waitpoint again.
#[must_use = "a waitpoint is made when this is awaited"]
pub struct CreateWaitpoint {
    context: Context,
    key: Result<WaitpointKey, Error>,
    expires_in: Duration,
}

impl CreateWaitpoint {
    pub(in crate::worker) fn new(context: Context, text: &str) -> Self {
        Self { context, key: key("key", text), expires_in: Duration::from_millis(limits::PENDING_WAITPOINT_MS) }
    }

    /// Sets how long the waitpoint is kept until a wait on it begins. The default is one day.
    pub fn expires_in(mut self, span: Duration) -> Self {
        self.expires_in = span;
        self
    }
}

impl IntoFuture for CreateWaitpoint {
    type Output = Result<Option<Waitpoint>, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let key = self.key?;
            if self.context.waits().is_over(&self.context, &key).await? {
                return Ok(None);
            }
            let granted = make(&self.context, key, millis(self.expires_in)).await?;
            self.context.waits().made_ahead(&granted);
            Ok(Some(Waitpoint::new(self.context.task().execution_id, granted)))
        })
    }
}
