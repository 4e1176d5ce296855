//! The latest events of all partitions. Readers that wait for events share them, so that an event is read once and not once for
//! each reader.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use ff_core::backend::{Answer, EngineStore};
use ff_core::event::contracts::{EventsArgs, EventsPage};
use ff_core::event::{EventCursor, EventRecord, EventsPart};
use ff_core::limits;
use ff_core::types::TimestampMs;
use tokio::sync::{MutexGuard, Semaphore};

use super::shared_read::SharedRead;

/// Maximum number of reads whose events are kept. A reader that falls further behind reads from the store.
const READS: usize = 64;

/// Maximum number of events that are kept, except those of the last read.
const EVENTS: usize = 4_000;

/// The events that were read for all readers. Before the first reader [joins](Self::join) nothing is read.
#[derive(Default)]
pub(super) struct EventTail {
    latest: Arc<Mutex<LatestEvents>>,
    reading: SharedRead<()>,
    /// Held by a reader that reads from the store. The readers that wait for it can usually go on here once it has joined.
    joining: tokio::sync::Mutex<()>,
}

/// What a reader has read.
pub(super) struct ReadSoFar {
    after: EventCursor,
    /// The number of reads that were searched without finding an event for the reader, and where the last of them ended.
    searched: Option<(u64, Arc<EventCursor>)>,
}

/// What there is for a reader.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TailAnswer {
    Events(EventsPage),
    Nothing,
    /// Earlier events may be missing here, so the reader must read from the store.
    Unknown,
}

impl ReadSoFar {
    pub(super) fn until(after: EventCursor) -> Self {
        Self { after, searched: None }
    }

    pub(super) fn cursor(&self) -> EventCursor {
        self.searched.as_ref().map_or_else(|| self.after.clone(), |(_, end)| self.after.latest(end))
    }
}

impl EventTail {
    /// Returns the next events of a reader, as of a read that begins after this call.
    pub(super) async fn next(
        &self,
        args: &EventsArgs,
        so_far: &mut ReadSoFar,
        store: &Arc<dyn EngineStore>,
        turns: &Arc<Semaphore>,
    ) -> Answer<TailAnswer> {
        loop {
            self.reading.read(read(self.latest.clone(), store.clone(), turns.clone())).await?;
            let latest = lock(&self.latest);
            let answer = latest.next(args, so_far);
            // More may follow a full page of events of others.
            if answer != TailAnswer::Nothing || !latest.is_behind {
                return Ok(answer);
            }
        }
    }

    /// Waits until no other reader reads from the store. Returns `None` if the reader can then go on here, without reading.
    pub(super) async fn wait_to_read(&self, so_far: &ReadSoFar) -> Option<MutexGuard<'_, ()>> {
        let turn = self.joining.lock().await;
        lock(&self.latest).first_unread(&so_far.cursor()).is_none().then_some(turn)
    }

    /// Lets a reader that has read everything in the store go on here.
    pub(super) fn join(&self, cursor: EventCursor) -> ReadSoFar {
        lock(&self.latest).join(cursor)
    }
}

/// Reads the events since the last read.
async fn read(latest: Arc<Mutex<LatestEvents>>, store: Arc<dyn EngineStore>, turns: Arc<Semaphore>) -> Answer<()> {
    // The semaphore is never closed, so a permit always comes.
    let _turn = turns.acquire().await;
    loop {
        let Some(end) = lock(&latest).end.clone() else { return Ok(()) };
        let after = Some((*end).clone());
        let page = store.events(EventsArgs { after, namespace: None, execution: None, limit: limits::PAGE }).await?;
        if lock(&latest).add(&end, page) {
            return Ok(());
        }
    }
}

/// Consecutive reads of the feeds of all partitions.
#[derive(Default)]
struct LatestEvents {
    reads: VecDeque<EventsRead>,
    /// The number of reads before those that are kept.
    dropped: u64,
    /// Where the next read begins; `None` while there is no reader.
    end: Option<Arc<EventCursor>>,
    /// Whether the last read was full, so that more events may follow.
    is_behind: bool,
}

/// Events that were read together, and where they began.
struct EventsRead {
    from: Arc<EventCursor>,
    events: Vec<EventRecord>,
}

impl LatestEvents {
    /// Adds what was read from `end` on. Returns false if the next read no longer begins there.
    fn add(&mut self, end: &Arc<EventCursor>, page: EventsPage) -> bool {
        if !self.end.as_ref().is_some_and(|now| Arc::ptr_eq(now, end)) {
            return false;
        }
        if page.missed {
            // Each reader learns from the store whether it has missed events. This read counts as one that no reader has seen.
            *self = Self { dropped: self.count() + 1, ..Self::default() };
            return true;
        }
        self.is_behind = page.events.len() >= limits::PAGE;
        if !page.events.is_empty() {
            self.end = Some(Arc::new(page.next));
            self.reads.push_back(EventsRead { from: end.clone(), events: page.events });
        }
        let mut kept: usize = self.reads.iter().map(|read| read.events.len()).sum();
        while self.reads.len() > 1 && (self.reads.len() > READS || kept > EVENTS) {
            kept -= self.reads.pop_front().map_or(0, |read| read.events.len());
            self.dropped += 1;
        }
        true
    }

    /// Returns the number of reads that there have been.
    fn count(&self) -> u64 {
        self.dropped + self.reads.len() as u64
    }

    /// Returns the events that a reader has not read.
    fn next(&self, args: &EventsArgs, so_far: &mut ReadSoFar) -> TailAnswer {
        let known = so_far.searched.as_ref().map(|(reads, _)| *reads).filter(|reads| *reads >= self.dropped);
        let (Some(end), Some(first)) = (&self.end, known.or_else(|| self.first_unread(&so_far.cursor()))) else {
            return TailAnswer::Unknown;
        };
        let mut parts: BTreeMap<u16, EventsPart> = BTreeMap::new();
        let unread = (self.dropped..).zip(&self.reads).skip_while(|(nth, _)| *nth < first);
        for event in unread.flat_map(|(_, read)| &read.events) {
            let partition = event.execution_id.partition();
            if args.wants(event) && event.position >= so_far.after.place(partition) {
                let none = || EventsPart { events: Vec::new(), trimmed: false, since: TimestampMs::default() };
                parts.entry(partition).or_insert_with(none).events.push(event.clone());
            }
        }
        if parts.is_empty() {
            so_far.searched = Some((self.count(), end.clone()));
            return TailAnswer::Nothing;
        }
        let is_full = parts.values().map(|part| part.events.len()).sum::<usize>() > args.limit;
        let page = EventsPage::merge(so_far.cursor(), parts, |_| true, args.limit);
        TailAnswer::Events(if is_full { page } else { EventsPage { next: page.next.latest(end), ..page } })
    }

    /// Returns the number of the first read that may have events after a cursor. Returns `None` if they may be in a read that is
    /// no longer kept.
    fn first_unread(&self, after: &EventCursor) -> Option<u64> {
        if after.is_past(self.end.as_ref()?) {
            return Some(self.count());
        }
        let nth = self.reads.iter().rposition(|read| after.is_past(&read.from))?;
        Some(self.dropped + nth as u64)
    }

    /// Moves the next read back to what a reader has read, unless the kept reads have the rest. Other readers skip what they
    /// get again.
    fn join(&mut self, cursor: EventCursor) -> ReadSoFar {
        if self.first_unread(&cursor).is_none() {
            let end = self.end.as_ref().map_or_else(|| cursor.clone(), |end| end.earliest(&cursor));
            // Otherwise a reader could get an event twice: of a read that is kept and of the next one.
            self.dropped = self.count();
            self.reads.clear();
            self.end = Some(Arc::new(end));
        }
        ReadSoFar::until(cursor)
    }
}

fn lock(latest: &Mutex<LatestEvents>) -> std::sync::MutexGuard<'_, LatestEvents> {
    latest.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use ff_core::event::EventKind;
    use ff_core::signal::Position;
    use ff_core::types::{ExecutionId, Kind, LaneId, Namespace};
    use uuid::Uuid;

    use super::*;

    const PARTITION: u16 = 3;

    fn at(ms: u64) -> TimestampMs {
        TimestampMs(1_000) + ms
    }

    fn start() -> EventCursor {
        EventCursor { from: at(0), ..EventCursor::default() }
    }

    fn args(limit: usize) -> EventsArgs {
        EventsArgs { after: None, namespace: None, execution: None, limit }
    }

    /// Returns the page with the events of a partition's feed at these times, for a reader at this cursor.
    fn read(after: &EventCursor, times: std::ops::Range<u64>) -> EventsPage {
        let record = |ms| EventRecord {
            position: Position { at: at(ms), nth: 0 },
            namespace: Namespace::default_name(),
            lane_id: LaneId::default_name(),
            kind: Kind::parse("resize").unwrap(),
            execution_id: ExecutionId::new(PARTITION, Uuid::nil()),
            flow_id: None,
            what: EventKind::Submitted,
        };
        let part = EventsPart { events: times.map(record).collect(), trimmed: false, since: at(0) };
        EventsPage::merge(after.clone(), [(PARTITION, part)], |_| true, limits::PAGE)
    }

    fn add(latest: &mut LatestEvents, times: std::ops::Range<u64>) {
        let end = latest.end.clone().unwrap();
        assert!(latest.add(&end, read(&end, times)));
    }

    /// Returns the times of the next events for a reader at this cursor.
    fn next(latest: &LatestEvents, after: &EventCursor) -> Option<Vec<u64>> {
        match latest.next(&args(usize::MAX), &mut ReadSoFar::until(after.clone())) {
            TailAnswer::Events(page) => Some(times(&page)),
            TailAnswer::Nothing => Some(vec![]),
            TailAnswer::Unknown => None,
        }
    }

    fn times(page: &EventsPage) -> Vec<u64> {
        page.events.iter().map(|event| event.position.at.since(at(0))).collect()
    }

    #[test]
    fn each_reader_gets_the_events_after_its_cursor() {
        let mut latest = LatestEvents::default();
        assert_eq!(next(&latest, &start()), None, "no reader has joined");
        let mut waiting = latest.join(start());
        assert_eq!(latest.next(&args(2), &mut waiting), TailAnswer::Nothing);
        add(&mut latest, 1..3);
        add(&mut latest, 3..6);
        let TailAnswer::Events(page) = latest.next(&args(2), &mut waiting) else { panic!("there are five") };
        assert_eq!(times(&page), [1, 2]);
        let TailAnswer::Events(page) = latest.next(&args(9), &mut ReadSoFar::until(page.next)) else { panic!() };
        assert_eq!(times(&page), [3, 4, 5]);
        assert_eq!(next(&latest, &page.next), Some(vec![]));
        assert_eq!(next(&latest, &start()), Some(vec![1, 2, 3, 4, 5]));
    }

    #[test]
    fn a_cursor_moves_past_the_events_of_others() {
        let mut latest = LatestEvents::default();
        let mut waiting = latest.join(start());
        add(&mut latest, 1..3);
        let others = EventsArgs { namespace: Some(Namespace::parse("other").unwrap()), ..args(9) };
        assert_eq!(latest.next(&others, &mut waiting), TailAnswer::Nothing);
        assert_eq!(waiting.cursor(), read(&start(), 1..3).next);
        add(&mut latest, 3..4);
        let TailAnswer::Events(page) = latest.next(&args(9), &mut waiting) else { panic!("there is one") };
        assert_eq!(times(&page), [3]);
    }

    #[test]
    fn a_reader_that_is_further_behind_reads_from_the_store() {
        let mut latest = LatestEvents::default();
        let mut waiting = latest.join(start());
        assert_eq!(latest.next(&args(9), &mut waiting), TailAnswer::Nothing);
        let reads = READS as u64 + 1;
        (1..=reads).for_each(|nth| add(&mut latest, nth..nth + 1));
        assert_eq!(next(&latest, &start()), None);
        assert_eq!(latest.next(&args(9), &mut waiting), TailAnswer::Unknown);
        let second = read(&start(), 1..2).next;
        assert_eq!(next(&latest, &second), Some((2..=reads).collect()));
    }

    #[test]
    fn a_reader_joins_with_what_it_has_read() {
        let mut latest = LatestEvents::default();
        let (middle, end) = (read(&start(), 1..3).next, read(&start(), 1..5).next);
        let mut waiting = latest.join(end);
        assert_eq!(latest.next(&args(9), &mut waiting), TailAnswer::Nothing);
        assert_eq!(next(&latest, &middle), None);
        latest.join(middle.clone());
        add(&mut latest, 3..6);
        assert_eq!(next(&latest, &middle), Some(vec![3, 4, 5]));
        let TailAnswer::Events(page) = latest.next(&args(9), &mut waiting) else { panic!("there is one") };
        assert_eq!(times(&page), [5], "it has read the others");
        let reads = latest.reads.len();
        latest.join(middle);
        assert_eq!(latest.reads.len(), reads, "the events after it are still there");
    }

    #[test]
    fn a_read_that_others_overtook_or_that_missed_events_is_not_added() {
        let mut latest = LatestEvents::default();
        let mut waiting = latest.join(read(&start(), 1..3).next);
        let end = latest.end.clone().unwrap();
        latest.join(start());
        assert!(!latest.add(&end, read(&end, 3..5)), "it did not begin where the new reader needs it");
        assert_eq!(latest.next(&args(9), &mut waiting), TailAnswer::Nothing);
        let end = latest.end.clone().unwrap();
        assert!(latest.add(&end, EventsPage { missed: true, ..read(&end, 9..10) }));
        latest.join(read(&end, 9..10).next);
        assert_eq!(latest.next(&args(9), &mut waiting), TailAnswer::Unknown, "the store says what was missed");
    }
}
