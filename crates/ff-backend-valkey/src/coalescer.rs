//! Calls that come while another of their company is under way go together, as one call, and so cost the server far less.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ff_core::backend::Answer;
use ff_core::contracts::{CompleteArgs, Completed, Submitted};
use ff_core::engine_error::EngineError;
use ff_core::types::{Kind, LaneId, Namespace};
use ff_script::ScriptError;
use ff_script::execution::{PlainWork, ff_complete_execution, ff_complete_executions, ff_create_executions};
use tokio::sync::oneshot;

use crate::calls::Calls;

/// How many go in one call, and the bytes after which no more go along, so that no call keeps the server from others for
/// long.
const TOGETHER: usize = 16;
const TOGETHER_BYTES: usize = 256 * 1024;

/// How often other tasks get their turn before a call is made: what was started together asks within so many.
const MOMENT: usize = 4;

/// Something that may be asked in company.
pub(crate) trait Coalesce: Sized + Send + 'static {
    /// Whatever has to be the same for several to be one call.
    type Group: Clone + Eq + Hash + Send + 'static;
    type Reply: Send;

    fn group(&self) -> Self::Group;

    fn bytes(&self) -> usize;

    /// Asks for all of them, and gives each its answer.
    fn ask(calls: &Calls, all: Vec<Self>) -> impl Future<Output = Answers<Self::Reply>> + Send;
}

/// What each was told, or why none was.
pub(crate) type Answers<T> = Result<Vec<Result<T, ScriptError>>, ScriptError>;

/// What waits to be asked, by company. A company is here while a call of it is under way.
pub(crate) struct Coalescer<J: Coalesce>(Mutex<HashMap<J::Group, Vec<QueuedCall<J>>>>);

/// One that waits, and its caller.
struct QueuedCall<J: Coalesce> {
    asked: J,
    caller: oneshot::Sender<Answer<J::Reply>>,
}

impl<J: Coalesce> Default for Coalescer<J> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<J: Coalesce> Coalescer<J> {
    /// Asks for one, alone or in company.
    pub(crate) async fn ask(self: &Arc<Self>, calls: &Arc<Calls>, asked: J) -> Answer<J::Reply> {
        let group = asked.group();
        let (caller, answered) = oneshot::channel();
        if self.join(group.clone(), QueuedCall { asked, caller }) {
            // A task of its own, for others rely on it when this caller goes away.
            tokio::spawn(self.clone().send_all(calls.clone(), group));
        }
        answered.await.map_err(|_| EngineError::Unknown("the call broke off".into()))?
    }

    /// Takes a place in a company; true when nobody is under way for it.
    fn join(&self, group: J::Group, waiting: QueuedCall<J>) -> bool {
        let mut groups = self.groups();
        let first = !groups.contains_key(&group);
        groups.entry(group).or_default().push(waiting);
        first
    }

    /// Sends what waits, again and again until nothing does.
    async fn send_all(self: Arc<Self>, calls: Arc<Calls>, group: J::Group) {
        // What is asked at the same moment comes along; a process with nothing else to do is not kept by this.
        for _ in 0..MOMENT {
            tokio::task::yield_now().await;
        }
        while let Some(waiting) = self.take(&group) {
            send(&calls, waiting).await;
        }
    }

    /// What waits, as much of it as goes together. When nothing does, the company breaks up.
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
            bytes += one.asked.bytes();
            enough
        });
        let rest = waiting.split_off(more.unwrap_or(TOGETHER).min(waiting.len()));
        Some(std::mem::replace(waiting, rest))
    }

    fn groups(&self) -> MutexGuard<'_, HashMap<J::Group, Vec<QueuedCall<J>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends some together and gives each caller its answer. A caller that has gone needs none.
async fn send<J: Coalesce>(calls: &Calls, waiting: Vec<QueuedCall<J>>) {
    let (all, callers): (Vec<_>, Vec<_>) = waiting.into_iter().map(|one| (one.asked, one.caller)).unzip();
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
    type Reply = Completed;

    fn group(&self) -> u16 {
        self.execution_id.partition()
    }

    fn bytes(&self) -> usize {
        self.result.as_ref().map_or(0, |result| result.bytes.len())
    }

    async fn ask(calls: &Calls, all: Vec<Self>) -> Answers<Completed> {
        match <[Self; 1]>::try_from(all) {
            Ok([alone]) => Ok(vec![ff_complete_execution(calls, alone).await]),
            Err(several) => ff_complete_executions(calls, several).await,
        }
    }
}

impl Coalesce for PlainWork {
    type Group = (u16, Namespace, LaneId, Kind);
    type Reply = Submitted;

    fn group(&self) -> Self::Group {
        (self.execution_id.partition(), self.namespace.clone(), self.lane.clone(), self.kind.clone())
    }

    fn bytes(&self) -> usize {
        self.payload.bytes.len()
    }

    async fn ask(calls: &Calls, all: Vec<Self>) -> Answers<Submitted> {
        ff_create_executions(calls, all).await
    }
}
