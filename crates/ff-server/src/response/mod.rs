//! What handlers put into a response: errors, pages of a limited size, and a body that is counted until it is written.

pub(crate) mod guarded_body;
pub(crate) mod page;
pub(crate) mod problem;
