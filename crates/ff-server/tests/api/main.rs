//! The HTTP API as a client sees it: a real server on a real socket over a store in memory.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_input;
mod claims;
mod ids;
mod limits;
mod listing;
mod payloads;
mod quiet;
mod remote;
mod stopping;
mod submissions;
mod waiting;
mod world;
