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
pub(super) trait CoalescedCall: Sized + Send + 'static {
    type Reply: Send + 'static;

    /// Returns the approximate number of bytes that the call adds to a request.
    fn bytes(&self) -> usize;

    fn send_one(self, server: &HttpConnection) -> impl Future<Output = Answer<Self::Reply>> + Send;

    /// Sends the calls in one request, and returns their answers in the same order.
    fn send_many(
        calls: Vec<Self>,
        server: &HttpConnection,
    ) -> impl Future<Output = Answer<Vec<Answer<Self::Reply>>>> + Send;
}

/// The queue of waiting calls of one kind. Clones share the queue.
pub(super) struct Coalescer<C: CoalescedCall>(Arc<Mutex<State<C>>>);

struct State<C: CoalescedCall> {
    waiting: VecDeque<(C, oneshot::Sender<Answer<C::Reply>>)>,
    senders: usize,
}

impl<C: CoalescedCall> Default for Coalescer<C> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State { waiting: VecDeque::new(), senders: 0 })))
    }
}

impl<C: CoalescedCall> Clone for Coalescer<C> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<C: CoalescedCall> fmt::Debug for Coalescer<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coalescer").field("waiting", &self.state().waiting.len()).finish_non_exhaustive()
    }
}

impl<C: CoalescedCall> Coalescer<C> {
    pub(super) async fn call(&self, server: &HttpConnection, call: C) -> Answer<C::Reply> {
        let (caller, answered) = oneshot::channel();
        {
            let mut state = self.state();
            state.waiting.push_back((call, caller));
            if state.senders < SENDERS {
                state.senders += 1;
                // A separate task, because it also sends the calls of other callers and must outlive this caller.
                tokio::spawn(Sender { coalescer: self.clone(), is_counted: true }.send_all(server.clone()));
            }
        }
        answered.await.unwrap_or_else(|_| Err(EngineError::Unknown("the request was aborted".into())))
    }

    fn state(&self) -> MutexGuard<'_, State<C>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends waiting calls, one request after another. When it is dropped, another sender may start, also if it panicked or its
/// runtime was shut down.
struct Sender<C: CoalescedCall> {
    coalescer: Coalescer<C>,
    /// Whether it is one of the senders that the state counts.
    is_counted: bool,
}

impl<C: CoalescedCall> Sender<C> {
    async fn send_all(mut self, server: HttpConnection) {
        while let Some((mut calls, mut callers)) = self.take() {
            let answers = match (calls.pop(), calls.is_empty()) {
                (Some(call), true) => Ok(vec![call.send_one(&server).await]),
                (last, _) => {
                    calls.extend(last);
                    C::send_many(calls, &server).await
                }
            };
            match answers {
                Ok(answers) => callers.drain(..).zip(answers).for_each(|(caller, answer)| {
                    // Fails when the caller has gone.
                    caller.send(answer).ok();
                }),
                Err(error) => callers.drain(..).for_each(|caller| {
                    caller.send(Err(error.clone())).ok();
                }),
            }
        }
    }

    /// Takes as many waiting calls as fit into one request. If none waits, the sender no longer counts: a call that comes now
    /// starts another one.
    #[allow(clippy::type_complexity, reason = "calls and their callers, in the same order")]
    fn take(&mut self) -> Option<(Vec<C>, Vec<oneshot::Sender<Answer<C::Reply>>>)> {
        let mut state = self.coalescer.state();
        let mut bytes = 0;
        let fitting = state.waiting.iter().take(limits::BULK).take_while(|(call, _)| {
            let fits = bytes < BYTES;
            bytes += call.bytes();
            fits
        });
        let count = fitting.count();
        if count == 0 {
            state.senders -= 1;
            self.is_counted = false;
            return None;
        }
        Some(state.waiting.drain(..count).unzip())
    }
}

impl<C: CoalescedCall> Drop for Sender<C> {
    fn drop(&mut self) {
        if self.is_counted {
            self.coalescer.state().senders -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Ping;

    impl CoalescedCall for Ping {
        type Reply = ();

        fn bytes(&self) -> usize {
            0
        }

        async fn send_one(self, _: &HttpConnection) -> Answer<()> {
            Ok(())
        }

        async fn send_many(calls: Vec<Self>, _: &HttpConnection) -> Answer<Vec<Answer<()>>> {
            Ok(calls.into_iter().map(|_| Ok(())).collect())
        }
    }

    fn sender() -> Sender<Ping> {
        let coalescer = Coalescer::default();
        coalescer.state().senders = 1;
        Sender { coalescer, is_counted: true }
    }

    #[test]
    fn an_aborted_sender_makes_room_for_another() {
        let sender = sender();
        let coalescer = sender.coalescer.clone();
        drop(sender);
        assert_eq!(coalescer.state().senders, 0);
    }

    #[test]
    fn a_sender_without_calls_is_subtracted_once() {
        let mut sender = sender();
        let coalescer = sender.coalescer.clone();
        coalescer.state().waiting.push_back((Ping, oneshot::channel().0));
        assert_eq!(sender.take().map(|(calls, _)| calls.len()), Some(1));
        assert!(sender.take().is_none());
        drop(sender);
        assert_eq!(coalescer.state().senders, 0);
    }
}
