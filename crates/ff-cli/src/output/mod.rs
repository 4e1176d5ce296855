//! Standard output: the requested data and nothing else.

pub(crate) mod screen;
mod table;

use std::fmt;
use std::io::{self, ErrorKind, IsTerminal, Write};

use anyhow::Context;
use serde::Serialize;
pub(crate) use table::{Table, or_dash, printable};

/// The error for a pipe that its reader has closed, as `head` does once it has its lines. The command has not failed.
#[derive(Debug, thiserror::Error)]
#[error("the reader of the output has gone")]
pub(crate) struct ClosedPipe;

/// Returns true if standard output is a terminal.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Writes text and ends its line.
pub(crate) fn line(text: impl fmt::Display) -> anyhow::Result<()> {
    let text = format!("{text}\n");
    if is_terminal() { write(escaped(text.as_bytes()).as_bytes()) } else { write(text.as_bytes()) }
}

/// Writes a line as it is. The text is already escaped, and may contain colours.
pub(crate) fn styled(line: String) -> anyhow::Result<()> {
    write(format!("{line}\n").as_bytes())
}

/// Writes bytes exactly as they are. On a terminal, control characters are escaped and a last line break is added.
pub(crate) fn bytes(bytes: &[u8]) -> anyhow::Result<()> {
    if !is_terminal() {
        return write(bytes);
    }
    write(escaped(bytes).as_bytes())?;
    if bytes.is_empty() || bytes.ends_with(b"\n") { Ok(()) } else { write(b"\n") }
}

/// Writes bytes as they come, and nothing after them. On a terminal, control characters are escaped.
pub(crate) fn raw(bytes: &[u8]) -> anyhow::Result<()> {
    if is_terminal() { write(escaped(bytes).as_bytes()) } else { write(bytes) }
}

/// Writes one JSON document: indented on a terminal, otherwise on one line.
pub(crate) fn json(document: &impl Serialize) -> anyhow::Result<()> {
    if !is_terminal() {
        return line(serde_json::to_string(document).context("cannot write JSON")?);
    }
    let text = serde_json::to_string_pretty(document).context("cannot write JSON")?;
    line(escaped_json(&text))
}

/// Returns true if a terminal would interpret a character: a control character, or one that changes the order of the
/// text after it.
pub(crate) fn is_terminal_control(character: char) -> bool {
    let reorders =
        matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || reorders
}

/// Makes bytes safe for a terminal: escapes invalid UTF-8 and all characters that a terminal would interpret, except
/// line breaks and tabs.
pub(crate) fn escaped(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\n' | '\t' => shown.push(character),
                character if is_terminal_control(character) => shown.extend(character.escape_default()),
                character => shown.push(character),
            }
        }
        shown.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    shown
}

/// Escapes the characters that a terminal would interpret. Except for line breaks they occur only in strings, so the
/// JSON keeps its meaning.
fn escaped_json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => shown.push(character),
            character if is_terminal_control(character) => shown.push_str(&format!("\\u{:04x}", u32::from(character))),
            character => shown.push(character),
        }
    }
    shown
}

fn write(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(ClosedPipe.into()),
        written => written.context("cannot write to standard output"),
    }
}

/// Formats a count and its noun: 1 byte, 2 bytes.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_of_one_is_singular() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "edge")), ["0 edges", "1 edge", "2 edges"]);
    }

    #[test]
    fn control_characters_in_output_are_escaped() {
        assert_eq!(escaped("a\x1b[2Jb\u{9b}c\r".as_bytes()), "a\\u{1b}[2Jb\\u{9b}c\\r");
        assert_eq!(escaped("pay \u{202e}001\u{2066}".as_bytes()), "pay \\u{202e}001\\u{2066}");
        assert_eq!(escaped("first\n\tZoë, 東京, שלום".as_bytes()), "first\n\tZoë, 東京, שלום");
        assert_eq!(escaped(b"\xff\x00\xc3"), "\\xff\\u{0}\\xc3");
    }

    #[test]
    fn json_for_a_terminal_means_the_same() {
        let text = serde_json::to_string_pretty(&["\x1b[2J \u{202e} \u{9b} \u{7f} Zoë"]).unwrap();
        let shown = escaped_json(&text);
        assert!(!shown.chars().any(|character| character != '\n' && is_terminal_control(character)), "{shown}");
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(read(&shown), read(&text));
    }
}
