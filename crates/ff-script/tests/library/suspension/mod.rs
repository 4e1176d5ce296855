//! Suspensions: every refusal of their functions, their keys, their published calls, and resuming.

mod calls;
mod keyspace;
mod published;
mod refusals;
mod resumed;
mod scene;
mod wrappers;

pub(crate) use refusals::tried;
