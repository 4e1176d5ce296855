//! Hearing a store's hints for as long as it gives any.

use std::future::pending;

use ff_core::backend::EngineStore;
use ff_core::hint::{Hint, Hints};
use futures_util::StreamExt;

/// The hints of a store, from the moment this is made.
pub struct HintStream(Option<Hints>);

impl HintStream {
    /// Begins to listen.
    pub fn of(store: &dyn EngineStore) -> Self {
        Self(Some(store.hints()))
    }

    /// The next hint. After the last one, none ever comes: whoever listens goes on with what it knows.
    pub async fn next(&mut self) -> Hint {
        if let Some(hints) = &mut self.0 {
            if let Some(hint) = hints.next().await {
                return hint;
            }
            tracing::warn!("the store gives no more hints");
            self.0 = None;
        }
        pending().await
    }
}
