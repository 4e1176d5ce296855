//! Completions that come while another of their partition is under way go together, as one call. A worker that took several
//! executions of a partition at once tends to finish them at once, and together they cost the server half as much.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ff_core::backend::Answer;
use ff_core::contracts::{CompleteArgs, Completed};
use ff_core::engine_error::EngineError;
use ff_script::execution::{ff_complete_execution, ff_complete_executions};
use tokio::sync::oneshot;

use crate::calls::Calls;

/// Completions in one call, and bytes of results after which no more go along, so that no call keeps the server from
/// others for long.
const TOGETHER: usize = 32;
const TOGETHER_BYTES: usize = 256 * 1024;

/// How often other tasks get their turn before a call is made: handlers that were started together report within so many.
const MOMENT: usize = 4;

/// What waits to be completed, by partition. A partition is here while a call of it is under way.
#[derive(Default)]
pub(crate) struct Completions(Mutex<HashMap<u16, Vec<Waiting>>>);

/// One completion and who waits for its answer.
struct Waiting {
    args: CompleteArgs,
    caller: oneshot::Sender<Answer<Completed>>,
}

impl Completions {
    /// Completes one execution, alone or in company.
    pub(crate) async fn complete(self: &Arc<Self>, calls: &Arc<Calls>, args: CompleteArgs) -> Answer<Completed> {
        let partition = args.execution_id.partition();
        let (caller, answered) = oneshot::channel();
        if self.join(partition, Waiting { args, caller }) {
            // A task of its own, for others rely on it when this caller goes away.
            tokio::spawn(self.clone().send_all(calls.clone(), partition));
        }
        answered.await.map_err(|_| EngineError::Unknown("the call broke off".into()))?
    }

    /// Takes a place among those of a partition; true when nobody is under way for them.
    fn join(&self, partition: u16, waiting: Waiting) -> bool {
        let mut partitions = self.partitions();
        let first = !partitions.contains_key(&partition);
        partitions.entry(partition).or_default().push(waiting);
        first
    }

    /// Sends what waits, again and again until nothing does.
    async fn send_all(self: Arc<Self>, calls: Arc<Calls>, partition: u16) {
        // What finishes at the same moment comes along; a process with nothing else to do is not kept by this.
        for _ in 0..MOMENT {
            tokio::task::yield_now().await;
        }
        while let Some(waiting) = self.take(partition) {
            send(&calls, waiting).await;
        }
    }

    /// What waits, as much of it as goes together. When nothing does, the partition is free.
    fn take(&self, partition: u16) -> Option<Vec<Waiting>> {
        let mut partitions = self.partitions();
        let waiting = partitions.get_mut(&partition)?;
        if waiting.is_empty() {
            partitions.remove(&partition);
            return None;
        }
        let mut bytes = 0;
        let more = waiting.iter().take(TOGETHER).position(|one| {
            let enough = bytes >= TOGETHER_BYTES;
            bytes += one.args.result.as_ref().map_or(0, |result| result.bytes.len());
            enough
        });
        let rest = waiting.split_off(more.unwrap_or(TOGETHER).min(waiting.len()));
        Some(std::mem::replace(waiting, rest))
    }

    fn partitions(&self) -> MutexGuard<'_, HashMap<u16, Vec<Waiting>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends some together and gives each caller its answer. A caller that has gone needs none.
async fn send(calls: &Calls, waiting: Vec<Waiting>) {
    let (args, callers): (Vec<_>, Vec<_>) = waiting.into_iter().map(|one| (one.args, one.caller)).unzip();
    let answers = match <[CompleteArgs; 1]>::try_from(args) {
        Ok([alone]) => Ok(vec![ff_complete_execution(calls, alone).await]),
        Err(several) => ff_complete_executions(calls, several).await,
    };
    match answers {
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
