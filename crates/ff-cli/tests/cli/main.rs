//! The tool as its users run it: the real binary, real processes, a real store.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod doctor;
mod help;
mod reading;
mod serving;
mod steering;
mod submitting;
mod waiting;
mod working;
mod world;
