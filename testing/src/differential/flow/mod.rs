//! The part of the walks that depends: flows, what grows in them, and holders that wait for their children.

mod chooser;
mod coverage;
mod reads;
mod reference;
mod step;

pub(crate) use coverage::{EVENTS, REFUSALS, count_all, count_claimed, count_reply};
pub(crate) use reads::{look, submit};
pub(crate) use reference::inputs_of;
pub use step::{Growth, Link, Node, Pass, Plan};
