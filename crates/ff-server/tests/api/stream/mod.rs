//! Streams: the output of executions.

mod output;
mod tokens;
