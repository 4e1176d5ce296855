//! The stored form of a stream: its record, and the frames that are kept.

use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::merge;
use crate::engine_error::{Code, Refusal, check_limit};
use crate::limits;
use crate::types::{AttemptIndex, Channel, FrameType, TimestampMs};

/// The retention mode of a stream. The first frame decides it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", try_from = "String")]
pub enum StreamMode {
    /// Keeps every frame or, if the stream sets a limit, the last `max_frames` frames or `max_bytes` bytes.
    #[default]
    Durable,
    /// Keeps a JSON document, which frames of type `patch` change, and the last of these patches.
    Summary,
    /// Keeps the last 1000 frames.
    BestEffort,
}

impl StreamMode {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Durable => "durable",
            Self::Summary => "summary",
            Self::BestEffort => "best_effort",
        }
    }
}

impl fmt::Display for StreamMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for StreamMode {
    type Err = &'static str;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let modes = [Self::Durable, Self::Summary, Self::BestEffort];
        modes.into_iter().find(|mode| mode.as_str() == word).ok_or("must be durable, summary or best_effort")
    }
}

impl TryFrom<String> for StreamMode {
    type Error = &'static str;

    fn try_from(word: String) -> Result<Self, Self::Error> {
        word.parse()
    }
}

/// A piece of an attempt's output.
#[derive(Clone, PartialEq, Eq)]
pub struct Frame {
    /// The channel to which the frame belongs. All channels share one sequence.
    pub channel: Channel,
    pub frame_type: FrameType,
    pub bytes: Bytes,
}

impl Frame {
    pub fn new(frame_type: FrameType, bytes: impl Into<Bytes>) -> Self {
        Self { channel: Channel::default_name(), frame_type, bytes: bytes.into() }
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::new(FrameType::text(), text.into())
    }

    /// Refuses bytes that do not fit the frame's type, or too many of them.
    pub fn check(&self, field: &str) -> Result<(), Refusal> {
        check_limit(Code::RetentionLimitExceeded, field, limits::FRAME_BYTES, self.bytes.len())?;
        let wrong = match self.frame_type.as_str() {
            FrameType::TEXT => std::str::from_utf8(&self.bytes).err().map(|error| format!("must be UTF-8: {error}")),
            FrameType::JSON => {
                let read = serde_json::from_slice::<serde::de::IgnoredAny>(&self.bytes);
                read.err().map(|error| format!("must be JSON: {error}"))
            }
            // Parsing the whole value limits its depth.
            FrameType::PATCH => match serde_json::from_slice::<serde_json::Value>(&self.bytes) {
                Ok(patch) => (!patch.is_object()).then(|| "must be a JSON object, a merge patch".to_owned()),
                Err(error) => Some(format!("must be JSON: {error}")),
            },
            _ => None,
        };
        wrong.map_or(Ok(()), |wrong| Err(Refusal::invalid(field, wrong)))
    }
}

/// Shows the size, never the bytes: output does not belong in logs.
impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of {} on {}", self.bytes.len(), self.frame_type, self.channel)
    }
}

/// A frame with its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFrame {
    pub seq: u64,
    pub at: TimestampMs,
    pub frame: Frame,
}

/// Consecutive frames that are trimmed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameGroup {
    pub first: u64,
    pub bytes: u64,
}

/// The stream of one attempt. It exists from the first frame on. The attempt determines whether it is closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamRecord {
    pub mode: StreamMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_frames: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
    /// Number of the first frame that is kept; earlier frames were trimmed.
    pub first: u64,
    /// Number of the next frame, which is the number of frames so far. In mode `summary`, it is the document's version.
    pub next: u64,
    /// Bytes of all frames so far, including trimmed ones.
    pub bytes: u64,
    pub opened_at: TimestampMs,
    pub appended_at: TimestampMs,
    /// The frames that are kept, in groups, if `max_bytes` limits them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<FrameGroup>,
    /// The document as JSON text, in mode `summary`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// The write to a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamWrite {
    pub attempt: AttemptIndex,
    pub after: StreamRecord,
    /// Frames to add, in order.
    pub frames: Vec<StoredFrame>,
    /// Numbers of the stored frames to remove.
    pub trimmed: Range<u64>,
}

/// Approximate number of groups in a stream that is limited in bytes. Such a stream is trimmed one group at a time.
const GROUPS: u64 = 16;

impl StreamRecord {
    /// Creates a stream without frames.
    pub fn new(mode: StreamMode, max_frames: Option<u64>, max_bytes: Option<u64>, now: TimestampMs) -> Self {
        let (first, next, bytes, groups, summary) = (0, 0, 0, Vec::new(), None);
        Self { mode, max_frames, max_bytes, first, next, bytes, opened_at: now, appended_at: now, groups, summary }
    }

    /// Adds frames, and trims old frames that exceed the limits.
    pub(crate) fn append(&mut self, frames: &[Frame], now: TimestampMs) -> Result<Vec<StoredFrame>, Refusal> {
        let stored =
            frames.iter().zip(self.next..).map(|(frame, seq)| StoredFrame { seq, at: now, frame: frame.clone() });
        let mut stored: Vec<_> = stored.collect();
        self.summarise(frames)?;
        for added in &stored {
            let bytes = added.frame.bytes.len() as u64;
            self.bytes += bytes;
            self.next = added.seq + 1;
            self.group(added.seq, bytes);
        }
        self.appended_at = now;
        self.trim();
        stored.retain(|added| added.seq >= self.first);
        Ok(stored)
    }

    fn summarise(&mut self, frames: &[Frame]) -> Result<(), Refusal> {
        if self.mode != StreamMode::Summary {
            return Ok(());
        }
        let document = summarise(self.summary.as_deref(), frames)?;
        self.summary = Some(document);
        Ok(())
    }

    fn group(&mut self, seq: u64, bytes: u64) {
        let Some(most) = self.max_bytes else { return };
        match self.groups.last_mut() {
            Some(group) if group.bytes < most / GROUPS => group.bytes += bytes,
            _ => self.groups.push(FrameGroup { first: seq, bytes }),
        }
    }

    fn trim(&mut self) {
        let frame_limit = match self.mode {
            StreamMode::Durable => self.max_frames,
            StreamMode::Summary => Some(limits::SUMMARY_PATCHES),
            StreamMode::BestEffort => Some(limits::BEST_EFFORT_FRAMES),
        };
        let mut first = self.first.max(frame_limit.map_or(0, |frame_limit| self.next.saturating_sub(frame_limit)));
        let mut held: u64 = self.groups.iter().map(|group| group.bytes).sum();
        let mut gone = 0;
        for two in self.groups.windows(2) {
            let is_over = self.max_bytes.is_some_and(|most| held > most);
            if !is_over && two[1].first > first {
                break;
            }
            held -= two[0].bytes;
            first = first.max(two[1].first);
            gone += 1;
        }
        self.groups.drain(..gone);
        self.first = first;
    }
}

/// Returns a document after several patches.
pub fn summarise(document: Option<&str>, patches: &[Frame]) -> Result<String, Refusal> {
    let corrupt = |error: serde_json::Error| Code::Corruption.refusal().because(format!("the summary: {error}"));
    let mut document = document.map(serde_json::from_str::<Box<RawValue>>).transpose().map_err(corrupt)?;
    for patch in patches {
        let patch =
            serde_json::from_slice::<&RawValue>(&patch.bytes).map_err(|error| Refusal::invalid("frames", error))?;
        document = Some(merge(document.as_deref(), patch).map_err(|error| Refusal::invalid("frames", error))?);
    }
    let document = document.map_or_else(|| "{}".to_owned(), |document| document.get().to_owned());
    check_limit(Code::RetentionLimitExceeded, "summary", limits::SUMMARY_BYTES, document.len())?;
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::samples::at;

    fn frames(count: usize, bytes: usize) -> Vec<Frame> {
        vec![Frame::text("x".repeat(bytes)); count]
    }

    #[test]
    fn the_last_frames_are_kept() {
        let mut stream = StreamRecord::new(StreamMode::Durable, Some(3), None, at(0));
        assert_eq!(stream.append(&frames(2, 1), at(1)).unwrap().len(), 2);
        let added = stream.append(&frames(5, 1), at(2)).unwrap();
        assert_eq!(added.iter().map(|frame| frame.seq).collect::<Vec<_>>(), [4, 5, 6]);
        assert_eq!((stream.first, stream.next, stream.bytes), (4, 7, 7));
    }

    #[test]
    fn a_stream_bounded_in_bytes_holds_no_more_and_trims_whole_groups() {
        let most = limits::STREAM_MIN_BYTES;
        let mut stream = StreamRecord::new(StreamMode::Durable, None, Some(most), at(0));
        for bytes in [100, limits::FRAME_BYTES, 1_000, 1, limits::FRAME_BYTES, 5_000] {
            for _ in 0..40 {
                stream.append(&frames(7, bytes), at(1)).unwrap();
                let held: u64 = stream.groups.iter().map(|group| group.bytes).sum();
                assert!(held <= most, "{held}");
                assert_eq!(stream.groups[0].first, stream.first);
                assert!(stream.groups.len() as u64 <= GROUPS + 1);
                assert!(stream.first < stream.next, "the newest frame is kept");
            }
        }
    }

    #[test]
    fn both_bounds_hold_at_once() {
        let mut stream = StreamRecord::new(StreamMode::Durable, Some(10), Some(limits::STREAM_MIN_BYTES), at(0));
        for _ in 0..50 {
            stream.append(&frames(3, 4_000), at(1)).unwrap();
            assert!(stream.next - stream.first <= 10);
            assert!(stream.groups[0].first <= stream.first);
        }
    }

    #[test]
    fn a_summary_is_the_document_after_all_patches() {
        let mut stream = StreamRecord::new(StreamMode::Summary, None, None, at(0));
        let patch = |text: &'static str| Frame::new(FrameType::patch(), text);
        stream.append(&[patch(r#"{"a":1,"b":2}"#), patch(r#"{"b":null}"#)], at(1)).unwrap();
        stream.append(&[patch(r#"{"c":[]}"#)], at(2)).unwrap();
        assert_eq!((stream.summary.as_deref(), stream.next), (Some(r#"{"a":1,"c":[]}"#), 3));
        let large = format!(r#"{{"d":"{}"}}"#, "x".repeat(limits::FRAME_BYTES - 8));
        let large = Frame::new(FrameType::patch(), large);
        let names = ["e", "f", "g", "h"].map(|name| Frame {
            bytes: String::from_utf8(large.bytes.to_vec()).unwrap().replacen('d', name, 1).into(),
            ..large.clone()
        });
        let refusal = stream.append(&names, at(3)).unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::RetentionLimitExceeded, Some("summary")));
    }

    #[test]
    fn a_record_survives_being_written_and_read() {
        let mut stream = StreamRecord::new(StreamMode::Durable, Some(9), Some(limits::STREAM_MIN_BYTES), at(0));
        stream.append(&frames(20, 10_000), at(1)).unwrap();
        let text = serde_json::to_string(&stream).unwrap();
        assert_eq!(serde_json::from_str::<StreamRecord>(&text).unwrap(), stream);
    }
}
