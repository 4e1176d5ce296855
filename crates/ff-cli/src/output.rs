//! Standard output: what was asked for and nothing else.

use std::fmt;
use std::io::{self, ErrorKind, IsTerminal, Write};

use anyhow::Context;
use serde::Serialize;

/// The reader of our output has gone, as `head` does once it has its lines. That is no error of ours.
#[derive(Debug)]
pub(crate) struct ClosedPipe;

impl fmt::Display for ClosedPipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody reads the output any more")
    }
}

impl std::error::Error for ClosedPipe {}

/// Whether a person is looking.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Writes text and ends its line.
pub(crate) fn line(text: impl fmt::Display) -> anyhow::Result<()> {
    write(format!("{text}\n").as_bytes())
}

/// Writes bytes exactly as they are; on a terminal the prompt still begins on a line of its own.
pub(crate) fn bytes(bytes: &[u8]) -> anyhow::Result<()> {
    write(bytes)?;
    if is_terminal() && !bytes.is_empty() && !bytes.ends_with(b"\n") { write(b"\n") } else { Ok(()) }
}

/// Writes one JSON document: spread out for people, on one line for programs.
pub(crate) fn json(document: &impl Serialize) -> anyhow::Result<()> {
    let text = if is_terminal() { serde_json::to_string_pretty(document) } else { serde_json::to_string(document) };
    line(text.context("cannot write JSON")?)
}

fn write(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(ClosedPipe.into()),
        written => written.context("cannot write to standard output"),
    }
}
