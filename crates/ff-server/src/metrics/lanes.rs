//! The depth of lanes, read when a scraper asks, at a rate that the store can bear.

use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::{LaneInfo, LanesPage, ListLanesArgs};
use ff_core::engine_error::EngineError;
use ff_core::types::TimestampMs;
use ff_scheduler::Runtime;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use tokio::sync::Mutex;

use super::budgets::Budgets;
use super::labels::{LaneLabel, LaneStateLabel};
use super::register::enter;

/// Maximum number of lanes with metrics.
const LANES: usize = 500;

/// Minimum time between two reads: this time, or this multiple of the duration of the last read if that is longer. A client
/// that fetches in a loop uses at most a tenth of one reader's time.
const GOOD_FOR: Duration = Duration::from_secs(5);
const GOOD_TIMES: u32 = 10;

/// Maximum time for the store to answer. Prometheus gives up after ten seconds by default.
const PATIENCE: Duration = Duration::from_secs(5);

type Seconds = Gauge<f64, AtomicU64>;

/// The lanes, as of the last read.
pub(super) struct Lanes {
    depth: Family<LaneStateLabel, Gauge>,
    oldest: Family<LaneStateLabel, Seconds>,
    left_out: Gauge,
    pump_lag: Seconds,
    quota_corrections: Counter,
    store_up: Gauge,
    budgets: Budgets,
    good_until: Mutex<Option<Instant>>,
}

impl Lanes {
    pub(super) fn registered(registry: &mut Registry) -> Self {
        let oldest = "Time since the oldest execution of a lane entered the state";
        let corrections = "Corrected slots and queue entries of quotas";
        let up = "1 when the store answered the last read of its lanes";
        Self {
            depth: enter(registry, "lane_depth", "Executions of a lane in a state", Family::default()),
            oldest: enter(registry, "lane_oldest_seconds", oldest, Family::default()),
            left_out: enter(
                registry,
                "lanes_left_out",
                "1 when there are more lanes than have metrics",
                Gauge::default(),
            ),
            pump_lag: enter(
                registry,
                "pump_lag_seconds",
                "Age of the oldest due timer not handled yet",
                Seconds::default(),
            ),
            quota_corrections: enter(registry, "quota_corrections", corrections, Counter::default()),
            store_up: enter(registry, "store_up", up, Gauge::default()),
            budgets: Budgets::registered(registry),
            good_until: Mutex::default(),
        }
    }

    /// Reads the lanes again, unless the last values are recent enough.
    pub(super) async fn look(&self, ff: &Runtime) {
        let store = ff.engine_store();
        let mut good_until = self.good_until.lock().await;
        let began = Instant::now();
        if good_until.is_some_and(|until| began < until) {
            return;
        }
        let seen = tokio::time::timeout(PATIENCE, see(&**store)).await;
        let seen = seen.unwrap_or_else(|_| Err(EngineError::Unknown("it took too long".into())));
        *good_until = Some(Instant::now() + GOOD_FOR.max(began.elapsed() * GOOD_TIMES));
        self.store_up.set(i64::from(seen.is_ok()));
        // Old values are removed: an alert must not depend on them.
        self.depth.clear();
        self.oldest.clear();
        self.budgets.clear();
        match seen {
            Ok((now, page)) => {
                if let Err(error) = self.budgets.look(&**store, now).await {
                    store.outages().log_failure("metrics", &error);
                }
                self.left_out.set(i64::from(page.next.is_some()));
                page.lanes.iter().for_each(|lane| self.enter(lane, now));
                let behind = ff.pump_behind(now).unwrap_or_default();
                self.pump_lag.set(behind.as_secs_f64());
                let corrected = ff.quota_corrections().saturating_sub(self.quota_corrections.get());
                self.quota_corrections.inc_by(corrected);
            }
            Err(error) => store.outages().log_failure("metrics", &error),
        }
    }

    fn enter(&self, lane: &LaneInfo, now: TimestampMs) {
        for (state, depth) in &lane.depths {
            let standing = LaneStateLabel { of: LaneLabel::new(&lane.namespace, &lane.lane_id), state: *state };
            self.depth.get_or_create(&standing).set(i64::try_from(depth.count).unwrap_or(i64::MAX));
            if let Some(first_at) = depth.first_at {
                let age = Duration::from_millis(now.since(first_at));
                self.oldest.get_or_create(&standing).set(age.as_secs_f64());
            }
        }
    }
}

/// Reads the lanes with metrics. A page examines a bounded number of lanes, and many may be empty, so several pages are read.
async fn see(store: &dyn EngineStore) -> Answer<(TimestampMs, LanesPage)> {
    let mut args = ListLanesArgs { namespace: None, after: None, limit: LANES, finished: false };
    let mut lanes = Vec::new();
    let next = loop {
        let page = store.list_lanes(args.clone()).await?;
        lanes.extend(page.lanes);
        args.limit = LANES.saturating_sub(lanes.len());
        if page.next.is_none() || args.limit == 0 {
            break page.next;
        }
        args.after = page.next;
    };
    Ok((store.now().await?, LanesPage { lanes, next }))
}
