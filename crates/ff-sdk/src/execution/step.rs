//! The recorded steps of an execution, and replays and forks that start at one of them.

use std::future::IntoFuture;

use ff_core::contracts::{ForkArgs, ForkedExecution, ListStepsArgs, ReplayArgs, ReplayedExecution, StepPoint};
use ff_core::engine_error::Refusal;
use ff_core::limits;
use ff_core::step::Step;
use ff_core::types::{ExecutionId, StepKey, StepName};
use futures_util::future::BoxFuture;

use crate::job::try_put;
use crate::{Client, Error};

impl Client {
    /// Lists the recorded steps of an execution, in the order of recording.
    pub async fn steps(&self, id: &ExecutionId) -> Result<Vec<Step>, Error> {
        let mut args = ListStepsArgs { limit: limits::PAGE, ..ListStepsArgs::new(*id) };
        let mut steps = Vec::new();
        loop {
            let page = self.backend().list_steps(args).await?;
            steps.extend(page.steps);
            match page.next {
                Some(next) => args.after = Some(next),
                None => return Ok(steps),
            }
        }
    }

    /// Runs a finished execution again. After a success all steps run again; after any other end, steps that succeeded are
    /// not repeated.
    pub fn replay(&self, id: &ExecutionId, reason: Option<&str>) -> Replay<'_> {
        let args = ReplayArgs { reason: reason.map(str::to_owned), ..ReplayArgs::new(*id) };
        Replay { client: self, args: Ok(args) }
    }

    /// Starts a copy of an execution, with copies of its steps that succeeded. The original execution does not change.
    pub fn fork(&self, id: &ExecutionId) -> Fork<'_> {
        Fork { client: self, args: Ok(ForkArgs::new(*id)) }
    }
}

/// A replay, which starts at `.await`.
#[must_use = "a replay begins when it is awaited"]
pub struct Replay<'c> {
    client: &'c Client,
    args: Result<ReplayArgs, Error>,
}

impl Replay<'_> {
    /// Deletes the record of the step or wait of this name and all records after it, so that they run again.
    pub fn from_step(self, name: &str) -> Self {
        self.from_keyed_step(name, "")
    }

    /// Does the same for a step with a key.
    pub fn from_keyed_step(mut self, name: &str, key: &str) -> Self {
        try_put(&mut self.args, point("from_step", name, key), |args, point| args.from_step = Some(point));
        self
    }
}

impl<'c> IntoFuture for Replay<'c> {
    type Output = Result<ReplayedExecution, Error>;
    type IntoFuture = BoxFuture<'c, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { Ok(self.client.backend().replay(self.args?).await?) })
    }
}

/// A fork, which is created at `.await`.
#[must_use = "a fork is made when it is awaited"]
pub struct Fork<'c> {
    client: &'c Client,
    args: Result<ForkArgs, Error>,
}

impl Fork<'_> {
    /// Copies only the steps that were recorded before the step, or wait, of this name.
    pub fn before(self, name: &str) -> Self {
        self.before_keyed(name, "")
    }

    /// Does the same for a step with a key.
    pub fn before_keyed(mut self, name: &str, key: &str) -> Self {
        try_put(&mut self.args, point("before_step", name, key), |args, point| args.before_step = Some(point));
        self
    }
}

impl<'c> IntoFuture for Fork<'c> {
    type Output = Result<ForkedExecution, Error>;
    type IntoFuture = BoxFuture<'c, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { Ok(self.client.backend().fork(self.args?).await?) })
    }
}

/// Parses the name and key of a step.
fn point(field: &str, name: &str, key: &str) -> Result<StepPoint, Error> {
    let name = StepName::parse(name).map_err(|error| Refusal::invalid(format!("{field}.name"), error))?;
    let key = StepKey::parse(key).map_err(|error| Refusal::invalid(format!("{field}.key"), error))?;
    Ok(StepPoint { name, key })
}
