//! Exit codes of the tool, and messages on standard error.

use std::fmt;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::execution::Outcome;
use ff_sdk::ConnectError;
use serde_json::{Value, json};

use crate::output::{ClosedPipe, escaped};

/// The outcome of a command, with its own exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    Error,
    Usage,
    Failed,
    Cancelled,
    Expired,
    Skipped,
    TimedOut,
    Interrupted,
}

/// Every code and its meaning, in the order of the help.
const TABLE: &[(Exit, u8, &str)] = &[
    (Exit::Done, 0, "success; if it was waited for, the execution or flow completed"),
    (Exit::Error, 1, "error: refused, no answer, or findings of the doctor"),
    (Exit::Usage, 2, "the command line, or a value in it, is invalid or not allowed; nothing was done"),
    (Exit::Failed, 3, "the execution or flow failed"),
    (Exit::Cancelled, 4, "the execution or flow was cancelled"),
    (Exit::Expired, 5, "the execution's deadline passed"),
    (Exit::Skipped, 6, "the execution was skipped"),
    (Exit::TimedOut, 124, "the execution or flow did not end before --timeout; it continues"),
    (Exit::Interrupted, 130, "interrupted while waiting; the execution or flow continues"),
];

impl Exit {
    /// Returns the table of exit codes for the help.
    pub(crate) fn table() -> String {
        let rows = TABLE.iter().map(|(_, code, meaning)| format!("  {code:>3}  {meaning}"));
        format!("Exit codes:\n{}", rows.collect::<Vec<_>>().join("\n"))
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        let row = TABLE.iter().find(|(listed, ..)| *listed == exit);
        row.map_or(Self::FAILURE, |(_, code, _)| Self::from(*code))
    }
}

impl From<Outcome> for Exit {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Success => Self::Done,
            Outcome::Failed => Self::Failed,
            Outcome::Cancelled => Self::Cancelled,
            Outcome::Expired => Self::Expired,
            Outcome::Skipped => Self::Skipped,
        }
    }
}

/// An invalid command line, or an invalid value in it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

impl From<Refusal> for Usage {
    fn from(refusal: Refusal) -> Self {
        Self(refusal.to_string())
    }
}

/// Prints the error of a failed command, and returns the exit code. A closed output is silent, and no failure.
pub(crate) fn after(error: &anyhow::Error) -> Exit {
    if error.is::<ClosedPipe>() {
        return Exit::Done;
    }
    // A bad URL of a server is reported as `Usage`, so this URL is that of a store.
    let is_bad_store = error.downcast_ref().is_some_and(ConnectError::is_bad_url);
    let flag = if is_bad_store { "--store: " } else { "" };
    let (message, code) = (format!("{flag}{error:#}"), code(error));
    let is_usage = error.is::<Usage>() || is_bad_store;
    let is_bad_value = is_usage || code.is_some_and(|code| matches!(code.http_status(), 400 | 413 | 415));
    let exit = if is_bad_value { Exit::Usage } else { Exit::Error };
    let word = code.map_or(if is_bad_value { "usage" } else { "error" }, Code::as_str);
    let text = match code.filter(|code| !message.contains(code.as_str())) {
        Some(code) => format!("error: {code}: {message}"),
        None => format!("error: {message}"),
    };
    note(&json!({ "error": message, "code": word }), text);
    exit
}

/// Reports that a wait was cut short. The JSON message has the id in a field of the given name.
pub(crate) fn cut_short(exit: Exit, (name, id): (&str, &dyn fmt::Display), again: &str) -> Exit {
    let (code, text) = match exit {
        Exit::TimedOut => ("timed_out", format!("error: {id} has not ended in time and continues; {again}")),
        _ => ("interrupted", format!("interrupted: {id} continues; {again}")),
    };
    let message = text.strip_prefix("error: ").unwrap_or(&text);
    note(&json!({ "error": message, "code": code, name: id.to_string() }), &text);
    exit
}

/// Returns the stable code of an error, if the engine gave one.
fn code(error: &anyhow::Error) -> Option<Code> {
    error.chain().find_map(|cause| match cause.downcast_ref::<EngineError>() {
        Some(error) => Some(error.code()),
        None => cause.downcast_ref::<ff_sdk::Error>().and_then(ff_sdk::Error::code),
    })
}

/// Whether messages on standard error are JSON.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// Selects JSON or text for messages on standard error.
pub(crate) fn set_json_messages(is_json: bool) {
    IS_JSON.store(is_json, Ordering::Relaxed);
}

/// Writes a message to standard error, separate from the output of the command.
pub(crate) fn print_message(line: impl fmt::Display) {
    let line = line.to_string();
    note(&json!({ "message": line }), &line);
}

/// Writes a line to standard error: the document if messages are JSON, otherwise the text.
pub(crate) fn note(document: &Value, text: impl fmt::Display) {
    let line = if IS_JSON.load(Ordering::Relaxed) { document.to_string() } else { text.to_string() };
    let mut stderr = std::io::stderr();
    let line = if stderr.is_terminal() { escaped(line.as_bytes()) } else { line };
    // A closed standard error cannot be reported.
    drop(writeln!(stderr, "{line}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_means_one_thing() {
        for (at, (exit, code, _)) in TABLE.iter().enumerate() {
            let same = TABLE.iter().filter(|(other, number, _)| other == exit || number == code);
            assert_eq!(same.count(), 1, "row {at}");
        }
    }

    #[test]
    fn a_usage_error_has_its_own_exit_code() {
        assert_eq!(after(&Usage("no such thing".into()).into()), Exit::Usage);
        assert_eq!(after(&anyhow::anyhow!("no answer")), Exit::Error);
        assert_eq!(after(&ClosedPipe.into()), Exit::Done);
    }

    #[test]
    fn the_code_is_found_however_deep_the_error() {
        let lost = || EngineError::Unknown("no answer".into());
        assert_eq!(code(&anyhow::Error::from(lost()).context("while waiting")), Some(Code::OutcomeUnknown));
        assert_eq!(code(&ff_sdk::Error::Engine(lost()).into()), Some(Code::OutcomeUnknown));
        assert_eq!(code(&anyhow::anyhow!("no such file")), None);
    }
}
