//! Executions.

mod listing;
mod payloads;
mod steps;
mod submissions;
mod traces;
