//! Commands for suspended executions: list them, decide about one, and deliver a signal to one.

mod decide;
mod list;
mod signal;

pub(crate) use decide::Decision;
pub(crate) use list::Suspensions;
pub(super) use list::{times_out, waitpoints, waits_for};
pub(crate) use signal::Signal;
