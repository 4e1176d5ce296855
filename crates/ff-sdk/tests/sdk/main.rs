//! The SDK as its users call it, over stores in this process.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agent;
mod connecting;
mod fixture;
mod flows;
mod operator;
mod steps;
mod streams;
mod suspension;
mod worker;
