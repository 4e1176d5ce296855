//! `ff`: the server, the command-line tool, and a worker for any program, in one binary.

mod command_line;
mod commands;
mod config;
mod ending;
mod exit;
mod filter;
mod id;
mod input;
mod logging;
mod output;
mod paging;
mod program;
mod screen;
mod served_store;
mod serving_flags;
mod settings;
mod span;
mod table;
mod timestamp;

use std::process::ExitCode;

/// Executions consist of many small values, for which the system allocator is slow.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    command_line::run()
}
