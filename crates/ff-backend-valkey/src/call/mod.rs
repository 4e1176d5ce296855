//! Calls of the library's functions: sent together where possible, durable where asked for, and their errors.

mod calls;
mod coalescer;
mod durability;
mod error;
mod under_way;

pub(crate) use calls::{Calls, LibraryLoads, WithoutFsync, corrupt};
pub(crate) use coalescer::{Coalescer, Submission};
pub(crate) use durability::FsyncGroup;
pub(crate) use error::{engine_error, lacks_the_library, message_of, unreachable};
