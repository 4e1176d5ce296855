//! All counters and histograms, and the functions that update them.

use std::time::Duration;

use ff_core::backend::Answer;
use ff_core::contracts::{ClaimArgs, ClaimedExecution, FailedAttempt};
use ff_core::engine_error::EngineError;
use ff_core::execution::Origin;
use ff_core::rule::due::PumpedPartition;
use ff_core::types::{Kind, LeaseId, TimestampMs};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::activity::{ActivityLog, End};
use super::admission::Admission;
use super::capped_counter::CappedCounter;
use super::clock::StoreClock;
use super::labels::{FailureLabel, LaneLabel, RequestLabel, WordLabel};
use super::register::{HistogramFamily, enter, long, long_family, quick_family};
use super::runs::{RunEnd, Runs};
use super::ticks::Ticks;

/// All metrics except those read when a scraper asks. An update costs a few atomic operations and, for metrics with labels, a
/// lookup in a small map.
pub(super) struct MetricSet {
    pub(super) clock: StoreClock,
    pub(super) activity: ActivityLog,
    runs: Runs,
    claims: CappedCounter<LaneLabel>,
    attempts: Family<WordLabel, Counter>,
    completions: Counter,
    failures: CappedCounter<FailureLabel>,
    lease_expiries: Counter,
    attempt_timeouts: Counter,
    deadlines: Counter,
    start: Histogram,
    run: HistogramFamily<WordLabel>,
    store: HistogramFamily<WordLabel>,
    store_errors: Family<WordLabel, Counter>,
    feed_lag: HistogramFamily<WordLabel>,
    feed_missed: Family<WordLabel, Counter>,
    requests: HistogramFamily<RequestLabel>,
    pub(super) admission: Admission,
    pub(super) ticks: Ticks,
}

impl MetricSet {
    pub(super) fn registered(registry: &mut Registry) -> Self {
        let gathered = Self {
            clock: StoreClock::default(),
            activity: ActivityLog::new(),
            runs: Runs::default(),
            claims: CappedCounter::registered(registry, "claims", "Executions given to workers"),
            attempts: enter(registry, "attempts", "Attempts started, by origin", Family::default()),
            completions: enter(registry, "completions", "Executions that workers completed", Counter::default()),
            failures: CappedCounter::registered(registry, "failures", "Attempts that workers reported as failed"),
            lease_expiries: enter(registry, "lease_expiries", "Leases not renewed in time", Counter::default()),
            attempt_timeouts: enter(
                registry,
                "attempt_timeouts",
                "Attempts that ran longer than their policy allows",
                Counter::default(),
            ),
            deadlines: enter(
                registry,
                "deadlines_passed",
                "Executions that ended because their deadline had passed",
                Counter::default(),
            ),
            start: enter(registry, "start_latency_seconds", "Time from a submission to its first start", long()),
            run: enter(registry, "run_seconds", "Time from a claim to its end", long_family()),
            store: enter(registry, "store_seconds", "Time until the store answered", quick_family()),
            store_errors: enter(registry, "store_errors", "Calls that the store did not answer", Family::default()),
            feed_lag: enter(registry, "feed_lag_seconds", "Age of the last event sent to a reader", quick_family()),
            feed_missed: enter(registry, "feed_missed", "Readers that missed events", Family::default()),
            requests: enter(registry, "http_request_seconds", "Time until the response begins", quick_family()),
            admission: Admission::registered(registry),
            ticks: Ticks::registered(registry),
        };
        gathered.begin_at_zero();
        gathered
    }

    /// Creates the counters at zero, so that the first event is an increase.
    fn begin_at_zero(&self) {
        for word in ["initial", "retry", "reclaim", "replay"] {
            drop(self.attempts.get_or_create(&origin(word)));
        }
        for word in ["unavailable", "unknown", "corrupt"] {
            drop(self.store_errors.get_or_create(&kind(word)));
        }
        for word in ["events", "deliveries"] {
            drop(self.feed_missed.get_or_create(&feed(word)));
        }
    }

    /// Records a call to the store, with its duration and error.
    pub(super) fn note_answer<T>(&self, operation: &'static str, took: Duration, answer: &Answer<T>) {
        self.store.get_or_create(&WordLabel { label: "operation", word: operation }).observe(took.as_secs_f64());
        let word = match answer {
            Ok(_) | Err(EngineError::Refused(_)) => return,
            Err(EngineError::Unavailable(_)) => "unavailable",
            Err(EngineError::Unknown(_)) => "unknown",
            Err(EngineError::Corrupt(_)) => "corrupt",
        };
        self.store_errors.get_or_create(&kind(word)).inc();
    }

    /// Records claimed executions. The store's own times give the submission and the claim.
    pub(super) fn claimed(&self, lane: &LaneLabel, claimed: &[ClaimedExecution]) {
        if claimed.is_empty() {
            return;
        }
        self.claims.add(lane, claimed.len());
        for ClaimedExecution { task, .. } in claimed {
            let series = self.activity.series(&task.namespace, &task.lane_id, &task.kind);
            self.runs.began(task.fence.lease_id, series.clone());
            if task.resumed {
                continue;
            }
            let word = match task.attempt {
                Origin::Initial => {
                    let waited = task.lease_expires_at.since(task.created_at).saturating_sub(task.lease_ttl_ms);
                    let waited = Duration::from_millis(waited);
                    self.start.observe(waited.as_secs_f64());
                    if let Some(series) = series {
                        series.started(waited);
                    }
                    "initial"
                }
                Origin::Retry { .. } => "retry",
                Origin::Reclaim { .. } => "reclaim",
                Origin::Replay { .. } => "replay",
            };
            self.attempts.get_or_create(&origin(word)).inc();
        }
    }

    pub(super) fn completed(&self, lease: LeaseId) {
        if let RunEnd::Now(ran, series) = self.runs.ended(lease) {
            self.completions.inc();
            self.ran("completed", ran);
            if let Some((series, ran)) = series.zip(ran) {
                series.ended(End::Completed, ran);
            }
        }
    }

    pub(super) fn failed(&self, lease: LeaseId, category: Kind, failed: &FailedAttempt) {
        if let RunEnd::Now(ran, series) = self.runs.ended(lease) {
            let is_retried = matches!(failed, FailedAttempt::RetryScheduled { .. });
            self.failures.add(&FailureLabel::new(category, is_retried), 1);
            self.ran("failed", ran);
            if let Some((series, ran)) = series.zip(ran) {
                series.ended(if is_retried { End::Retried } else { End::Failed }, ran);
            }
        }
    }

    pub(super) fn pumped(&self, PumpedPartition { lapsed, .. }: &PumpedPartition) {
        self.lease_expiries.inc_by(lapsed.leases as u64);
        self.attempt_timeouts.inc_by(lapsed.attempts as u64);
        self.deadlines.inc_by(lapsed.deadlines as u64);
    }

    /// Records that a reader of a feed received the events up to a time.
    pub(super) fn feed_read(&self, word: &'static str, last: TimestampMs, now: TimestampMs) {
        let lag = Duration::from_millis(now.since(last));
        self.feed_lag.get_or_create(&feed(word)).observe(lag.as_secs_f64());
    }

    pub(super) fn missed(&self, word: &'static str) {
        self.feed_missed.get_or_create(&feed(word)).inc();
    }

    pub(super) fn answered(&self, answered: &RequestLabel, took: Duration) {
        self.requests.get_or_create(answered).observe(took.as_secs_f64());
    }

    fn ran(&self, outcome: &'static str, ran: Option<Duration>) {
        if let Some(ran) = ran {
            self.run.get_or_create(&WordLabel { label: "outcome", word: outcome }).observe(ran.as_secs_f64());
        }
    }
}

/// Returns the lane of a claim.
pub(super) fn lane_of(args: &ClaimArgs) -> LaneLabel {
    LaneLabel::new(&args.namespace, &args.lane)
}

fn origin(word: &'static str) -> WordLabel {
    WordLabel { label: "origin", word }
}

fn kind(word: &'static str) -> WordLabel {
    WordLabel { label: "kind", word }
}

fn feed(word: &'static str) -> WordLabel {
    WordLabel { label: "feed", word }
}
