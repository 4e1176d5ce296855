//! Lanes: named queues of a tenant, and how work leaves them.

mod admit;
mod allot;
mod configure;
pub mod contracts;
mod copy;
mod make_room;
mod record;
mod recount;
mod seek;
mod settle;
mod spread;
#[cfg(test)]
pub(crate) mod yard;

pub(crate) use admit::{admit, kept_ms};
pub use make_room::make_room;
pub use record::{Lane, LaneSettings, LaneState, Share};
pub use seek::seek_grant;
pub use spread::spread;
