//! Waiting for one signal by its name.

use std::future::IntoFuture;
use std::time::Duration;

use ff_core::engine_error::Refusal;
use ff_core::signal::Signal;
use ff_core::suspension::{Condition, ResumedBy, SuspendReason, TimeoutBehavior};
use ff_core::types::SignalName;
use futures_util::future::BoxFuture;
use serde::Deserialize;

use super::plan::key;
use super::{Suspend, WaitError, WaitOutcome};
use crate::{Context, Error, Fault, SignalMessage, Waitpoint};

/// A wait for one signal of a name, which begins at `.await`. It returns that signal, or an error that says why there is
/// none.
///
/// An operator's resume or approval counts as the signal; a rejection is an error.
#[must_use = "a wait begins when it is awaited"]
pub struct WaitForSignal {
    wait: Suspend,
    name: Result<SignalName, Error>,
}

impl WaitForSignal {
    pub(in crate::worker) fn new(context: Context, name: &str) -> Self {
        let name_parsed = SignalName::parse(name).map_err(|error| Refusal::invalid("name", error).into());
        Self { wait: Suspend::new(context, name), name: name_parsed }
    }

    /// Sets the key of the waitpoint, which is also the name of the wait. The default is the name of the signal.
    pub fn at(self, waitpoint: &str) -> Self {
        let named = key("waitpoint", waitpoint);
        self.with(|wait| {
            wait.change(|plan| {
                plan.name = named?;
                plan.keys = vec![plan.name.clone()];
                Ok(())
            })
        })
    }

    /// Sets the reason of the wait, which is shown with the execution.
    pub fn reason(self, reason: SuspendReason) -> Self {
        self.with(|wait| wait.reason(reason))
    }

    /// Sets the question to a person; see [`Suspend::asking`].
    pub fn asking(self, question: &str) -> Self {
        self.with(|wait| wait.asking(question))
    }

    /// Sets the timeout. By default the wait then ends with [`WaitError::TimedOut`].
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with(|wait| wait.timeout(timeout))
    }

    /// Sets the behavior on a timeout, if the wait should not return.
    pub fn on_timeout(self, behavior: TimeoutBehavior) -> Self {
        self.with(|wait| wait.on_timeout(behavior))
    }

    /// Calls `tell` with the waitpoint right before the wait begins; see [`Suspend::announce`].
    pub fn announce<F, Fut>(self, tell: F) -> Self
    where
        F: FnOnce(Waitpoint) -> Fut + Send + 'static,
        Fut: Future<Output = Result<(), Fault>> + Send + 'static,
    {
        self.with(|wait| wait.announce(only(tell)))
    }

    fn with(mut self, change: impl FnOnce(Suspend) -> Suspend) -> Self {
        self.wait = change(self.wait);
        self
    }
}

/// Adapts a function of one waitpoint to a list of waitpoints. The function gets the first one.
pub(super) fn only<F, Fut>(tell: F) -> impl FnOnce(Vec<Waitpoint>) -> BoxFuture<'static, Result<(), Fault>> + Send
where
    F: FnOnce(Waitpoint) -> Fut + Send + 'static,
    Fut: Future<Output = Result<(), Fault>> + Send + 'static,
{
    move |waitpoints| {
        Box::pin(async move {
            match waitpoints.into_iter().next() {
                Some(waitpoint) => tell(waitpoint).await,
                None => Ok(()),
            }
        })
    }
}

impl IntoFuture for WaitForSignal {
    type Output = Result<SignalMessage, WaitError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let name = self.name?;
            let wanted = name.clone();
            let wait = self.wait.set(|plan| {
                plan.condition = Condition::Signal { waitpoint: plan.name.clone(), name: Some(wanted) };
                plan.may_time_out = false;
            });
            signal_of(wait.await?)
        })
    }
}

/// Converts the outcome of a wait to its one signal.
fn signal_of(woken: WaitOutcome) -> Result<SignalMessage, WaitError> {
    let last = woken.signals.into_iter().next_back();
    match (woken.by, last) {
        (ResumedBy::Timeout, _) | (_, None) => Err(WaitError::TimedOut),
        (ResumedBy::Operator, Some(signal)) if signal.name() == Signal::REJECTED => {
            Err(WaitError::Rejected { by: signal.source().clone(), comment: comment(&signal) })
        }
        (_, Some(signal)) => Ok(signal),
    }
}

/// Returns the comment of an answer, if it has one.
pub(super) fn comment(signal: &SignalMessage) -> Option<String> {
    #[derive(Deserialize)]
    struct Comment {
        comment: String,
    }
    signal.json::<Comment>().ok().map(|body| body.comment)
}
