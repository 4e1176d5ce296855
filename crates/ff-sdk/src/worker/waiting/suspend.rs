//! Waiting for any condition at any waitpoints.

use std::future::IntoFuture;
use std::time::Duration;

use ff_core::suspension::{Condition, Handed, ResumedBy, SuspendReason, TimeoutBehavior};
use futures_util::future::BoxFuture;

use super::WaitError;
use super::letting_go;
use super::plan::{Plan, key, millis};
use crate::{Context, Error, Fault, Received, Waitpoint};

/// What ended a wait, and the signals it was ended by.
#[derive(Clone, Debug, PartialEq)]
pub struct Woken {
    pub by: ResumedBy,
    /// Those that met the condition, or that had arrived when something else ended the wait; an operator's own, or the
    /// timeout's, is the last.
    pub signals: Vec<Received>,
}

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

    /// Why it waits, for whoever looks at what waits.
    pub fn reason(self, reason: SuspendReason) -> Self {
        self.set(|plan| plan.reason = reason)
    }

    /// What is asked, in words for people: shown with the execution, and on the page of an approval link.
    pub fn asking(self, question: &str) -> Self {
        self.set(|plan| plan.question = Some(question.to_owned()))
    }

    /// Waits no longer than this. Unless told otherwise the wait then returns, woken by the timeout.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.set(|plan| plan.timeout = Some(timeout))
    }

    /// What happens when the time is over: by default the handler is called and its wait returns; otherwise the execution
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
        self.set(|plan| plan.resume_policy.handed = Handed::All)
    }

    /// Tells somebody of the waitpoints right before the wait begins: sends the links, registers the callback. It is not
    /// called once the wait is over, but may be called again when a worker dies on the way. When it fails, the wait does.
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
    type Output = Result<Woken, WaitError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { letting_go::wait(&self.context, self.plan?).await })
    }
}
