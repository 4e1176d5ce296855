//! The feed of events on a partition. It is bounded, records events only while it has readers, and is read with one
//! cursor for all partitions.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Event, EventKind};
use crate::engine_error::{Code, Refusal};
use crate::event::contracts::EventsPage;
use crate::execution::Execution;
use crate::limits;
use crate::signal::Position;
use crate::types::{ExecutionId, FlowId, Kind, LaneId, Namespace, TimestampMs, as_text};

/// The time span in which every event of a partition is recorded. Without readers nothing is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feed {
    pub since: TimestampMs,
    pub until: TimestampMs,
}

impl Feed {
    /// Returns whether an event at `now` is recorded.
    pub fn records_at(&self, now: TimestampMs) -> bool {
        now < self.until
    }
}

/// An event in the feed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EventRecord {
    /// Position in the feed of its partition.
    pub position: Position,
    pub namespace: Namespace,
    pub lane_id: LaneId,
    pub kind: Kind,
    pub execution_id: ExecutionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_id: Option<FlowId>,
    #[serde(flatten)]
    pub what: EventKind,
}

impl EventRecord {
    /// Creates the record of an event of an execution.
    pub fn of(execution: &Execution, event: &Event, position: Position) -> Self {
        Self {
            position,
            namespace: execution.namespace.clone(),
            lane_id: execution.lane.clone(),
            kind: execution.kind.clone(),
            execution_id: execution.id,
            flow_id: execution.membership.as_ref().map(|membership| membership.flow_id),
            what: event.what,
        }
    }
}

/// Position of a reader in the feeds of all partitions. The reader stores it, so it stays valid when readers or stores restart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventCursor {
    /// Positions that a server has encrypted for a caller of one namespace: readable positions would reveal when other
    /// tenants are active. Only a server of the same store can continue from them. `from` is unused then.
    pub sealed: Option<EncryptedPositions>,
    /// On a partition that is not in `places`, everything before this time has been read.
    pub from: TimestampMs,
    /// Everything before these positions has been read.
    pub places: BTreeMap<u16, Position>,
}

impl EventCursor {
    /// Returns the first position on a partition that has not been read yet.
    pub fn place(&self, partition: u16) -> Position {
        self.places.get(&partition).copied().unwrap_or(Position { at: self.from, nth: 0 })
    }

    /// Returns whether the reader has read everything that a reader at `other` has read.
    pub fn is_past(&self, other: &Self) -> bool {
        let explicit = self.places.keys().chain(other.places.keys());
        self.from >= other.from
            && (self.places == other.places || explicit.copied().all(|of| self.place(of) >= other.place(of)))
    }

    /// Returns the cursor that has read on each partition what this or the other one has.
    pub fn latest(&self, other: &Self) -> Self {
        self.combine(other, Ord::max)
    }

    /// Returns the cursor that has read on each partition what both have.
    pub fn earliest(&self, other: &Self) -> Self {
        self.combine(other, Ord::min)
    }

    fn combine(&self, other: &Self, choose: fn(Position, Position) -> Position) -> Self {
        let start = |from| Position { at: from, nth: 0 };
        let explicit = self.places.keys().chain(other.places.keys());
        Self {
            sealed: None,
            from: choose(start(self.from), start(other.from)).at,
            places: explicit.map(|of| (*of, choose(self.place(*of), other.place(*of)))).collect(),
        }
    }
}

impl fmt::Display for EventCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.sealed {
            Some(sealed) => f.write_str(sealed.as_str())?,
            None => write!(f, "{}", self.from)?,
        }
        self.places.iter().try_for_each(|(partition, position)| write!(f, ",{partition}.{position}"))
    }
}

impl FromStr for EventCursor {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let place = |part: &str| {
            let (partition, position) = part.split_once('.')?;
            Some((partition.parse().ok()?, position.parse().ok()?))
        };
        let mut parts = text.split(',');
        let start = parts.next().and_then(|first| match EncryptedPositions::parse(first) {
            Some(sealed) => Some((Some(sealed), TimestampMs::default())),
            None => Some((None, TimestampMs(first.parse().ok()?))),
        });
        let places: Option<_> = parts.map(place).collect();
        let cursor = start.zip(places).map(|((sealed, from), places)| Self { sealed, from, places });
        cursor.ok_or_else(|| Refusal::new(Code::InvalidCursor).at("cursor"))
    }
}

as_text!(EventCursor);

/// Positions that a server has encrypted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EncryptedPositions(String);

impl EncryptedPositions {
    /// Prefix that distinguishes encrypted positions from a timestamp.
    const PREFIX: &str = "s.";

    pub fn new(text: &str) -> Self {
        Self(format!("{}{text}", Self::PREFIX))
    }

    fn parse(text: &str) -> Option<Self> {
        text.starts_with(Self::PREFIX).then(|| Self(text.to_owned()))
    }

    /// Returns the encrypted text, without the prefix.
    pub fn text(&self) -> &str {
        &self.0[Self::PREFIX.len()..]
    }

    fn as_str(&self) -> &str {
        &self.0
    }
}

/// The next events of the feed of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventsPart {
    pub events: Vec<EventRecord>,
    /// Whether unread events before these may have been removed.
    pub trimmed: bool,
    /// When the feed began to record. A reader at an earlier position has missed the events before this time.
    pub since: TimestampMs,
}

impl EventsPart {
    /// Returns the next events of a feed for a reader.
    pub fn of<'t>(
        feed: Feed,
        records: impl ExactSizeIterator<Item = &'t EventRecord>,
        (partition, cursor): (u16, &EventCursor),
        limit: usize,
    ) -> Self {
        let (full, place) = (records.len() >= limits::FEED, cursor.place(partition));
        let mut records = records.peekable();
        // A full feed may have been trimmed before its first event. Only a reader that has already read that event has
        // certainly missed nothing.
        let trimmed = full && records.peek().is_some_and(|first| place <= first.position);
        let unread = records.filter(|record| record.position >= place).take(limit).cloned().collect();
        Self { events: unread, trimmed, since: feed.since }
    }
}

impl EventsPage {
    /// Merges the events of the partitions in the order of time, and moves the cursor past them. Unwanted events are skipped.
    pub fn merge(
        after: EventCursor,
        parts: impl IntoIterator<Item = (u16, EventsPart)>,
        wanted: impl Fn(&EventRecord) -> bool,
        limit: usize,
    ) -> Self {
        let (mut all, mut missed, mut next) = (Vec::new(), false, after);
        for (partition, part) in parts {
            let lapsed = next.place(partition).at < part.since;
            if lapsed {
                // The gap is reported once: the cursor moves to the start of the feed.
                next.places.insert(partition, Position { at: part.since, nth: 0 });
            }
            missed |= lapsed || part.trimmed;
            all.extend(part.events.into_iter().map(|record| (partition, record)));
        }
        all.sort_by_key(|(partition, record)| (record.position.at, *partition, record.position.nth));
        all.truncate(limit);
        for (partition, EventRecord { position, .. }) in &all {
            next.places.insert(*partition, Position { nth: position.nth + 1, ..*position });
        }
        Self {
            events: all.into_iter().map(|(_, record)| record).filter(|record| wanted(record)).collect(),
            next,
            missed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::contracts::EventsArgs;
    use crate::rule::samples::{at, waiting};

    fn record(now: TimestampMs, nth: u64) -> EventRecord {
        let event = Event::new(&waiting().id, now, EventKind::Submitted);
        EventRecord::of(&waiting(), &event, Position { at: now, nth })
    }

    fn feed() -> Feed {
        Feed { since: at(0), until: at(1_000) }
    }

    #[test]
    fn a_cursor_reads_back_and_a_made_up_one_is_refused() {
        let place = |nth| Position { at: at(1), nth };
        let cursor =
            EventCursor { from: at(0), places: BTreeMap::from([(0, place(0)), (255, place(7))]), sealed: None };
        assert_eq!(cursor.to_string().parse(), Ok(cursor.clone()));
        let sealed =
            EventCursor { sealed: Some(EncryptedPositions::new("k1.aa")), from: TimestampMs::default(), ..cursor };
        assert_eq!(sealed.to_string(), format!("s.k1.aa,0.{},255.{}", place(0), place(7)));
        assert_eq!(sealed.to_string().parse(), Ok(sealed));
        assert_eq!("17".parse(), Ok(EventCursor { from: TimestampMs(17), ..EventCursor::default() }));
        for text in ["", "x", "1,", "1,2", "1,2.3", "1,x.1-0"] {
            assert_eq!(text.parse::<EventCursor>().unwrap_err().code, Code::InvalidCursor, "{text:?}");
        }
    }

    #[test]
    fn cursors_are_compared_and_combined_on_each_partition() {
        let cursor = |from, places: &[(u16, u64)]| EventCursor {
            sealed: None,
            from: at(from),
            places: places.iter().map(|(of, ms)| (*of, Position { at: at(*ms), nth: 1 })).collect(),
        };
        let (one, two) = (cursor(5, &[(0, 9), (1, 6)]), cursor(7, &[(1, 8), (2, 20)]));
        assert!(!one.is_past(&two) && !two.is_past(&one) && one.is_past(&one));
        let (latest, earliest) = (one.latest(&two), one.earliest(&two));
        for partition in 0..4 {
            let places = [one.place(partition), two.place(partition)];
            assert_eq!(Some(latest.place(partition)), places.into_iter().max());
            assert_eq!(Some(earliest.place(partition)), places.into_iter().min());
        }
        for cursor in [&one, &two] {
            assert!(latest.is_past(cursor) && cursor.is_past(&earliest));
            assert!(!cursor.is_past(&latest) && !earliest.is_past(cursor));
        }
        assert!(cursor(9, &[]).is_past(&cursor(7, &[(1, 8)])), "a place before the other's start counts as read");
        assert!(!cursor(7, &[(1, 8)]).is_past(&cursor(9, &[])));
    }

    #[test]
    fn pages_together_are_everything_in_the_order_of_time() {
        let feeds = [vec![record(at(1), 0), record(at(4), 0)], vec![record(at(2), 0), record(at(2), 1)]];
        let mut cursor = EventCursor { from: at(0), ..EventCursor::default() };
        let mut seen = Vec::new();
        for _ in 0..3 {
            let parts: Vec<_> = feeds
                .iter()
                .zip(0_u16..)
                .map(|(records, partition)| {
                    (partition, EventsPart::of(feed(), records.iter(), (partition, &cursor), 2))
                })
                .collect();
            let page = EventsPage::merge(cursor.clone(), parts, |_| true, 2);
            assert!(!page.missed);
            seen.extend(page.events.iter().map(|record| record.position.at));
            cursor = page.next;
        }
        assert_eq!(seen, [at(1), at(2), at(2), at(4)]);
    }

    #[test]
    fn a_new_reader_gets_events_of_its_starting_millisecond() {
        let cursor = EventCursor { from: at(1), ..EventCursor::default() };
        let all = [record(at(0), 0), record(at(1), 0)];
        assert_eq!(EventsPart::of(feed(), all.iter(), (0, &cursor), 9).events, [record(at(1), 0)]);
    }

    #[test]
    fn events_missed_by_a_late_reader_are_reported_once() {
        let full: Vec<_> = (0..limits::FEED as u64).map(|nth| record(at(1), nth + 1)).collect();
        let at_place =
            |nth| EventCursor { from: at(0), places: [(0, Position { at: at(1), nth })].into(), sealed: None };
        assert!(EventsPart::of(feed(), full.iter(), (0, &at_place(1)), 1).trimmed);
        assert!(!EventsPart::of(feed(), full.iter(), (0, &at_place(2)), 1).trimmed);
        let anew = Feed { since: at(2), until: at(9) };
        for partition in [0, 3] {
            let read = |cursor: EventCursor| {
                let part = EventsPart::of(anew, [record(at(2), 0)].iter(), (partition, &cursor), 1);
                EventsPage::merge(cursor, [(partition, part)], |_| true, 1)
            };
            let page = read(at_place(1));
            assert!(page.missed, "nothing was recorded in between");
            assert_eq!(page.events, [record(at(2), 0)], "the new feed is read from its first record");
            assert_eq!((read(page.next.clone()).missed, read(page.next).events), (false, vec![]));
        }
    }

    #[test]
    fn another_tenants_events_are_passed_over() {
        let part = EventsPart { events: vec![record(at(1), 0)], trimmed: false, since: at(0) };
        let args = EventsArgs { after: None, namespace: Namespace::parse("acme").ok(), execution: None, limit: 9 };
        let start = EventCursor { from: at(0), ..EventCursor::default() };
        let page = EventsPage::merge(start, [(3, part)], |record| args.wants(record), 9);
        assert_eq!((page.events, page.next.places.len()), (vec![], 1));
    }
}
