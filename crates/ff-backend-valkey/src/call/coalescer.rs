//! Coalescing: calls of a partition that arrive while another of its calls is under way are sent together as one call,
//! which costs the server far less. A small number of calls also waits for the next answer to a call of any partition on
//! the same primary, so that a busy server gets fewer, larger calls. Calls of a partition are sent in the order in which
//! they were first polled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::backend::Answer;
use ff_core::contracts::{CompleteArgs, CompletedExecution, SubmitArgs, SubmittedExecution};
use ff_core::engine_error::EngineError;
use ff_core::partition::{Partition, PartitionConfig, PartitionFamily};
use ff_core::types::ExecutionId;
use ff_script::ScriptError;
use ff_script::execution::{ff_complete_execution, ff_complete_executions, ff_create_execution, ff_create_executions};
use futures_util::future::{BoxFuture, join_all};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::calls::Calls;
use super::under_way::CallsUnderWay;
use crate::directory::Entry;

/// Maximum number of calls sent as one, and the number of bytes after which no more are added, so that no call occupies
/// the server for long.
const TOGETHER: usize = 24;
const TOGETHER_BYTES: usize = 256 * 1024;

/// Number of calls that do not wait for others.
const ENOUGH: usize = TOGETHER / 2;

/// Maximum wait for an answer to another call. A server that is only busy answers sooner.
const ANSWERED_IN: Duration = Duration::from_millis(100);

/// Number of turns that other tasks get before a call is sent, enough for tasks that were started together to make their
/// calls.
const YIELDS: usize = 4;

/// Maximum wait for the preparation of a call. The others are then sent without it.
const PREPARED_IN: Duration = Duration::from_millis(100);

/// A call that may be sent together with others of its partition.
pub(crate) trait Coalesce: Sized + Send + 'static {
    type Reply: Send;

    fn partition(&self) -> u16;

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

/// The waiting calls and those that are under way.
pub(crate) struct Coalescer<J: Coalesce> {
    /// By partition. A partition has an entry while one of its calls is under way.
    waiting: Mutex<HashMap<u16, Vec<QueuedCall<J>>>>,
    under_way: CallsUnderWay,
}

/// A waiting call and its caller.
struct QueuedCall<J: Coalesce> {
    call: J,
    /// The unfinished preparation.
    preparation: Option<Preparation>,
    caller: oneshot::Sender<Answer<J::Reply>>,
}

impl<J: Coalesce> Default for Coalescer<J> {
    fn default() -> Self {
        Self { waiting: Mutex::default(), under_way: CallsUnderWay::default() }
    }
}

impl<J: Coalesce> Coalescer<J> {
    /// Makes a call, alone or together with others.
    pub(crate) async fn ask(self: &Arc<Self>, calls: &Arc<Calls>, call: J) -> Answer<J::Reply> {
        let partition = call.partition();
        let (caller, answered) = oneshot::channel();
        let preparation = call.prepare(calls);
        if self.join(partition, QueuedCall { call, preparation, caller }) {
            // Uses its own task, because other callers depend on it when this caller goes away.
            tokio::spawn(self.clone().send_all(calls.clone(), partition));
        }
        answered.await.map_err(|_| EngineError::Unknown("the call was aborted".into()))?
    }

    /// Queues a call of a partition. Returns true when no task sends the calls of that partition yet.
    fn join(&self, partition: u16, call: QueuedCall<J>) -> bool {
        let mut waiting = self.waiting();
        let first = !waiting.contains_key(&partition);
        waiting.entry(partition).or_default().push(call);
        first
    }

    /// Sends the waiting calls of a partition until none are left.
    async fn send_all(self: Arc<Self>, calls: Arc<Calls>, partition: u16) {
        let tag = Partition::new(PartitionFamily::Execution, partition).hash_tag();
        // Callers that were just answered often make their next call at once.
        while self.let_others_join(partition).await {
            let primary = self.under_way.on(calls.link.address_of(&tag));
            // With an fsync for every answer, calls that are under way together share one.
            if self.count(partition) < ENOUGH && calls.fsync.is_none() {
                // Without an answer, the calls are sent all the same.
                timeout(ANSWERED_IN, primary.next_answer()).await.ok();
                self.let_others_join(partition).await;
            }
            let (ready, unprepared) = prepared(self.take(partition)).await;
            self.put_back(partition, unprepared);
            if !ready.is_empty() {
                let under_way = primary.begin();
                send(&calls, ready).await;
                drop(under_way);
            }
        }
    }

    /// Lets calls of the same moment join: waits as long as further calls arrive. An idle process is not delayed by
    /// this. When no call waits, removes the entry of the partition and returns false.
    async fn let_others_join(&self, partition: u16) -> bool {
        let mut before = 0;
        while before < self.count(partition).min(TOGETHER) {
            before = self.count(partition);
            for _ in 0..YIELDS {
                tokio::task::yield_now().await;
            }
        }
        let mut waiting = self.waiting();
        let is_empty = waiting.get(&partition).is_none_or(Vec::is_empty);
        if is_empty {
            waiting.remove(&partition);
        }
        !is_empty
    }

    /// Returns how many calls of a partition wait.
    fn count(&self, partition: u16) -> usize {
        self.waiting().get(&partition).map_or(0, Vec::len)
    }

    /// Puts calls behind all waiting calls, so that they hold up no others.
    fn put_back(&self, partition: u16, calls: Vec<QueuedCall<J>>) {
        if let Some(waiting) = self.waiting().get_mut(&partition) {
            waiting.extend(calls);
        }
    }

    /// Takes the next calls to be sent together.
    fn take(&self, partition: u16) -> Vec<QueuedCall<J>> {
        let mut all = self.waiting();
        let Some(waiting) = all.get_mut(&partition) else { return Vec::new() };
        let mut bytes = 0;
        let more = waiting.iter().take(TOGETHER).position(|one| {
            let enough = bytes >= TOGETHER_BYTES;
            bytes += one.call.bytes();
            enough
        });
        let rest = waiting.split_off(more.unwrap_or(TOGETHER).min(waiting.len()));
        std::mem::replace(waiting, rest)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<u16, Vec<QueuedCall<J>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
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
    type Reply = CompletedExecution;

    fn partition(&self) -> u16 {
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
    type Reply = SubmittedExecution;

    fn partition(&self) -> u16 {
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
        Some(Box::pin(async move { calls.note(&entries).await }))
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
        type Reply = u8;

        fn partition(&self) -> u16 {
            0
        }

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
