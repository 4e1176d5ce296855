//! Concurrent calls share requests. The first few calls are sent at once. Calls made while these are under way wait
//! until one of them is answered, and are then sent as one request. So no call waits while the connection is idle.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ff_core::backend::Answer;
use ff_core::engine_error::EngineError;
use ff_core::limits;
use tokio::sync::oneshot;

use super::HttpConnection;

/// Maximum number of requests under way. Further calls wait and are sent together.
const SENDERS: usize = 4;

/// Size of a request, in bytes, from which no further call is added.
const BYTES: usize = 4 * 1024 * 1024;

/// A call that may share a request with others of its kind.
pub(super) trait Together: Sized + Send + 'static {
    type Reply: Send + 'static;

    /// Returns the approximate number of bytes that the call adds to a request.
    fn bytes(&self) -> usize;

    fn alone(self, server: &HttpConnection) -> impl Future<Output = Answer<Self::Reply>> + Send;

    /// Sends the calls in one request, and returns their answers in the same order.
    fn together(
        calls: Vec<Self>,
        server: &HttpConnection,
    ) -> impl Future<Output = Answer<Vec<Answer<Self::Reply>>>> + Send;
}

/// The queue of waiting calls of one kind. Clones share the queue.
pub(super) struct Coalescer<C: Together>(Arc<Mutex<State<C>>>);

struct State<C: Together> {
    waiting: VecDeque<(C, oneshot::Sender<Answer<C::Reply>>)>,
    senders: usize,
}

impl<C: Together> Default for Coalescer<C> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State { waiting: VecDeque::new(), senders: 0 })))
    }
}

impl<C: Together> Clone for Coalescer<C> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<C: Together> fmt::Debug for Coalescer<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coalescer").field("waiting", &self.state().waiting.len()).finish_non_exhaustive()
    }
}

impl<C: Together> Coalescer<C> {
    pub(super) async fn call(&self, server: &HttpConnection, call: C) -> Answer<C::Reply> {
        let (caller, answered) = oneshot::channel();
        {
            let mut state = self.state();
            state.waiting.push_back((call, caller));
            if state.senders < SENDERS {
                state.senders += 1;
                // A separate task, because it also sends other callers' calls and must outlive this caller.
                tokio::spawn(self.clone().send_all(server.clone()));
            }
        }
        answered.await.unwrap_or_else(|_| Err(EngineError::Unknown("the request broke off".into())))
    }

    async fn send_all(self, server: HttpConnection) {
        while let Some((mut calls, mut callers)) = self.take() {
            let answers = match (calls.pop(), calls.is_empty()) {
                (Some(call), true) => Ok(vec![call.alone(&server).await]),
                (last, _) => {
                    calls.extend(last);
                    C::together(calls, &server).await
                }
            };
            match answers {
                Ok(answers) => callers.drain(..).zip(answers).for_each(|(caller, answer)| {
                    // A caller that was dropped does not need the answer.
                    caller.send(answer).ok();
                }),
                Err(error) => callers.drain(..).for_each(|caller| {
                    caller.send(Err(error.clone())).ok();
                }),
            }
        }
    }

    /// Takes as many calls as fit into one request. When no call is left, returns `None` and counts this sender out.
    #[allow(clippy::type_complexity, reason = "calls and their callers, in the same order")]
    fn take(&self) -> Option<(Vec<C>, Vec<oneshot::Sender<Answer<C::Reply>>>)> {
        let mut state = self.state();
        let mut bytes = 0;
        let fitting = state.waiting.iter().take(limits::BULK).take_while(|(call, _)| {
            let fits = bytes < BYTES;
            bytes += call.bytes();
            fits
        });
        let count = fitting.count();
        if count == 0 {
            state.senders -= 1;
            return None;
        }
        Some(state.waiting.drain(..count).unzip())
    }

    fn state(&self) -> MutexGuard<'_, State<C>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
