//! The doctor's checks of workers and of the feed of events.

use super::{Finding, Findings};
use crate::backend::snapshot::Snapshot;
use crate::limits;
use crate::types::TimestampMs;

/// Returns the findings about the workers whose home is this partition, and about its event feed.
pub(super) fn examine(snapshot: &Snapshot, partition: u16, now: TimestampMs) -> Vec<Finding> {
    let mut findings = Findings::default();
    for (id, worker) in &snapshot.workers {
        let mut find = |invariant, what: &str| findings.find(invariant, format!("worker {id}"), what);
        if worker.worker_instance_id != *id || worker.partition != partition {
            find("I1", "is kept under another name, or far from home");
        }
        if worker.registered_at > worker.seen_at || worker.seen_at > now {
            find("I18", "was heard of before it registered, or in the future");
        }
    }
    feed(snapshot, &mut findings);
    findings.0
}

/// I15 and I18: events are recorded in order, within bounds, and only since the feed began.
fn feed(snapshot: &Snapshot, findings: &mut Findings) {
    let mut find = |invariant, what: &str| findings.find(invariant, "the feed", what);
    if snapshot.events.windows(2).any(|pair| pair[0].position >= pair[1].position) {
        find("I18", "does not tell things in their order");
    }
    if snapshot.events.len() > limits::FEED {
        find("I15", "keeps more than it may");
    }
    let since = snapshot.feed.map(|feed| feed.since);
    if snapshot.events.first().is_some_and(|first| since.is_none_or(|since| first.position.at < since)) {
        find("I15", "tells what happened before anybody followed");
    }
}

#[cfg(test)]
mod tests {
    use super::super::violated;
    use super::*;
    use crate::event::{Event, EventKind, EventRecord, Feed};
    use crate::rule::samples::{at, waiting};
    use crate::signal::Position;

    fn record(now: TimestampMs, nth: u64) -> EventRecord {
        EventRecord::of(&waiting(), &Event::new(&waiting().id, now, EventKind::Submitted), Position { at: now, nth })
    }

    fn found(damage: impl FnOnce(&mut Snapshot)) -> Vec<&'static str> {
        let feed = Some(Feed { since: at(1), until: at(9) });
        let events = vec![record(at(1), 0), record(at(1), 1)];
        let healthy = Snapshot { feed, events, ..Snapshot::default() };
        violated(|snapshot| examine(snapshot, 0, at(2)), &healthy, damage)
    }

    #[test]
    fn events_out_of_order_or_outside_the_feed_are_found() {
        assert_eq!(found(|snapshot| snapshot.events.swap(0, 1)), ["I18"]);
        assert_eq!(found(|snapshot| snapshot.feed = None), ["I15"]);
        assert_eq!(found(|snapshot| snapshot.events.insert(0, record(at(0), 0))), ["I15"]);
    }
}
