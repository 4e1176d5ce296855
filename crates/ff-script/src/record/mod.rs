//! Converts stored records into the types of the rules.

mod event;
mod execution;
mod flow;
mod hash;
mod lane;
mod lease;
mod member;
mod ring;
mod signal;
mod suspension;
mod trace;

pub(crate) use event::{event_record, flow_key, outcome};
pub use execution::StoredExecution;
pub(crate) use execution::{priority, read_policy};
pub(crate) use hash::Hash;
pub(crate) use lane::{class, lane, weights, weights_text, worker};
pub(crate) use lease::{attempt_outcome, ending, origin};
pub(crate) use ring::{ring, ring_fields};
pub(crate) use signal::{delivery, received};
pub(crate) use suspension::{resumption, waitpoint};
pub(crate) use trace::{read_trace, trace_fields, trace_of};
