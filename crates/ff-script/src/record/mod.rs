//! Records as they are kept on a server, read back into what the rules work with.

mod attempt;
mod edge;
mod event;
mod execution;
mod flow;
mod hash;
mod lane;
mod lease;
mod member;
mod membership;
mod ring;
mod signal;
mod suspension;
mod told;
mod trace;
mod waitpoint;
mod worker;

pub(crate) use attempt::origin;
pub(crate) use event::flow_key;
pub use execution::Kept;
pub(crate) use execution::read_policy;
pub(crate) use hash::Hash;
pub(crate) use lane::lane;
pub(crate) use lease::ending;
pub(crate) use ring::{ring, ring_fields};
pub(crate) use signal::{delivery, received};
pub(crate) use suspension::resumption;
pub(crate) use told::told;
pub(crate) use trace::{trace_fields, trace_of, trace_told};
pub(crate) use waitpoint::waitpoint;
pub(crate) use worker::worker;
