//! The part of the walks that operates: labels, priorities, lanes, workers, and readers of what happens.

mod chooser;
mod coverage;
mod reads;
mod reference;
mod step;

pub(crate) use coverage::{EVENTS, REFUSALS};
pub(crate) use reads::{filter, look};
pub use step::Order;
