//! The log on standard error, and traces.

mod lines;
mod quiet;
mod tracing;
