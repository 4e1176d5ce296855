//! Values that several commands take: ids, filters, pages, payloads, spans and timestamps.

pub(crate) mod filter;
mod id;
mod input;
mod paging;
pub(crate) mod span;
pub(crate) mod timestamp;

pub(crate) use id::{FlowIdArg, IdArg};
pub(crate) use input::{Input, TraceArgs, cursor, whole};
pub(crate) use paging::{Paging, every_page, tell_more};
