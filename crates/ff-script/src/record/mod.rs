//! Records as they are kept on a server, read back into what the rules work with.

mod attempt;
mod execution;
mod hash;
mod lease;

pub(crate) use attempt::origin;
pub use execution::Kept;
pub(crate) use execution::read_policy;
pub(crate) use hash::Hash;
pub(crate) use lease::ending;
