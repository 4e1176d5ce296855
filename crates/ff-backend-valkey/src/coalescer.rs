//! Coalescing: calls that arrive while another call of their group is under way are sent together as one call, which
//! costs the server far less. Calls of a group are sent in the order in which they were first polled.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::backend::Answer;
use ff_core::contracts::{CompleteArgs, CompletedExecution, SubmitArgs, SubmittedExecution};
use ff_core::engine_error::EngineError;
use ff_core::partition::PartitionConfig;
use ff_core::types::ExecutionId;
use ff_script::ScriptError;
use ff_script::execution::{ff_complete_execution, ff_complete_executions, ff_create_execution, ff_create_executions};
use futures_util::future::{BoxFuture, join_all};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::calls::Calls;
use crate::directory::Entry;

/// Maximum number of calls sent as one, and the number of bytes after which no more are added, so that no call occupies
/// the server for long.
const TOGETHER: usize = 24;
const TOGETHER_BYTES: usize = 256 * 1024;

/// Number of turns that other tasks get before a call is sent, enough for tasks that were started together to make their
/// calls.
const YIELDS: usize = 4;

/// Maximum wait for the preparation of a call. The others are then sent without it.
const PREPARED_IN: Duration = Duration::from_millis(100);

/// A call that may be sent together with others of its group.
pub(crate) trait Coalesce: Sized + Send + 'static {
    /// The property that calls must share to be sent as one.
    type Group: Clone + Eq + Hash + Send + Sync + 'static;
    type Reply: Send;

    fn group(&self) -> Self::Group;

    fn bytes(&self) -> usize;

    /// Returns the preparation that this call needs, if any.
    fn prepare(&self, _calls: &Arc<Calls>) -> Option<Preparation> {
        None
    }

    /// Sends all calls as one, and returns the answer to each.
    fn ask(calls: &Calls, all: Vec<Self>) -> impl Future<Output = Answers<Self::Reply>> + Send;
}

/// Work to be done before a call. When it fails, the call is not made.
pub(crate) type Preparation = BoxFuture<'static, Answer<()>>;

/// The answer to each call, or the error of the call as a whole.
pub(crate) type Answers<T> = Result<Vec<Result<T, ScriptError>>, ScriptError>;

/// The waiting calls, by group. A group has an entry while one of its calls is under way.
pub(crate) struct Coalescer<J: Coalesce>(Mutex<HashMap<J::Group, Vec<QueuedCall<J>>>>);

/// A waiting call and its caller.
struct QueuedCall<J: Coalesce> {
    call: J,
    /// The unfinished preparation.
    preparation: Option<Preparation>,
    caller: oneshot::Sender<Answer<J::Reply>>,
}

impl<J: Coalesce> Default for Coalescer<J> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<J: Coalesce> Coalescer<J> {
    /// Makes a call, alone or together with others.
    pub(crate) async fn ask(self: &Arc<Self>, calls: &Arc<Calls>, call: J) -> Answer<J::Reply> {
        let group = call.group();
        let (caller, answered) = oneshot::channel();
        let preparation = call.prepare(calls);
        if self.join(group.clone(), QueuedCall { call, preparation, caller }) {
            // Uses its own task, because other callers depend on it when this caller goes away.
            tokio::spawn(self.clone().send_all(calls.clone(), group));
        }
        answered.await.map_err(|_| EngineError::Unknown("the call was aborted".into()))?
    }

    /// Queues a call of a group. Returns true when no task sends the calls of that group yet.
    fn join(&self, group: J::Group, waiting: QueuedCall<J>) -> bool {
        let mut groups = self.groups();
        let first = !groups.contains_key(&group);
        groups.entry(group).or_default().push(waiting);
        first
    }

    /// Sends the waiting calls of a group until none are left.
    async fn send_all(self: Arc<Self>, calls: Arc<Calls>, group: J::Group) {
        self.let_others_join(&group).await;
        while let Some(waiting) = self.take(&group) {
            let (ready, unprepared) = prepared(waiting).await;
            self.put_back(&group, unprepared);
            if !ready.is_empty() {
                send(&calls, ready).await;
                // Callers that were just answered often make their next call at once.
                self.let_others_join(&group).await;
            }
        }
    }

    /// Lets calls of the same moment join: waits as long as further calls arrive. An idle process is not delayed by
    /// this.
    async fn let_others_join(&self, group: &J::Group) {
        let joined = || self.groups().get(group).map_or(0, Vec::len);
        let mut before = 0;
        while before < joined().min(TOGETHER) {
            before = joined();
            for _ in 0..YIELDS {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Puts calls behind all waiting calls, so that they hold up no others.
    fn put_back(&self, group: &J::Group, calls: Vec<QueuedCall<J>>) {
        if let Some(waiting) = self.groups().get_mut(group) {
            waiting.extend(calls);
        }
    }

    /// Takes the next calls to be sent together. When none wait, removes the entry of the group.
    fn take(&self, group: &J::Group) -> Option<Vec<QueuedCall<J>>> {
        let mut groups = self.groups();
        let waiting = groups.get_mut(group)?;
        if waiting.is_empty() {
            groups.remove(group);
            return None;
        }
        let mut bytes = 0;
        let more = waiting.iter().take(TOGETHER).position(|one| {
            let enough = bytes >= TOGETHER_BYTES;
            bytes += one.call.bytes();
            enough
        });
        let rest = waiting.split_off(more.unwrap_or(TOGETHER).min(waiting.len()));
        Some(std::mem::replace(waiting, rest))
    }

    fn groups(&self) -> MutexGuard<'_, HashMap<J::Group, Vec<QueuedCall<J>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Separates the calls that can be made from those that are still being prepared. A call whose preparation failed is
/// answered.
async fn prepared<J: Coalesce>(waiting: Vec<QueuedCall<J>>) -> (Vec<QueuedCall<J>>, Vec<QueuedCall<J>>) {
    if waiting.iter().all(|one| one.preparation.is_none()) {
        return (waiting, Vec::new());
    }
    let settled = waiting.into_iter().map(|mut one| async move {
        if let Some(preparation) = &mut one.preparation {
            match timeout(PREPARED_IN, preparation).await {
                Ok(Ok(())) => one.preparation = None,
                Ok(Err(error)) => {
                    // Fails when the caller has gone.
                    one.caller.send(Err(error)).ok();
                    return None;
                }
                Err(_) => {}
            }
        }
        Some(one)
    });
    join_all(settled).await.into_iter().flatten().partition(|one| one.preparation.is_none())
}

/// Sends calls as one, and gives each caller its answer, unless the caller has gone.
async fn send<J: Coalesce>(calls: &Calls, waiting: Vec<QueuedCall<J>>) {
    let (all, callers): (Vec<_>, Vec<_>) = waiting.into_iter().map(|one| (one.call, one.caller)).unzip();
    match J::ask(calls, all).await {
        Ok(answers) => {
            for (caller, answer) in callers.into_iter().zip(answers) {
                caller.send(answer.map_err(EngineError::from)).ok();
            }
        }
        Err(error) => {
            let error = EngineError::from(error);
            callers.into_iter().for_each(|caller| drop(caller.send(Err(error.clone()))));
        }
    }
}

impl Coalesce for CompleteArgs {
    /// The partition.
    type Group = u16;
    type Reply = CompletedExecution;

    fn group(&self) -> u16 {
        self.execution_id.partition()
    }

    fn bytes(&self) -> usize {
        self.result.as_ref().map_or(0, |result| result.bytes.len())
    }

    async fn ask(calls: &Calls, all: Vec<Self>) -> Answers<CompletedExecution> {
        match <[Self; 1]>::try_from(all) {
            Ok([alone]) => Ok(vec![ff_complete_execution(calls, alone).await]),
            Err(several) => ff_complete_executions(calls, several).await,
        }
    }
}

/// An execution to be created.
pub(crate) struct Submission {
    pub(crate) execution_id: ExecutionId,
    pub(crate) args: SubmitArgs,
    pub(crate) partitions: PartitionConfig,
    /// Its entries in directories.
    pub(crate) entries: Arc<[Entry]>,
}

impl Coalesce for Submission {
    /// The partition.
    type Group = u16;
    type Reply = SubmittedExecution;

    fn group(&self) -> u16 {
        self.execution_id.partition()
    }

    fn bytes(&self) -> usize {
        self.args.payload.bytes.len()
    }

    fn prepare(&self, calls: &Arc<Calls>) -> Option<Preparation> {
        if calls.directory.has(&self.entries) {
            return None;
        }
        let (calls, entries) = (calls.clone(), self.entries.clone());
        Some(Box::pin(async move { calls.directory.note(&calls.link, &entries).await }))
    }

    async fn ask(calls: &Calls, all: Vec<Self>) -> Answers<SubmittedExecution> {
        match <[Self; 1]>::try_from(all) {
            Ok([alone]) => Ok(vec![ff_create_execution(calls, &alone.partitions, alone.args).await]),
            Err(several) => {
                let works = several.into_iter().map(|one| (one.execution_id, one.args)).collect();
                ff_create_executions(calls, works).await
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::future::{pending, ready};

    use ff_core::engine_error::Code;

    use super::*;

    /// A call with nothing but a number.
    struct NumberedCall(u8);

    impl Coalesce for NumberedCall {
        type Group = ();
        type Reply = u8;

        fn group(&self) {}

        fn bytes(&self) -> usize {
            0
        }

        async fn ask(_: &Calls, all: Vec<Self>) -> Answers<u8> {
            Ok(all.into_iter().map(|Self(number)| Ok(number)).collect())
        }
    }

    /// A call goes out in order, without those that take long to prepare.
    #[tokio::test(start_paused = true)]
    async fn a_preparation_that_hangs_or_fails_holds_up_no_other_call() {
        let away = EngineError::Unavailable("away".into());
        let preparations: [Option<Preparation>; 4] =
            [None, Some(Box::pin(pending())), Some(Box::pin(ready(Err(away)))), Some(Box::pin(ready(Ok(()))))];
        let (mut waiting, mut answers) = (Vec::new(), Vec::new());
        for (number, preparation) in (0..).zip(preparations) {
            let (caller, answered) = oneshot::channel();
            waiting.push(QueuedCall { call: NumberedCall(number), preparation, caller });
            answers.push(answered);
        }
        let numbers = |calls: &[QueuedCall<NumberedCall>]| calls.iter().map(|call| call.call.0).collect::<Vec<_>>();
        let (ready, unprepared) = prepared(waiting).await;
        assert_eq!((numbers(&ready), numbers(&unprepared)), (vec![0, 3], vec![1]));
        assert_eq!(answers[2].try_recv().unwrap().unwrap_err().code(), Code::StoreUnavailable);
    }
}
