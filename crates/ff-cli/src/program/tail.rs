//! The standard error of a program: copied to that of the worker, with the last lines kept for the failure message.

use ff_sdk::Fault;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

/// Number of bytes kept of the end. A failure message has room for them and for the text around them.
const KEPT_BYTES: usize = 4 * 1024;

/// Copies the standard error of a program to that of this process until it ends. Returns its last whole lines.
pub(super) async fn follow(stderr: Option<impl AsyncRead + Unpin>) -> Result<String, Fault> {
    let Some(mut stderr) = stderr else { return Ok(String::new()) };
    let mut ours = tokio::io::stderr();
    let mut tail = Tail::default();
    let mut chunk = vec![0; KEPT_BYTES];
    loop {
        let read = stderr.read(&mut chunk).await.map_err(|error| super::broken("cannot read its errors", &error))?;
        if read == 0 {
            return Ok(tail.text());
        }
        tail.push(&chunk[..read]);
        let passed_on = async { ours.write_all(&chunk[..read]).await.and(ours.flush().await) };
        if let Err(error) = passed_on.await {
            tracing::debug!(%error, "standard error is closed");
        }
    }
}

/// The last bytes of a text.
#[derive(Default)]
struct Tail {
    bytes: Vec<u8>,
    cut: bool,
}

impl Tail {
    fn push(&mut self, more: &[u8]) {
        self.bytes.extend_from_slice(more);
        let surplus = self.bytes.len().saturating_sub(KEPT_BYTES);
        if surplus > 0 {
            self.bytes.drain(..surplus);
            self.cut = true;
        }
    }

    /// Returns the whole lines, or the end of a line if no line is whole.
    #[allow(clippy::disallowed_methods, reason = "a message for people, not a payload")]
    fn text(&self) -> String {
        let first_whole = self.bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let from = if self.cut && first_whole < self.bytes.len() { first_whole } else { 0 };
        String::from_utf8_lossy(&self.bytes[from..]).trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(chunks: &[&[u8]]) -> String {
        let mut tail = Tail::default();
        chunks.iter().for_each(|chunk| tail.push(chunk));
        tail.text()
    }

    #[test]
    fn a_short_complaint_is_kept_whole() {
        assert_eq!(tail(&[b"one\n", b"two", b" more\n"]), "one\ntwo more");
        assert_eq!(tail(&[]), "");
        assert_eq!(tail(&[b"\xff broken"]), "\u{fffd} broken");
    }

    #[test]
    fn of_a_long_one_the_last_whole_lines_are_kept() {
        let lines: Vec<u8> = (0..2_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        let text = tail(&[&lines]);
        assert!(text.starts_with("line 1") && text.ends_with("line 1999") && text.len() <= KEPT_BYTES, "{text}");
    }

    #[test]
    fn a_line_without_an_end_is_cut() {
        assert_eq!(tail(&[&[b'x'; 3 * KEPT_BYTES]]).len(), KEPT_BYTES);
    }
}
