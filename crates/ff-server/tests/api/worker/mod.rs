//! The worker protocol.

mod batch;
mod claims;
