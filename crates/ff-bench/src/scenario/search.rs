//! Measures how soon a search in a large store returns its first page.

use std::time::{Duration, Instant};

use ff_core::contracts::ListArgs;
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_core::types::{LaneId, TimestampMs};
use ff_sdk::{Job, Search};
use indicatif::ProgressBar;

use crate::load::fill;
use crate::store::Subject;
use crate::{KIND, Report};

/// Rows per page.
const ROWS: usize = 100;
/// Number of searches of each kind.
const SEARCHES: usize = 200;
/// Number of executions that are explained.
const EXPLAINED: usize = 100;
/// Number of customers, a tag of the executions.
const CUSTOMERS: usize = 1_000;
/// One execution in `DELAYED` is delayed; the others wait for a worker.
const DELAYED: usize = 100;
/// Number of spans into which the creation times are divided.
const SPANS: i64 = 20;
/// Delay of the delayed executions.
const DELAY: Duration = Duration::from_secs(86_400);

/// The settings of the measurement.
pub struct SearchCost {
    pub store: String,
    pub executions: usize,
}

impl SearchCost {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::open(&self.store).await?;
        let mut report = subject.report("search").await?;
        let bar = ProgressBar::new((self.executions + 4 * SEARCHES + EXPLAINED) as u64);
        let began = now(&subject).await?;
        fill(&subject, self.executions, &bar, job).await?;
        let span = (now(&subject).await? - began).max(SPANS);
        let within = |nth: usize, search: Search| {
            let from = began + span / SPANS * (nth as i64 % SPANS);
            search.created_from(TimestampMs(from)).created_until(TimestampMs(from + span / SPANS))
        };
        let mut rows = 0;
        for nth in 0..SEARCHES {
            let customer = customer(nth * 7);
            let searches = [
                ("tag", Search::all().tag("customer", &customer)),
                ("state", Search::all().state(PublicState::Delayed)),
                ("time", within(nth, Search::all())),
                ("tag_state_time", within(nth, Search::all().tag("customer", &customer).state(PublicState::Waiting))),
            ];
            for (name, search) in searches {
                let args = ListArgs { filter: search.build()?, after: None, limit: ROWS };
                let start = Instant::now();
                rows += subject.flowfabric.backend().list(args).await?.executions.len();
                subject.meter.latencies.took(name, start.elapsed());
                bar.inc(1);
            }
        }
        explain(&subject, &bar).await?;
        bar.finish_and_clear();
        report.latency_ms = subject.meter.latencies.percentiles();
        let named = ["tag", "state", "time", "tag_state_time", "explain", "explain_lane"];
        report.latency_ms.retain(|name, _| named.contains(&name.as_str()));
        report.figures.insert("rows_per_page", rows as f64 / (4 * SEARCHES) as f64);
        report.set([("executions", self.executions), ("searches", SEARCHES)]);
        subject.close().await;
        Ok(report)
    }
}

/// Asks why the newest executions, which are behind all others, do not run, and why their lane does not.
async fn explain(subject: &Subject, bar: &ProgressBar) -> anyhow::Result<()> {
    let (backend, lane) = (subject.flowfabric.backend(), LaneId::default_name());
    let newest = ListArgs { filter: Search::all().build()?, after: None, limit: EXPLAINED };
    for info in backend.list(newest).await?.executions {
        let start = Instant::now();
        backend.explain(&info.execution_id).await?;
        subject.meter.latencies.took("explain", start.elapsed());
        let start = Instant::now();
        backend.explain_lane(&info.namespace, &lane).await?;
        subject.meter.latencies.took("explain_lane", start.elapsed());
        bar.inc(1);
    }
    Ok(())
}

fn job(nth: usize) -> Job {
    let job = Job::with_payload(KIND, Payload::json("1")).tag("customer", &customer(nth));
    if nth.is_multiple_of(DELAYED) { job.delay(DELAY) } else { job }
}

fn customer(nth: usize) -> String {
    format!("c-{}", nth % CUSTOMERS)
}

/// Returns the store's time.
async fn now(subject: &Subject) -> anyhow::Result<i64> {
    let submitted = subject.flowfabric.client().submit(Job::with_payload(KIND, Payload::json("1"))).await?;
    Ok(subject.flowfabric.backend().describe(&submitted.execution_id).await?.created_at.0)
}
