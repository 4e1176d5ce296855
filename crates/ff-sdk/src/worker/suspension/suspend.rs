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

/// A wait for a condition, begun by `.await`. The execution is suspended, and this run of the handler ends there; the handler
/// is called again from its start when the wait is over, and then the same wait returns.
///
/// Without more it is for any one signal at a waitpoint of the wait's own name.
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

    /// Why it waits; shown with the execution.
    pub fn reason(self, reason: SuspendReason) -> Self {
        self.set(|plan| plan.reason = reason)
    }

    /// The question, in words for people: shown with the execution, and on the page of an approval link.
    pub fn asking(self, question: &str) -> Self {
        self.set(|plan| plan.question = Some(question.to_owned()))
    }

    /// Waits no longer than this. Unless told otherwise the wait then returns, woken by the timeout.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.set(|plan| plan.timeout = Some(timeout))
    }

    /// The behavior on a timeout: by default the handler is called and its wait returns; otherwise the execution
    /// ends, or is left to an operator, and the handler is not called.
    pub fn on_timeout(self, behavior: TimeoutBehavior) -> Self {
        self.set(|plan| plan.timeout_behavior = behavior)
    }

    /// How long after the end of the wait the handler may be called.
    pub fn resume_delay(self, delay: Duration) -> Self {
        self.set(|plan| plan.resume_policy.resume_delay_ms = millis(delay))
    }

    /// Returns all signals that arrived, those the condition did not need as well.
    pub fn all_signals(self) -> Self {
        self.set(|plan| plan.resume_policy.handed = SignalSelection::All)
    }

    /// Passes the waitpoints on right before the wait begins: sends the links, registers the callback. It is not called
    /// once the wait is over, but may be called again when a worker dies on the way. When it fails, the wait does.
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

/// A waitpoint made before anything waits on it, so that its token can be handed out early. Signals that arrive meanwhile are
/// kept, and count once a wait of this name, or on this key, begins.
///
/// It returns `None` when that wait is over already: the handler runs again from its start after every wait, and must not
/// hand out the token again then. While the wait has not begun it returns the same waitpoint again.
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

    /// How long it may stand before something waits on it; a day unless said.
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
