//! The stream of a store's hints.

use std::future::pending;

use ff_core::backend::EngineStore;
use ff_core::backend::hint::{Hint, Hints};
use futures_util::StreamExt;

/// The hints that a store sends after the creation of this stream.
pub struct HintStream(Option<Hints>);

impl HintStream {
    /// Subscribes to the hints of a store.
    pub fn of(store: &dyn EngineStore) -> Self {
        Self(Some(store.hints()))
    }

    /// Returns the next hint. After the last one the future never completes.
    pub async fn next(&mut self) -> Hint {
        if let Some(hints) = &mut self.0 {
            if let Some(hint) = hints.next().await {
                return hint;
            }
            tracing::warn!("the store sends no more hints");
            self.0 = None;
        }
        pending().await
    }
}
