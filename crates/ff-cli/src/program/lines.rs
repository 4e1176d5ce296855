//! The output of a program, streamed line by line while it runs.

use std::mem::take;

use ff_core::limits;
use ff_core::types::FrameType;
use ff_sdk::{Context, Fault};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Streams the standard output of a program, with a frame for each line including its line break. Returns the last line
/// without its line break. A line larger than a frame becomes several frames.
pub(super) async fn stream_lines(work: &Context, stdout: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, Fault> {
    let Some(mut stdout) = stdout else { return Ok(Vec::new()) };
    let mut lines = Lines::default();
    let mut chunk = vec![0; limits::FRAME_BYTES];
    loop {
        let read = stdout.read(&mut chunk).await.map_err(|error| super::broken("cannot read from it", &error))?;
        for frame in if read == 0 { lines.remainder() } else { lines.push(&chunk[..read]) } {
            let frame_type = if str::from_utf8(&frame).is_ok() { FrameType::text() } else { FrameType::bytes() };
            let result = work.stream("out").frame(frame_type, frame).await;
            result.map_err(|error| Fault::retryable("output", error.to_string()))?;
        }
        if read == 0 {
            return lines.result();
        }
    }
}

/// A buffer that splits chunks of output into lines.
#[derive(Default)]
struct Lines {
    /// The part of the current line that is in no frame yet.
    begun: Vec<u8>,
    /// The last line so far, cut once it is too large for a result.
    last: Vec<u8>,
    /// Whether the last line has its line break.
    is_over: bool,
}

impl Lines {
    /// Adds bytes, and returns the frames that are complete.
    fn push(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if take(&mut self.is_over) {
                self.last.clear();
            }
            if self.last.len() <= limits::PAYLOAD_BYTES {
                self.last.extend_from_slice(piece);
            }
            self.begun.extend_from_slice(piece);
            self.is_over = piece.ends_with(b"\n");
            while self.begun.len() > limits::FRAME_BYTES {
                let rest = self.begun.split_off(limits::FRAME_BYTES);
                frames.push(std::mem::replace(&mut self.begun, rest));
            }
            if self.is_over {
                frames.push(take(&mut self.begun));
            }
        }
        frames
    }

    /// Returns the frame of a last line without a line break, if there is one.
    fn remainder(&mut self) -> Vec<Vec<u8>> {
        Some(take(&mut self.begun)).filter(|rest| !rest.is_empty()).into_iter().collect()
    }

    /// Returns the last line as the result of the program.
    fn result(mut self) -> Result<Vec<u8>, Fault> {
        if self.last.ends_with(b"\n") {
            self.last.pop();
        }
        let most = limits::PAYLOAD_BYTES;
        if self.last.len() > most {
            let wrong = format!("the last line is larger than the {most} bytes of a result");
            return Err(Fault::permanent("invalid_result", wrong));
        }
        Ok(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(chunks: &[&[u8]]) -> (Vec<Vec<u8>>, Vec<u8>) {
        let mut lines = Lines::default();
        let mut frames: Vec<_> = chunks.iter().flat_map(|chunk| lines.push(chunk)).collect();
        frames.extend(lines.remainder());
        (frames, lines.result().unwrap())
    }

    #[test]
    fn each_line_is_a_frame_and_the_last_is_the_result() {
        for chunks in [&[&b"a\nbc\nd"[..]][..], &[b"a", b"\nb", b"c\n", b"d"]] {
            assert_eq!(split(chunks), (vec![b"a\n".to_vec(), b"bc\n".to_vec(), b"d".to_vec()], b"d".to_vec()));
        }
        assert_eq!(split(&[b"a\nb\n"]).1, b"b");
        assert_eq!(split(&[b"a\n\n"]).1, b"");
        assert_eq!(split(&[]), (vec![], vec![]));
    }

    #[test]
    fn a_line_larger_than_a_frame_goes_into_several() {
        let long = vec![b'x'; 2 * limits::FRAME_BYTES + 3];
        let (frames, last) = split(&[&long, b"\n"]);
        assert_eq!(frames.iter().map(Vec::len).collect::<Vec<_>>(), [limits::FRAME_BYTES, limits::FRAME_BYTES, 4]);
        assert_eq!(last, long);
    }
}
