//! Streams on the wire: frames to append, and items for readers.

mod token;

use ff_core::contracts::{self, AppendFramesArgs};
use ff_core::engine_error::Refusal;
use ff_core::execution::{AttemptOutcome, Outcome};
use ff_core::lease::Fence;
use ff_core::stream::{Frame, StoredFrame, StreamCursor, StreamMode};
use ff_core::types::{AttemptId, AttemptIndex, Channel, ExecutionId, FrameType, LeaseEpoch, LeaseId, TimestampMs};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::Base64;
use crate::content::present;
use crate::lease::holder::{holder_calls, with_fence};
use crate::object::{answers, requests};
use crate::query::{Limit, WaitMs, query};

pub use token::{MakeStreamToken, StreamTokenReply};

requests! {
    /// A frame of output: exactly one of `text`, `json` and `base64`.
    #[derive(Clone)]
    pub struct NewFrame {
        /// Output channel of the attempt (default: `out`).
        pub channel: Option<Channel>,
        /// `text`, `json`, `bytes`, `patch` or a custom name. Default: `text` for `text`, `json` for `json`, `bytes` for
        /// `base64`.
        #[serde(rename = "type")]
        pub frame_type: Option<FrameType>,
        pub text: Option<String>,
        #[serde(deserialize_with = "present")]
        pub json: Option<Box<RawValue>>,
        pub base64: Option<Base64>,
    }
}

impl NewFrame {
    /// Makes the request form of a frame, which keeps every byte.
    pub fn of(frame: &Frame) -> Self {
        let content = FrameContent::of(frame);
        let channel = (!frame.channel.is_default()).then(|| frame.channel.clone());
        let frame_type = Some(frame.frame_type.clone());
        Self { channel, frame_type, text: content.text, json: content.json, base64: content.base64 }
    }

    /// Returns the frame. `field` is its path in the request.
    pub fn into_frame(self, field: &str) -> Result<Frame, Refusal> {
        let (bytes, implied) = match (self.text, self.json, self.base64) {
            (Some(text), None, None) => (text.into(), FrameType::text()),
            (None, Some(json), None) => (String::from(Box::<str>::from(json)).into(), FrameType::json()),
            (None, None, Some(base64)) => (base64.0, FrameType::bytes()),
            _ => return Err(Refusal::invalid(field, "must have exactly one of text, json and base64")),
        };
        let channel = self.channel.unwrap_or_else(Channel::default_name);
        Ok(Frame { channel, frame_type: self.frame_type.unwrap_or(implied), bytes })
    }
}

/// The bytes of a frame in one of three fields: the most readable one that keeps every byte.
#[derive(Default)]
struct FrameContent {
    text: Option<String>,
    json: Option<Box<RawValue>>,
    base64: Option<Base64>,
}

impl FrameContent {
    fn of(frame: &Frame) -> Self {
        let text = std::str::from_utf8(&frame.bytes).ok();
        match (frame.frame_type.as_str(), text) {
            (FrameType::TEXT, Some(text)) if is_short_as_json(text) => {
                Self { text: Some(text.to_owned()), ..Self::default() }
            }
            // Space around a JSON value would be lost, and a line break would split a server-sent event.
            (FrameType::JSON | FrameType::PATCH, Some(text)) if text.trim() == text && !text.contains(['\n', '\r']) => {
                match RawValue::from_string(text.to_owned()) {
                    Ok(json) => Self { json: Some(json), ..Self::default() },
                    Err(_) => Self::exactly(frame),
                }
            }
            _ => Self::exactly(frame),
        }
    }

    fn exactly(frame: &Frame) -> Self {
        Self { base64: Some(Base64(frame.bytes.clone())), ..Self::default() }
    }
}

/// Returns whether a text as a JSON string is at most slightly longer than as base64. A control character takes six bytes.
fn is_short_as_json(text: &str) -> bool {
    let escaped: usize = text.bytes().filter(|byte| *byte < b' ').count() * 5
        + text.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    escaped <= text.len() / 3 + 8
}

holder_calls! {
    /// Appends frames to the stream of the attempt, all or none.
    pub struct AppendFrames {
        /// Number of the first of these frames; makes the call safe to repeat. Without it, frames go to the end.
        pub from: Option<u64>,
        /// Which frames are kept, set by the first call (default: `durable`).
        pub mode: Option<StreamMode>,
        /// Maximum number of frames a durable stream keeps, set by the first call; unlimited when absent.
        pub max_frames: Option<u64>,
        /// Maximum bytes of frames a durable stream keeps, set by the first call; unlimited when absent.
        pub max_bytes: Option<u64>,
        pub frames: Vec<NewFrame>,
    }
}

impl AppendFrames {
    /// Makes the body of the call.
    pub fn of(args: AppendFramesArgs) -> Self {
        let frames = args.frames.iter().map(NewFrame::of).collect();
        with_fence!(
            AppendFrames, args.fence,
            from: args.from,
            mode: args.mode,
            max_frames: args.max_frames,
            max_bytes: args.max_bytes,
            frames: frames
        )
    }

    /// Returns the arguments of the call about this execution.
    pub fn into_args(self, execution_id: ExecutionId) -> Result<AppendFramesArgs, Refusal> {
        let fence = self.fence()?;
        let frame = |(nth, frame): (usize, NewFrame)| frame.into_frame(&format!("frames[{nth}]"));
        let frames = self.frames.into_iter().enumerate().map(frame).collect::<Result<_, _>>()?;
        let (from, mode, max_frames, max_bytes) = (self.from, self.mode, self.max_frames, self.max_bytes);
        Ok(AppendFramesArgs { execution_id, fence, from, mode, max_frames, max_bytes, frames })
    }
}

answers! {
    /// One page of a stream.
    pub struct StreamPage {
        pub items: Vec<StreamItem>,
        /// Cursor of the next request.
        pub next: StreamCursor,
        /// True when the stream has ended.
        pub ended: bool,
        /// How the execution ended; present once everything was read.
        pub outcome: Option<Outcome>,
    }
}

/// Kind of a stream item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// A frame: `seq`, `at`, `channel`, `type`, and one of `text`, `json` and `base64`.
    Frame,
    /// The document of a stream of mode `summary`: `version` and `document`.
    Summary,
    /// Frames that were not kept: from number `from` up to `to`.
    Trimmed,
    /// The attempt has ended: `frames` is how many there were, `at` when, `outcome` how.
    Closed,
    /// Attempt `by` superseded the attempt: its output no longer counts.
    Superseded,
}

impl ItemKind {
    /// Returns its name in server-sent events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Summary => "summary",
            Self::Trimmed => "trimmed",
            Self::Closed => "closed",
            Self::Superseded => "superseded",
        }
    }
}

macro_rules! stream_item {
    ($($(#[$attribute:meta])* $field:ident: $type:ty,)*) => {
        /// An item of a stream: its kind, its attempt, and the fields of the kind.
        #[derive(Serialize, Deserialize, schemars::JsonSchema)]
        pub struct StreamItem {
            pub item: ItemKind,
            pub attempt: AttemptIndex,
            $(#[serde(default, skip_serializing_if = "Option::is_none")] $(#[$attribute])* pub $field: Option<$type>,)*
        }

        impl StreamItem {
            fn new(item: ItemKind, attempt: AttemptIndex) -> Self {
                Self { item, attempt, $($field: None,)* }
            }
        }
    };
}

stream_item! {
    seq: u64,
    at: TimestampMs,
    channel: Channel,
    #[serde(rename = "type")]
    frame_type: FrameType,
    text: String,
    #[serde(deserialize_with = "present")]
    json: Box<RawValue>,
    base64: Base64,
    version: u64,
    document: Box<RawValue>,
    from: u64,
    to: u64,
    frames: u64,
    outcome: AttemptOutcome,
    by: AttemptIndex,
}

impl From<contracts::StreamItem> for StreamItem {
    fn from(item: contracts::StreamItem) -> Self {
        match item {
            contracts::StreamItem::Frame { attempt, stored: StoredFrame { seq, at, frame } } => {
                let content = FrameContent::of(&frame);
                Self {
                    seq: Some(seq),
                    at: Some(at),
                    channel: Some(frame.channel),
                    frame_type: Some(frame.frame_type),
                    text: content.text,
                    json: content.json,
                    base64: content.base64,
                    ..Self::new(ItemKind::Frame, attempt)
                }
            }
            contracts::StreamItem::Summary { attempt, version, document } => Self {
                version: Some(version),
                document: RawValue::from_string(document).ok(),
                ..Self::new(ItemKind::Summary, attempt)
            },
            contracts::StreamItem::Trimmed { attempt, from, to } => {
                Self { from: Some(from), to: Some(to), ..Self::new(ItemKind::Trimmed, attempt) }
            }
            contracts::StreamItem::Closed { attempt, frames, at, outcome } => Self {
                frames: Some(frames),
                at: Some(at),
                outcome: Some(outcome),
                ..Self::new(ItemKind::Closed, attempt)
            },
            contracts::StreamItem::Superseded { attempt, by } => {
                Self { by: Some(by), ..Self::new(ItemKind::Superseded, attempt) }
            }
        }
    }
}

impl StreamItem {
    fn into_item(self) -> Result<contracts::StreamItem, Refusal> {
        fn required<T>(field: &str, value: Option<T>) -> Result<T, Refusal> {
            value.ok_or_else(|| Refusal::invalid(field, "is required"))
        }
        let attempt = self.attempt;
        Ok(match self.item {
            ItemKind::Frame => {
                let (seq, at) = (required("seq", self.seq)?, required("at", self.at)?);
                let (text, json, base64) = (self.text, self.json, self.base64);
                let frame = NewFrame { channel: self.channel, frame_type: self.frame_type, text, json, base64 };
                let frame = frame.into_frame("items")?;
                contracts::StreamItem::Frame { attempt, stored: StoredFrame { seq, at, frame } }
            }
            ItemKind::Summary => {
                let document = String::from(Box::<str>::from(required("document", self.document)?));
                contracts::StreamItem::Summary { attempt, version: required("version", self.version)?, document }
            }
            ItemKind::Trimmed => contracts::StreamItem::Trimmed {
                attempt,
                from: required("from", self.from)?,
                to: required("to", self.to)?,
            },
            ItemKind::Closed => contracts::StreamItem::Closed {
                attempt,
                frames: required("frames", self.frames)?,
                at: required("at", self.at)?,
                outcome: required("outcome", self.outcome)?,
            },
            ItemKind::Superseded => contracts::StreamItem::Superseded { attempt, by: required("by", self.by)? },
        })
    }
}

impl From<contracts::StreamPage> for StreamPage {
    fn from(page: contracts::StreamPage) -> Self {
        let items = page.items.into_iter().map(Into::into).collect();
        Self { items, next: page.next, ended: page.ended, outcome: page.outcome }
    }
}

impl StreamPage {
    /// Returns the page. Refuses an item with a missing field.
    pub fn into_page(self) -> Result<contracts::StreamPage, Refusal> {
        let items = self.items.into_iter().map(StreamItem::into_item).collect::<Result<_, _>>()?;
        Ok(contracts::StreamPage { items, next: self.next, ended: self.ended, outcome: self.outcome })
    }
}

query! {
    /// Parameters of a read of a stream.
    StreamQuery {
        /// Only this attempt.
        attempt: AttemptIndex,
        /// Cursor from the previous page, or the number of a frame.
        from: String,
        /// Maximum number of results.
        limit: Limit,
        /// Maximum time to wait when there is nothing to return yet.
        wait_ms: WaitMs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(frame_type: &str, bytes: &[u8]) -> Frame {
        Frame::new(FrameType::parse(frame_type).unwrap(), bytes.to_vec())
    }

    #[test]
    fn every_frame_comes_back_byte_for_byte() {
        let every_byte: Vec<u8> = (0..=255).collect();
        for (frame_type, bytes) in [
            ("text", "ä \"quoted\"\n\u{1}".as_bytes()),
            ("text", &[1; 100]),
            ("json", br#"{"a": 1.10}"#),
            ("json", b" [1]\n"),
            ("json", b"[1,\n2]"),
            ("patch", br#"{"a":null}"#),
            ("bytes", &every_byte),
            ("x.own", &every_byte),
            ("bytes", b""),
        ] {
            let frame = Frame { channel: Channel::parse("err").unwrap(), ..frame(frame_type, bytes) };
            let text = serde_json::to_string(&NewFrame::of(&frame)).unwrap();
            let back: NewFrame = serde_json::from_str(&text).unwrap();
            assert_eq!(back.into_frame("frames[0]").unwrap(), frame, "{text}");
            let stored = StoredFrame { seq: 7, at: TimestampMs(9), frame };
            let item = contracts::StreamItem::Frame { attempt: AttemptIndex(1), stored };
            let text = serde_json::to_string(&StreamItem::from(item.clone())).unwrap();
            assert!(!text.contains('\n'), "{text}");
            let back: StreamItem = serde_json::from_str(&text).unwrap();
            assert_eq!(back.into_item().unwrap(), item, "{text}");
        }
    }

    #[test]
    fn stream_items_survive_a_round_trip() {
        let attempt = AttemptIndex(1);
        for item in [
            contracts::StreamItem::Summary { attempt, version: 3, document: r#"{"a":1.10}"#.into() },
            contracts::StreamItem::Trimmed { attempt, from: 0, to: 9 },
            contracts::StreamItem::Closed {
                attempt,
                frames: 9,
                at: TimestampMs(1),
                outcome: AttemptOutcome::LeaseExpired,
            },
            contracts::StreamItem::Superseded { attempt, by: AttemptIndex(2) },
        ] {
            let text = serde_json::to_string(&StreamItem::from(item.clone())).unwrap();
            let back: StreamItem = serde_json::from_str(&text).unwrap();
            assert_eq!(back.into_item().unwrap(), item, "{text}");
        }
    }

    #[test]
    fn a_frame_says_its_bytes_once() {
        for text in [r"{}", r#"{"text":"a","json":1}"#, r#"{"json":1,"base64":"AA=="}"#] {
            let frame: NewFrame = serde_json::from_str(text).unwrap();
            assert_eq!(frame.into_frame("frames[3]").unwrap_err().field.as_deref(), Some("frames[3]"));
        }
        let frame: NewFrame = serde_json::from_str(r#"{"type":"patch","json":{"a":null}}"#).unwrap();
        assert_eq!(frame.into_frame("").unwrap(), self::frame("patch", br#"{"a":null}"#));
        let frame: NewFrame = serde_json::from_str(r#"{"json":null}"#).unwrap();
        assert_eq!(frame.into_frame("").unwrap(), self::frame("json", b"null"));
    }
}
