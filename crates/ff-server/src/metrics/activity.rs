//! The executions that ended in the last hour, by lane, kind and minute. The counts are in memory, bounded, and cover only this
//! process.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ff_api::{Activity, Ends, KindActivity, LaneActivity, MinuteActivity};
use ff_core::types::{Kind, LaneId, Namespace, TimestampMs};

/// Maximum number of pairs of a lane and a kind that are counted.
const SERIES: usize = 256;

const MINUTE: Duration = Duration::from_secs(60);
const MINUTES: u64 = 60;

/// Histogram bounds in tenths of a millisecond. They repeat for nine powers of ten, and durations are rounded up to a bound.
const STEPS: [u64; 6] = [10, 15, 20, 30, 50, 70];
const BOUNDS: usize = STEPS.len() * 9;

/// The activity of the last hour.
pub(super) struct ActivityLog {
    began: Instant,
    series: Mutex<SeriesTable>,
}

#[derive(Default)]
struct SeriesTable {
    by_lane: HashMap<(Namespace, LaneId), HashMap<Kind, Arc<Series>>>,
    count: usize,
    left_out: bool,
}

/// The counts of one kind in one lane.
#[derive(Debug)]
pub(super) struct Series {
    began: Instant,
    minutes: Mutex<VecDeque<Minute>>,
}

#[derive(Clone, Debug, Default)]
struct Minute {
    /// Number of the minute, counted from the start of the log.
    nth: u64,
    completed: u64,
    failed: u64,
    retried: u64,
    start: Spread,
    run: Spread,
}

/// The end of a run.
#[derive(Clone, Copy)]
pub(super) enum End {
    Completed,
    Failed,
    Retried,
}

/// Number of durations per bound; each duration counts only at its smallest bound.
#[derive(Clone, Debug)]
struct Spread([u32; BOUNDS]);

impl ActivityLog {
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), series: Mutex::default() }
    }

    /// Returns the series of a kind in a lane; `None` when there are too many.
    pub(super) fn series(&self, namespace: &Namespace, lane: &LaneId, kind: &Kind) -> Option<Arc<Series>> {
        let mut table = self.series.lock().unwrap_or_else(PoisonError::into_inner);
        let of = (namespace.clone(), lane.clone());
        if let Some(known) = table.by_lane.get(&of).and_then(|kinds| kinds.get(kind)) {
            return Some(known.clone());
        }
        if table.count >= SERIES {
            table.forget(self.minute(Instant::now()));
        }
        if table.count >= SERIES {
            table.left_out = true;
            return None;
        }
        table.count += 1;
        let series = Arc::new(Series { began: self.began, minutes: Mutex::default() });
        table.by_lane.entry(of).or_default().insert(kind.clone(), series.clone());
        Some(series)
    }

    /// Returns the activity of one namespace or of all.
    pub(super) fn read(&self, of: Option<&Namespace>, now: TimestampMs) -> Activity {
        let table = self.series.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed = self.began.elapsed();
        let at = |nth: u64| {
            let ago = elapsed.saturating_sub(MINUTE * u32::try_from(nth).unwrap_or(u32::MAX));
            TimestampMs(now.0.saturating_sub(i64::try_from(ago.as_millis()).unwrap_or(i64::MAX)))
        };
        let oldest = self.minute(Instant::now()).saturating_sub(MINUTES - 1);
        let mut lanes = BTreeMap::<_, BTreeMap<u64, Minute>>::new();
        let mut kinds = BTreeMap::<_, Minute>::new();
        for ((namespace, lane), by_kind) in &table.by_lane {
            if of.is_some_and(|of| of != namespace) {
                continue;
            }
            for (kind, series) in by_kind {
                for minute in series.since(oldest) {
                    let of_lane = lanes.entry((namespace.clone(), lane.clone())).or_default();
                    of_lane.entry(minute.nth).or_insert_with(|| Minute::new(minute.nth)).add(&minute);
                    kinds.entry((namespace.clone(), kind.clone())).or_default().add(&minute);
                }
            }
        }
        let lanes = lanes.into_iter().map(|((namespace, lane_id), minutes)| {
            let mut whole = Minute::default();
            minutes.values().for_each(|minute| whole.add(minute));
            let minutes = minutes.values().map(|minute| MinuteActivity { at: at(minute.nth), ends: minute.ends() });
            LaneActivity { namespace, lane_id, ends: whole.ends(), minutes: minutes.collect() }
        });
        let kinds =
            kinds.into_iter().map(|((namespace, kind), whole)| KindActivity { namespace, kind, ends: whole.ends() });
        let mut kinds: Vec<_> = kinds.collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse((kind.ends.failed, kind.ends.completed)));
        Activity { lanes: lanes.collect(), kinds, left_out: table.left_out }
    }

    fn minute(&self, now: Instant) -> u64 {
        minute_since(self.began, now)
    }
}

fn minute_since(began: Instant, now: Instant) -> u64 {
    now.saturating_duration_since(began).as_secs() / MINUTE.as_secs()
}

impl SeriesTable {
    /// Drops series without an entry in the last hour.
    fn forget(&mut self, now: u64) {
        let oldest = now.saturating_sub(MINUTES - 1);
        for kinds in self.by_lane.values_mut() {
            kinds.retain(|_, series| !series.since(oldest).is_empty());
        }
        self.by_lane.retain(|_, kinds| !kinds.is_empty());
        self.count = self.by_lane.values().map(HashMap::len).sum();
    }
}

impl Series {
    /// Records the first start of an execution, with the time since its submission.
    pub(super) fn started(&self, after: Duration) {
        self.note(|minute| minute.start.add(after));
    }

    pub(super) fn ended(&self, end: End, after: Duration) {
        self.note(|minute| {
            minute.run.add(after);
            match end {
                End::Completed => minute.completed += 1,
                End::Failed => minute.failed += 1,
                End::Retried => minute.retried += 1,
            }
        });
    }

    fn note(&self, write: impl FnOnce(&mut Minute)) {
        let nth = minute_since(self.began, Instant::now());
        let mut minutes = self.minutes.lock().unwrap_or_else(PoisonError::into_inner);
        if minutes.back().is_none_or(|last| last.nth < nth) {
            minutes.push_back(Minute::new(nth));
            minutes.retain(|minute| minute.nth + MINUTES > nth);
        }
        if let Some(minute) = minutes.back_mut() {
            write(minute);
        }
    }

    fn since(&self, oldest: u64) -> Vec<Minute> {
        let minutes = self.minutes.lock().unwrap_or_else(PoisonError::into_inner);
        minutes.iter().filter(|minute| minute.nth >= oldest).cloned().collect()
    }
}

impl Minute {
    fn new(nth: u64) -> Self {
        Self { nth, ..Self::default() }
    }

    fn add(&mut self, other: &Self) {
        self.completed += other.completed;
        self.failed += other.failed;
        self.retried += other.retried;
        self.start.add_all(&other.start);
        self.run.add_all(&other.run);
    }

    fn ends(&self) -> Ends {
        let Self { completed, failed, retried, start, run, .. } = self;
        Ends {
            completed: *completed,
            failed: *failed,
            retried: *retried,
            start_p50_ms: start.percentile(50),
            start_p95_ms: start.percentile(95),
            run_p50_ms: run.percentile(50),
            run_p95_ms: run.percentile(95),
        }
    }
}

impl Default for Spread {
    fn default() -> Self {
        Self([0; BOUNDS])
    }
}

impl Spread {
    fn add(&mut self, took: Duration) {
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let at = (0..BOUNDS - 1).find(|at| ms <= bound(*at)).unwrap_or(BOUNDS - 1);
        self.0[at] = self.0[at].saturating_add(1);
    }

    fn add_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, more)| *own = own.saturating_add(*more));
    }

    /// Returns the smallest bound that covers this percentage of the durations; `None` if there are none.
    fn percentile(&self, percent: u64) -> Option<u64> {
        let all: u64 = self.0.iter().map(|count| u64::from(*count)).sum();
        let wanted = (all * percent).div_ceil(100);
        let mut seen = 0;
        let at = self.0.iter().position(|count| {
            seen += u64::from(*count);
            seen >= wanted
        })?;
        (all > 0).then(|| bound(at))
    }
}

/// Returns a bound in milliseconds: 1, 2, 2, 3, 5, 7, 10, 15, 20, 30 …
fn bound(at: usize) -> u64 {
    let power = u32::try_from(at / STEPS.len()).unwrap_or(u32::MAX);
    (STEPS[at % STEPS.len()] * 10u64.saturating_pow(power)).div_ceil(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(nth: usize) -> (Namespace, LaneId, Kind) {
        let parsed = (Namespace::parse("acme"), LaneId::parse("mail"), Kind::parse(&format!("kind-{nth}")));
        (parsed.0.unwrap(), parsed.1.unwrap(), parsed.2.unwrap())
    }

    fn series(log: &ActivityLog, nth: usize) -> Option<Arc<Series>> {
        let (namespace, lane, kind) = names(nth);
        log.series(&namespace, &lane, &kind)
    }

    #[test]
    fn ends_are_counted_by_lane_and_by_kind() {
        let log = ActivityLog::new();
        let ms = Duration::from_millis;
        let (good, bad) = (series(&log, 1).unwrap(), series(&log, 2).unwrap());
        good.started(ms(4));
        (0..98).for_each(|_| good.ended(End::Completed, ms(90)));
        good.ended(End::Retried, ms(12_000));
        bad.ended(End::Failed, ms(12_000));
        let activity = log.read(None, TimestampMs(1_000_000));
        let lane = &activity.lanes[0];
        assert_eq!((lane.ends.completed, lane.ends.failed, lane.ends.retried), (98, 1, 1));
        assert_eq!(
            (lane.ends.start_p50_ms, lane.ends.run_p50_ms, lane.ends.run_p95_ms),
            (Some(5), Some(100), Some(100))
        );
        assert_eq!((lane.minutes.len(), lane.minutes[0].ends.completed), (1, 98));
        let kinds: Vec<_> = activity.kinds.iter().map(|kind| (kind.kind.as_str(), kind.ends.failed)).collect();
        assert_eq!(kinds, [("kind-2", 1), ("kind-1", 0)]);
        assert_eq!(activity.kinds[0].ends.run_p50_ms, Some(15_000));
        assert!(!activity.left_out);
        let other = Namespace::parse("other").unwrap();
        assert_eq!(log.read(Some(&other), TimestampMs(0)), Activity::default());
    }

    #[test]
    fn the_number_of_activity_series_is_bounded_and_idle_ones_are_dropped() {
        let log = ActivityLog::new();
        let first = series(&log, 0).unwrap();
        first.ended(End::Completed, MINUTE);
        (1..SERIES).for_each(|nth| series(&log, nth).unwrap().started(MINUTE));
        assert!(series(&log, SERIES).is_none());
        assert!(log.read(None, TimestampMs(0)).left_out);
        log.series.lock().unwrap().forget(2 * MINUTES);
        assert!(series(&log, SERIES).is_some());
    }

    #[test]
    fn bounds_rise() {
        let bounds: Vec<_> = (0..BOUNDS).map(bound).collect();
        assert_eq!(bounds[..9], [1, 2, 2, 3, 5, 7, 10, 15, 20]);
        assert!(bounds.is_sorted() && bounds[BOUNDS - 1] > 86_400_000);
    }
}
