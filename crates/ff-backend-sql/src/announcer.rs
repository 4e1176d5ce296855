//! Hints within the process. They are not lost. A listener that falls too far behind gets a miss.

use ff_core::backend::hint::{Hint, Hints};
use futures_util::stream;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Maximum number of hints that wait for the slowest listener: more than one bulk submission makes.
const KEPT: usize = 4_096;

/// A channel that passes the hints of commits to every listener.
#[derive(Clone)]
pub struct Announcer(broadcast::Sender<Hint>);

impl Default for Announcer {
    fn default() -> Self {
        Self(broadcast::Sender::new(KEPT))
    }
}

impl Announcer {
    /// Passes on the hints of one commit, in order.
    pub fn announce(&self, hints: Vec<Hint>) {
        for hint in hints {
            // Fails when there is no listener.
            self.0.send(hint).ok();
        }
    }

    /// Returns a stream of the hints from now on.
    pub fn listen(&self) -> Hints {
        Box::pin(stream::unfold(self.0.subscribe(), |mut receiver| async move {
            match receiver.recv().await {
                Ok(hint) => Some((hint, receiver)),
                Err(RecvError::Lagged(_)) => Some((Hint::Missed, receiver)),
                Err(RecvError::Closed) => None,
            }
        }))
    }
}
