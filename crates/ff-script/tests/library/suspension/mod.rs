//! What waits: every refusal of its functions, the keys it is kept under, calls as they were published, and what goes on.

mod calls;
mod keyspace;
mod published;
mod refusals;
mod resumed;
mod scene;
mod wrappers;

pub(crate) use refusals::tried;
