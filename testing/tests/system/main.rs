//! Proof beyond single promises: stores compared with the model, many clients at once, real processes killed, house rules.

#![allow(clippy::unwrap_used, reason = "everything here is a test: panicking is how it fails")]

mod concurrency;
mod fuzz;
mod processes;
mod protocol;
mod random_ops;
mod tidy;
