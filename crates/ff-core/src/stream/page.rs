//! Pages of the output of an attempt, or of an execution across all its attempts. Stores supply the records; the page
//! is built here for all of them.

use super::contracts::ReadStreamArgs;
use super::{StoredFrame, StreamCursor, StreamParts, StreamRecord};
use crate::engine_error::{Code, Refusal};
use crate::execution::{AttemptOutcome, Outcome};
use crate::limits;
use crate::types::{AttemptIndex, TimestampMs};

/// One page of output for a reader.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamPage {
    pub items: Vec<StreamItem>,
    /// Cursor of the next request.
    pub next: StreamCursor,
    /// True when there is no more output: the attempt, or the execution, has ended and everything was read.
    pub ended: bool,
    /// Outcome of the execution, once all of its output was read.
    pub outcome: Option<Outcome>,
}

/// One item of a reader's page.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamItem {
    Frame {
        attempt: AttemptIndex,
        stored: StoredFrame,
    },
    /// The document of a summary, for a reader without a version to which patches apply.
    Summary {
        attempt: AttemptIndex,
        version: u64,
        document: String,
    },
    /// The frames from `from` up to `to`, excluding `to`, were trimmed.
    Trimmed {
        attempt: AttemptIndex,
        from: u64,
        to: u64,
    },
    /// The attempt and its stream have ended, after `frames` frames.
    Closed {
        attempt: AttemptIndex,
        frames: u64,
        at: TimestampMs,
        outcome: AttemptOutcome,
    },
    /// Another attempt has begun. The output of this attempt no longer counts.
    Superseded {
        attempt: AttemptIndex,
        by: AttemptIndex,
    },
}

impl StreamItem {
    /// Returns the cursor from which a reader continues after this item.
    pub fn next(&self, of: &StreamCursor) -> StreamCursor {
        match *self {
            Self::Frame { attempt, ref stored } => of.at(attempt, stored.seq + 1),
            Self::Summary { attempt, version, .. } => of.at(attempt, version),
            Self::Trimmed { attempt, to, .. } => of.at(attempt, to),
            Self::Closed { attempt, frames, .. } => of.at(attempt, frames + 1),
            Self::Superseded { by, .. } => of.at(by, 0),
        }
    }
}

impl StreamPage {
    /// Builds the page for a reader from the parts that a store supplies.
    pub fn of(args: &ReadStreamArgs, parts: StreamParts) -> Result<Self, Refusal> {
        let start = args.start();
        if args.attempt.is_some_and(|attempt| attempt.0 >= parts.attempts_made) {
            let detail = format!("attempt: is {}, and there were {}", start.attempt, parts.attempts_made);
            return Err(Code::StreamNotFound.refusal().because(detail));
        }
        let mut page = Self { items: Vec::new(), next: start, ended: false, outcome: None };
        let end = args.attempts().saturating_add(start.attempt.0 as usize);
        let mut room = Room { items: args.limit, bytes: limits::PAGE_BYTES };
        let mut parts = parts;
        while room.items > 0 && (page.next.attempt.0 as usize) < end {
            let went_on = if page.next.attempt.0 < parts.attempts_made {
                page.tell_attempt(args, &mut parts, &mut room)?
            } else {
                page.tell_end(&parts)?;
                false
            };
            if !went_on {
                break;
            }
        }
        Ok(page)
    }

    /// Adds the items of one attempt, and returns whether the next attempt follows.
    fn tell_attempt(
        &mut self,
        args: &ReadStreamArgs,
        parts: &mut StreamParts,
        room: &mut Room,
    ) -> Result<bool, Refusal> {
        let attempt = self.next.attempt;
        let stream = parts.streams.get(&attempt);
        let frames = stream.map_or(0, |stream| stream.next);
        if let Some(stream) = stream {
            self.catch_up(attempt, stream, room);
        }
        for stored in parts.frames.remove(&attempt).unwrap_or_default() {
            if stored.seq == self.next.seq && room.take(stored.frame.bytes.len()) {
                self.push(StreamItem::Frame { attempt, stored });
            }
        }
        let end = parts.ends.get(&attempt).copied();
        if self.next.seq == frames
            && let Some((at, outcome)) = end
            && room.take(0)
        {
            self.push(StreamItem::Closed { attempt, frames, at, outcome });
        }
        if self.next.seq <= frames {
            return Ok(false);
        } else if self.next.seq > frames + 1 || end.is_none() {
            let detail = format!("is past the end of attempt {attempt}, which has {frames} frames");
            return Err(Code::InvalidCursor.refusal().at("from").because(detail));
        } else if args.attempt.is_some() {
            self.ended = true;
            return Ok(false);
        } else if attempt.0 + 1 == parts.attempts_made {
            self.ended = parts.outcome.is_some();
            self.outcome = parts.outcome;
            return Ok(false);
        }
        let has_room = room.take(0);
        if has_room {
            self.push(StreamItem::Superseded { attempt, by: AttemptIndex(attempt.0 + 1) });
        }
        Ok(has_room)
    }

    /// Moves a reader to the kept frames: with the document of a summary if the reader
    /// has no version of it, or past trimmed frames.
    fn catch_up(&mut self, attempt: AttemptIndex, stream: &StreamRecord, room: &mut Room) {
        let is_behind = self.next.seq < stream.first;
        let document = stream.summary.as_ref().filter(|_| is_behind || self.next.seq == 0);
        if let Some(document) = document {
            if room.take(document.len()) {
                self.push(StreamItem::Summary { attempt, version: stream.next, document: document.clone() });
            }
        } else if is_behind && room.take(0) {
            self.push(StreamItem::Trimmed { attempt, from: self.next.seq, to: stream.first });
        }
    }

    /// Handles a reader at an attempt that has not begun: reports the end of the execution, or refuses a cursor past the end.
    fn tell_end(&mut self, parts: &StreamParts) -> Result<(), Refusal> {
        if self.next.attempt.0 > parts.attempts_made || self.next.seq > 0 {
            let detail = format!("is past the end: there were {} attempts", parts.attempts_made);
            return Err(Code::InvalidCursor.refusal().at("from").because(detail));
        }
        self.ended = parts.outcome.is_some();
        self.outcome = parts.outcome;
        Ok(())
    }

    fn push(&mut self, item: StreamItem) {
        self.next = item.next(&self.next);
        self.items.push(item);
    }
}

/// The remaining space of a page. The first item always fits, however large it is.
struct Room {
    items: usize,
    bytes: usize,
}

impl Room {
    fn take(&mut self, bytes: usize) -> bool {
        if self.items == 0 || self.bytes == 0 {
            return false;
        }
        self.items -= 1;
        self.bytes = self.bytes.saturating_sub(bytes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::samples::{at, waiting};
    use crate::stream::{Frame, StreamMode};
    use crate::types::{ExecutionId, FrameType};

    const A: AttemptIndex = AttemptIndex(0);
    const B: AttemptIndex = AttemptIndex(1);

    fn all(limit: usize) -> ReadStreamArgs {
        ReadStreamArgs { execution_id: waiting().id, attempt: None, from: None, limit }
    }

    fn stored(range: std::ops::Range<u64>) -> Vec<StoredFrame> {
        range.map(|seq| StoredFrame { seq, at: at(seq), frame: Frame::text(seq.to_string()) }).collect()
    }

    fn stream(first: u64, next: u64) -> StreamRecord {
        StreamRecord { first, next, ..StreamRecord::new(StreamMode::Durable, None, None, at(0)) }
    }

    /// Returns a failed attempt with three frames, and a running attempt with two.
    fn retried() -> StreamParts {
        StreamParts {
            attempts_made: 2,
            outcome: None,
            ends: [(A, (at(3), AttemptOutcome::Failure))].into(),
            streams: [(A, stream(0, 3)), (B, stream(0, 2))].into(),
            frames: [(A, stored(0..3)), (B, stored(0..2))].into(),
        }
    }

    /// Returns the parts that a store would supply to a reader at a cursor.
    fn from(cursor: StreamCursor, mut parts: StreamParts) -> StreamParts {
        parts.frames.retain(|attempt, frames| {
            frames.retain(|frame| (*attempt, frame.seq) >= (cursor.attempt, cursor.seq));
            !frames.is_empty()
        });
        parts
    }

    /// Reads all output in pages of one size. Returns all items, and the last page.
    fn read(args: &ReadStreamArgs, parts: &StreamParts) -> (Vec<StreamItem>, StreamPage) {
        let (mut items, mut args) = (Vec::new(), args.clone());
        loop {
            let page = StreamPage::of(&args, from(args.start(), parts.clone())).unwrap();
            items.extend(page.items.clone());
            if page.items.is_empty() {
                return (items, page);
            }
            assert_eq!(page.items.last().unwrap().next(&page.next), page.next);
            args.from = Some(page.next);
        }
    }

    fn numbers(items: &[StreamItem]) -> Vec<String> {
        let number = |item: &StreamItem| match item {
            StreamItem::Frame { attempt, stored } => format!("{attempt}.{}", stored.seq),
            StreamItem::Summary { version, .. } => format!("summary {version}"),
            StreamItem::Trimmed { from, to, .. } => format!("trimmed {from}..{to}"),
            StreamItem::Closed { attempt, .. } => format!("closed {attempt}"),
            StreamItem::Superseded { attempt, by } => format!("{attempt} superseded by {by}"),
        };
        items.iter().map(number).collect()
    }

    #[test]
    fn pages_of_any_size_tell_the_same_in_order_and_once() {
        let whole = ["0.0", "0.1", "0.2", "closed 0", "0 superseded by 1", "1.0", "1.1"];
        for limit in 1..9 {
            let (items, last) = read(&all(limit), &retried());
            assert_eq!(numbers(&items), whole, "pages of {limit}");
            assert!(!last.ended);
        }
    }

    #[test]
    fn a_read_of_one_attempt_returns_only_that_attempt() {
        let (items, last) = read(&ReadStreamArgs { attempt: Some(A), ..all(2) }, &retried());
        assert_eq!(numbers(&items), ["0.0", "0.1", "0.2", "closed 0"]);
        assert!(last.ended && last.outcome.is_none());
        let (items, last) = read(&ReadStreamArgs { attempt: Some(B), ..all(2) }, &retried());
        assert_eq!(numbers(&items), ["1.0", "1.1"]);
        assert!(!last.ended);
    }

    #[test]
    fn the_end_of_a_stream_comes_after_all_its_items() {
        let ended = || StreamParts {
            outcome: Some(Outcome::Success),
            ends: [(A, (at(3), AttemptOutcome::Failure)), (B, (at(9), AttemptOutcome::Success))].into(),
            ..retried()
        };
        let (items, last) = read(&all(3), &ended());
        assert_eq!(numbers(&items).last().unwrap(), "closed 1");
        assert_eq!((last.ended, last.outcome), (true, Some(Outcome::Success)));
        let whole = StreamPage::of(&all(100), ended()).unwrap();
        assert_eq!((whole.ended, whole.items.len()), (true, items.len()));
    }

    #[test]
    fn an_execution_that_never_began_ends_without_output() {
        let waits = StreamPage::of(&all(1), StreamParts::default()).unwrap();
        assert_eq!((waits.items.len(), waits.ended), (0, false));
        let ended = StreamParts { outcome: Some(Outcome::Cancelled), ..StreamParts::default() };
        assert_eq!(StreamPage::of(&all(1), ended).unwrap().outcome, Some(Outcome::Cancelled));
    }

    #[test]
    fn a_read_reports_trimmed_frames() {
        let parts = StreamParts {
            attempts_made: 1,
            streams: [(A, stream(5, 7))].into(),
            frames: [(A, stored(5..7))].into(),
            ..StreamParts::default()
        };
        assert_eq!(numbers(&read(&all(2), &parts).0), ["trimmed 0..5", "0.5", "0.6"]);
        let from = Some(StreamCursor::new(&waiting().id, A, 6));
        assert_eq!(numbers(&read(&ReadStreamArgs { from, ..all(2) }, &parts).0), ["0.6"]);
    }

    #[test]
    fn a_summary_is_the_document_and_then_patches() {
        let summary = StreamRecord {
            first: 5,
            next: 7,
            summary: Some("{}".into()),
            ..StreamRecord::new(StreamMode::Summary, None, None, at(0))
        };
        let patches = stored(5..7).into_iter().map(|mut patch| {
            patch.frame.frame_type = FrameType::patch();
            patch
        });
        let frames = [(A, patches.collect())].into();
        let parts = StreamParts { attempts_made: 1, streams: [(A, summary)].into(), frames, ..StreamParts::default() };
        let items_from = |seq| {
            let from = Some(StreamCursor::new(&waiting().id, A, seq));
            numbers(&read(&ReadStreamArgs { from, ..all(9) }, &parts).0)
        };
        assert_eq!(items_from(0), ["summary 7"]);
        assert_eq!(items_from(4), ["summary 7"], "the patches since are gone");
        assert_eq!(items_from(5), ["0.5", "0.6"]);
        assert_eq!(items_from(7), [""; 0]);
    }

    #[test]
    fn a_page_ends_where_its_frames_are_large() {
        let frame =
            |seq| StoredFrame { seq, at: at(0), frame: Frame::new(FrameType::bytes(), vec![0; limits::FRAME_BYTES]) };
        let parts = StreamParts {
            attempts_made: 1,
            streams: [(A, stream(0, 40))].into(),
            frames: [(A, (0..40).map(frame).collect())].into(),
            ..StreamParts::default()
        };
        let page = StreamPage::of(&all(100), parts).unwrap();
        assert_eq!(page.items.len(), limits::PAGE_BYTES / limits::FRAME_BYTES);
    }

    #[test]
    fn a_cursor_that_was_not_given_out_is_refused() {
        let id = waiting().id;
        let at = |attempt, seq| ReadStreamArgs { from: Some(StreamCursor::new(&id, attempt, seq)), ..all(1) };
        for args in [at(A, 5), at(B, 3), at(B, 4), at(AttemptIndex(2), 1), at(AttemptIndex(3), 0)] {
            let refusal = StreamPage::of(&args, from(args.start(), retried())).unwrap_err();
            assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidCursor, Some("from")), "{args:?}");
        }
        let other = ExecutionId::new(id.partition(), uuid::Uuid::from_u128(7));
        let foreign = ReadStreamArgs { from: Some(StreamCursor::start(&other)), ..all(1) };
        assert_eq!(foreign.check().unwrap_err().code, Code::InvalidCursor);
        let mixed = ReadStreamArgs { attempt: Some(B), ..at(A, 1) };
        assert_eq!(mixed.check().unwrap_err().code, Code::InvalidCursor);
        let none = ReadStreamArgs { attempt: Some(AttemptIndex(2)), ..all(1) };
        assert_eq!(StreamPage::of(&none, retried()).unwrap_err().code, Code::StreamNotFound);
    }
}
