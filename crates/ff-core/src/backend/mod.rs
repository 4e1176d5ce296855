//! The interfaces to executions. A store performs operations and answers queries, both as values. Callers reach a store
//! through an engine in this process or over HTTP.

pub mod clock;
mod engine_backend;
mod engine_store;
pub mod entropy;
pub mod hint;
mod long_poll;
pub mod outage;
mod perform;
pub mod snapshot;

use std::pin::Pin;

use crate::engine_error::EngineError;

pub use engine_backend::EngineBackend;
pub use engine_store::{EngineStore, PartitionStatus, ReadyLane};
pub use long_poll::LongPoll;
pub use perform::{Handle, Perform};

/// The result of a call: an answer or an error.
pub type Answer<T> = Result<T, EngineError>;

/// A future of an [`Answer`].
pub type BoxedAnswer<'a, T> = Pin<Box<dyn Future<Output = Answer<T>> + Send + 'a>>;
