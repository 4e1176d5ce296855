//! The feeds of delivered signals: bounded, one per partition, read with one cursor over all partitions.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::contracts::DeliveriesPage;
use super::{Effect, Signal, Source};
use crate::engine_error::{Code, Refusal};
use crate::execution::Execution;
use crate::limits;
use crate::types::{ExecutionId, Namespace, SignalId, SignalName, TimestampMs, WaitpointId, as_text};

/// A delivered signal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Delivery {
    /// Position in the feed of its partition.
    pub position: Position,
    pub namespace: Namespace,
    pub execution_id: ExecutionId,
    pub signal_id: SignalId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waitpoint_id: Option<WaitpointId>,
    pub name: SignalName,
    pub source: Source,
    pub effect: Effect,
}

impl Delivery {
    /// Returns the feed's entry for a signal.
    pub fn of(execution: &Execution, signal: &Signal, position: Position) -> Self {
        Self {
            position,
            namespace: execution.namespace.clone(),
            execution_id: signal.execution_id,
            signal_id: signal.id,
            waitpoint_id: signal.waitpoint_id,
            name: signal.name.clone(),
            source: signal.source.clone(),
            effect: signal.effect,
        }
    }
}

/// A position in the feed of one partition: a time, and a number among the entries of this time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    pub at: TimestampMs,
    pub nth: u64,
}

impl Position {
    /// Returns the position after `last`, not before `now`.
    pub fn after(last: Option<Position>, now: TimestampMs) -> Self {
        match last {
            Some(last) if last.at >= now => Self { at: last.at, nth: last.nth + 1 },
            _ => Self { at: now, nth: 0 },
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.at, self.nth)
    }
}

impl FromStr for Position {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let parts = || {
            let (at, nth) = text.split_once('-')?;
            Some(Self { at: TimestampMs(at.parse().ok()?), nth: nth.parse().ok()? })
        };
        parts().ok_or_else(|| Refusal::new(Code::InvalidCursor).at("cursor"))
    }
}

/// The position of a reader in every feed. A partition that is missing in the cursor has not been read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FeedCursor(pub BTreeMap<u16, Position>);

impl fmt::Display for FeedCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, (partition, position)) in self.0.iter().enumerate() {
            let comma = if nth == 0 { "" } else { "," };
            write!(f, "{comma}{partition}.{position}")?;
        }
        Ok(())
    }
}

impl FromStr for FeedCursor {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let place = |part: &str| {
            let (partition, position) = part.split_once('.')?;
            Some((partition.parse().ok()?, position.parse().ok()?))
        };
        let places = text.split(',').filter(|_| !text.is_empty()).map(place);
        let places: Option<_> = places.collect();
        places.map(Self).ok_or_else(|| Refusal::new(Code::InvalidCursor).at("cursor"))
    }
}

as_text!(Position, FeedCursor);

/// The next deliveries of one partition's feed, and whether earlier ones may have been trimmed unread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedPart {
    pub deliveries: Vec<Delivery>,
    pub missed: bool,
}

impl FeedPart {
    /// Returns the deliveries of a feed after a position.
    pub fn of<'d>(feed: impl ExactSizeIterator<Item = &'d Delivery>, after: Option<Position>, limit: usize) -> Self {
        let full = feed.len() >= limits::FEED;
        let mut feed = feed.peekable();
        // A full feed may have been trimmed before its first entry. A reader has missed
        // nothing only if it has read that entry.
        let missed = full && feed.peek().is_some_and(|first| after.is_none_or(|after| after < first.position));
        let unread = feed.skip_while(|delivery| after.is_some_and(|after| delivery.position <= after));
        Self { deliveries: unread.take(limit).cloned().collect(), missed }
    }
}

impl DeliveriesPage {
    /// Merges the deliveries of the partitions in time order, and moves the cursor past them.
    pub fn merge(after: FeedCursor, parts: impl IntoIterator<Item = (u16, FeedPart)>, limit: usize) -> Self {
        let (mut all, mut missed) = (Vec::new(), false);
        for (partition, part) in parts {
            missed |= part.missed;
            all.extend(part.deliveries.into_iter().map(|delivery| (delivery.position.at, partition, delivery)));
        }
        all.sort_by_key(|(at, partition, delivery)| (*at, *partition, delivery.position.nth));
        all.truncate(limit);
        let mut next = after;
        for (_, partition, delivery) in &all {
            next.0.insert(*partition, delivery.position);
        }
        Self { deliveries: all.into_iter().map(|(_, _, delivery)| delivery).collect(), next, missed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::samples::{at, waiting};

    fn delivery(now: TimestampMs, nth: u64) -> Delivery {
        let signal = Signal {
            id: SignalId::new(),
            execution_id: waiting().id,
            waitpoint_id: None,
            name: SignalName::parse("go").unwrap(),
            source: Source::external(),
            idempotency_key: None,
            received_at: now,
            effect: Effect::Appended,
            payload_bytes: 0,
        };
        Delivery::of(&waiting(), &signal, Position { at: now, nth })
    }

    #[test]
    fn a_cursor_reads_back_and_a_made_up_one_is_refused() {
        let place = |nth| Position { at: at(1), nth };
        let cursor = FeedCursor(BTreeMap::from([(0, place(0)), (255, place(7))]));
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        assert_eq!("".parse(), Ok(FeedCursor::default()));
        for text in [",", "1", "1.2", "x.1-0", "1.1-x", "1.1-0,"] {
            assert_eq!(text.parse::<FeedCursor>().unwrap_err().code, Code::InvalidCursor, "{text:?}");
        }
    }

    #[test]
    fn feed_positions_rise_within_a_millisecond_and_never_go_back() {
        let first = Position::after(None, at(5));
        let second = Position::after(Some(first), at(5));
        let third = Position::after(Some(second), at(4));
        assert!(first < second && second < third && third < Position::after(Some(third), at(6)));
    }

    #[test]
    fn pages_together_are_everything_in_the_order_of_time() {
        let feeds = [vec![delivery(at(1), 0), delivery(at(4), 0)], vec![delivery(at(2), 0), delivery(at(2), 1)]];
        let mut cursor = FeedCursor::default();
        let mut seen = Vec::new();
        for _ in 0..3 {
            let parts = feeds
                .iter()
                .zip(0_u16..)
                .map(|(feed, partition)| (partition, FeedPart::of(feed.iter(), cursor.0.get(&partition).copied(), 2)));
            let page = DeliveriesPage::merge(cursor.clone(), parts.collect::<Vec<_>>(), 2);
            seen.extend(page.deliveries.iter().map(|delivery| delivery.position.at));
            cursor = page.next;
        }
        assert_eq!(seen, [at(1), at(2), at(2), at(4)]);
    }

    #[test]
    fn a_read_behind_a_full_feed_reports_missed_deliveries() {
        let feed: Vec<_> = (0..limits::FEED as u64).map(|nth| delivery(at(1), nth + 1)).collect();
        let part = |after| FeedPart::of(feed.iter(), after, 1);
        assert!(part(None).missed);
        assert!(part(Some(Position { at: at(1), nth: 0 })).missed);
        assert!(!part(Some(Position { at: at(1), nth: 1 })).missed);
        assert!(!FeedPart::of(feed[1..].iter(), None, 1).missed, "a feed that is not full has lost nothing");
    }
}
