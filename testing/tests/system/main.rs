//! System tests: stores compared with the model, many concurrent clients, real processes that are killed, and house
//! rules.

#![allow(clippy::unwrap_used, reason = "everything here is a test: panicking is how it fails")]

mod concurrency;
mod fuzz;
mod processes;
mod protocol;
mod random_ops;
mod tidy;
