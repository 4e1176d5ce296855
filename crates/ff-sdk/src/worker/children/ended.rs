//! The wait for children, and their ends.

use ff_core::backend::Answer;
use ff_core::contracts::{WaitForChildrenArgs, WaitedForChildren};
use ff_core::engine_error::Code;
use ff_core::execution::Outcome;
use ff_core::flow::GroupState;
use ff_core::payload::Payload;
use ff_core::step::{StepOutcome, StepRef};
use ff_core::types::ExecutionId;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::de::DeserializeOwned;

use crate::worker::WaitError;
use crate::worker::step::record;
use crate::worker::suspension::give_up_lease;
use crate::{Context, End, Error};

/// Maximum number of ends read at the same time.
const READ_AT_ONCE: usize = 16;

/// The children of one wait, in the order they were added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Children(Vec<Child>);

/// One child of a wait.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// The name of the child among the children of the wait.
    pub name: String,
    pub execution_id: ExecutionId,
    /// The end of the child; `None` when it still runs, because the wait did not need its end.
    pub end: Option<End>,
}

impl Children {
    /// Returns all children, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Child> {
        self.0.iter()
    }

    /// Returns the child of this name.
    pub fn get(&self, name: &str) -> Option<&Child> {
        self.0.iter().find(|child| child.name == name)
    }

    /// Returns the children that succeeded, in the order of their ends. A later run of the handler may get more of them, but
    /// begins with the same ones.
    pub fn succeeded(&self) -> Vec<&Child> {
        let mut succeeded: Vec<_> = self.0.iter().filter(|child| child.succeeded()).collect();
        succeeded.sort_by_key(|child| child.end.as_ref().map(|end| end.0.at));
        succeeded
    }

    /// Returns true when every child succeeded.
    pub fn all_succeeded(&self) -> bool {
        self.0.iter().all(Child::succeeded)
    }

    /// Returns the results of all children, read as JSON, in the order they were added. An error names the first child
    /// without a result.
    pub fn results<T: DeserializeOwned>(&self) -> Result<Vec<T>, Error> {
        self.0.iter().map(Child::json).collect()
    }

    /// Returns the result of one child, read as JSON. An error names the child if it has no result.
    pub fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T, Error> {
        let missing =
            || Error::Child { name: name.to_owned(), error: Box::new(Code::ExecutionNotFound.refusal().into()) };
        self.get(name).ok_or_else(missing)?.json()
    }
}

impl Child {
    /// Returns true when the child has ended with success.
    pub fn succeeded(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.0.outcome == Outcome::Success)
    }

    /// Returns the result of the child, read as JSON. An error names the child if it has no result.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        let read = match &self.end {
            Some(end) => end.json(),
            None => Err(Code::ExecutionNotTerminal.refusal().into()),
        };
        read.map_err(|error| Error::Child { name: self.name.clone(), error: Box::new(error) })
    }
}

/// Reads the ends of the children that have ended.
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

/// Waits for the children of an execution. If their join is satisfied, or has become impossible, this is recorded and
/// the call returns. Otherwise the lease is given up, and this run of the handler ends here.
pub(super) async fn wait(context: &Context, step: StepRef) -> Result<(), WaitError> {
    // One wait at a time, as with suspensions.
    let _turn = context.hold().turn.lock().await;
    context.waits().record_last(context).await?;
    let own = context.clone();
    // A separate task, so that it finishes even if the handler drops this call: the handler must not continue without
    // its lease.
    let suspending = tokio::spawn(async move { release_lease(&own).await });
    match suspending.await.map_err(|_| WaitError::Suspended)??.state {
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

/// Gives up the lease in order to wait.
async fn release_lease(context: &Context) -> Answer<WaitedForChildren> {
    let args = WaitForChildrenArgs { execution_id: context.task().execution_id, fence: context.task().fence };
    let wait = || context.backend().wait_for_children(args.clone());
    give_up_lease(context, "wait_for_children", wait, |waited| waited.state == GroupState::Pending).await
}
