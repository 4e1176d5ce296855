//! How the rest of the system reaches executions. A store performs operations and answers queries as values; callers reach one through
//! an engine in this process or over HTTP.

mod engine_backend;
mod engine_store;
mod long_poll;
mod perform;

use std::pin::Pin;

use crate::engine_error::EngineError;

pub use engine_backend::EngineBackend;
pub use engine_store::{EngineStore, PartitionStatus, ReadyLane};
pub use long_poll::LongPoll;
pub use perform::{Handle, Perform};

/// An answer, or why there is none.
pub type Answer<T> = Result<T, EngineError>;

/// An answer that is yet to come.
pub type BoxedAnswer<'a, T> = Pin<Box<dyn Future<Output = Answer<T>> + Send + 'a>>;
