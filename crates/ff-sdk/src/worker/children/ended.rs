//! How children ended.

use std::time::Duration;

use ff_core::contracts::{WaitForChildrenArgs, WaitedForChildren};
use ff_core::engine_error::{Code, EngineError};
use ff_core::execution::Outcome;
use ff_core::flow::GroupState;
use ff_core::payload::Payload;
use ff_core::step::{StepOutcome, StepRef};
use ff_core::types::ExecutionId;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use crate::worker::WaitError;
use crate::worker::backoff::Backoff;
use crate::worker::step::record;
use crate::{Context, End, Error};

/// How many ends are read at once.
const READ_AT_ONCE: usize = 16;

/// The children of one wait, in the order they were added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Children(Vec<Child>);

/// One child.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// Its name among the children of the wait.
    pub name: String,
    pub execution_id: ExecutionId,
    /// How it ended; nothing when it still runs, because the wait did not need its end.
    pub end: Option<End>,
}

impl Children {
    /// Each of them, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Child> {
        self.0.iter()
    }

    /// One of them by its name.
    pub fn get(&self, name: &str) -> Option<&Child> {
        self.0.iter().find(|child| child.name == name)
    }

    /// Those that succeeded, the first to end first: the same ones lead in every run of the handler.
    pub fn succeeded(&self) -> Vec<&Child> {
        let mut succeeded: Vec<_> = self.0.iter().filter(|child| child.succeeded()).collect();
        succeeded.sort_by_key(|child| child.end.as_ref().map(|end| end.0.at));
        succeeded
    }

    /// Whether every one of them succeeded.
    pub fn all_succeeded(&self) -> bool {
        self.0.iter().all(Child::succeeded)
    }

    /// The result of each read as JSON, in the order they were added; an error that names the first that has none.
    pub fn results<T: DeserializeOwned>(&self) -> Result<Vec<T>, Error> {
        self.0.iter().map(Child::json).collect()
    }

    /// The result of one read as JSON; an error that names it when it has none.
    pub fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T, Error> {
        let missing =
            || Error::Child { name: name.to_owned(), error: Box::new(Code::ExecutionNotFound.refusal().into()) };
        self.get(name).ok_or_else(missing)?.json()
    }
}

impl Child {
    /// Whether it has ended with success.
    pub fn succeeded(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.0.outcome == Outcome::Success)
    }

    /// Its result read as JSON; an error that names it when it has none.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        let read = match &self.end {
            Some(end) => end.json(),
            None => Err(Code::ExecutionNotTerminal.refusal().into()),
        };
        read.map_err(|error| Error::Child { name: self.name.clone(), error: Box::new(error) })
    }
}

/// How each of them ended, as far as they have.
pub(super) async fn read(context: &Context, added: Vec<(String, ExecutionId)>) -> Result<Children, Error> {
    let one = |(name, execution_id): (String, ExecutionId)| async move {
        match context.backend().result(&execution_id).await {
            Ok(ended) => Ok(Child { name, execution_id, end: Some(End(ended)) }),
            Err(error) if error.code() == Code::ExecutionNotTerminal => Ok(Child { name, execution_id, end: None }),
            Err(error) => Err(Error::from(error)),
        }
    };
    Ok(Children(stream::iter(added).map(one).buffered(READ_AT_ONCE).try_collect().await?))
}

/// Returns when the children an execution added have ended as its join asks, or can no longer; that is recorded then. Otherwise
/// the lease is given up and the run of the handler ends here.
pub(super) async fn wait(context: &Context, step: StepRef) -> Result<(), WaitError> {
    // One wait at a time, as with suspensions.
    let _turn = context.hold().turn.lock().await;
    context.waits().record_last(context).await?;
    let own = context.clone();
    // A separate task, so that it finishes even if the handler is dropped: the handler must not go on without its
    // lease.
    let suspending = tokio::spawn(async move { let_go(&own).await });
    match suspending.await.unwrap_or(Err(WaitError::Suspended))?.state {
        GroupState::Satisfied | GroupState::Impossible => {
            let outcome = StepOutcome::Succeeded { result: Payload::json("null") };
            record(context, step, None, outcome).await.map(drop).map_err(WaitError::Step)
        }
        GroupState::Pending => {
            context.hold().dropped.cancelled().await;
            Err(WaitError::Suspended)
        }
    }
}

/// Gives up the lease to wait; repeated while there is no answer and the lease may still be ours.
async fn let_go(context: &Context) -> Result<WaitedForChildren, WaitError> {
    context.output().flush().await?;
    // Steps that are being recorded come first.
    let _recorded = context.hold().recording.write().await;
    let task = context.task();
    let args = WaitForChildrenArgs { execution_id: task.execution_id, fence: task.fence };
    let give_up = Instant::now() + Duration::from_millis(task.lease_ttl_ms);
    let mut backoff = Backoff::default();
    loop {
        // A renewal that crossed this would be told that the work is no longer ours.
        let quiet = context.hold().lease.clone().lock_owned().await;
        match context.backend().wait_for_children(args.clone()).await {
            Ok(waited) => {
                if waited.state == GroupState::Pending {
                    context.hold().suspended.cancel();
                }
                return Ok(waited);
            }
            Err(EngineError::Refused(refusal)) => return Err(EngineError::Refused(refusal).into()),
            Err(error) if Instant::now() >= give_up => return Err(error.into()),
            Err(error) => {
                context.outages().noted("wait_for_children", &error);
                drop(quiet);
                backoff.pause().await;
            }
        }
    }
}
