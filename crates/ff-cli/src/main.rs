//! `ff`: the server, the command-line tool, and a worker for any program, in one binary.

mod args;
mod command_line;
mod commands;
mod config;
mod ending;
mod exit;
mod logging;
mod output;
mod program;
mod serve;
mod settings;
mod signals;

use std::process::ExitCode;

/// Executions consist of many small values, for which the system allocator is slow.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    command_line::run()
}
