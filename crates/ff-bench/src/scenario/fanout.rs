//! Measures flows in which one execution releases many and one waits for all of them: the total time, and the cost per end with
//! many and few members.

use std::time::{Duration, Instant};

use ff_sdk::{Flow, Node};
use indicatif::ProgressBar;

use crate::store::Subject;
use crate::{KIND, Report};

/// Number of parallel members of a narrow flow.
const FEW: usize = 10;

/// Number of rounds, each with a wide flow and as much work in narrow flows.
const ROUNDS: usize = 7;

/// The settings of the measurement.
pub struct Fanout {
    pub store: String,
    /// Maximum number of concurrent executions.
    pub workers: usize,
    pub width: usize,
}

impl Fanout {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::open(&self.store).await?;
        let working = subject.work(self.workers);
        let bar = ProgressBar::new((2 * ROUNDS + 1) as u64);
        self.wide(&subject, &bar).await?;
        subject.meter.latencies.forget();
        let (mut wides, mut narrows) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            wides.push(self.wide(&subject, &bar).await?);
            narrows.push(self.narrow(&subject, &bar).await?);
        }
        bar.finish_and_clear();
        let mut report = subject.report("fanout").await?;
        let ratios = wides.iter().zip(&narrows).map(|(wide, narrow)| wide.as_secs_f64() / narrow.as_secs_f64());
        report.latency_ms = subject.meter.latencies.percentiles();
        let micros = |took: &Duration| took.as_secs_f64() * 1e6;
        report.add_median("us_per_member_of_wide", wides.iter().map(micros));
        report.add_median("us_per_member_of_narrow", narrows.iter().map(micros));
        report.add_median("wide_to_narrow", ratios);
        report.set([("workers", self.workers), ("width", self.width), ("narrow", FEW)]);
        working.end().await?;
        subject.close().await;
        Ok(report)
    }

    /// Runs one wide flow. Returns the time per member.
    async fn wide(&self, subject: &Subject, bar: &ProgressBar) -> anyhow::Result<Duration> {
        let began = Instant::now();
        subject.flowfabric.client().submit_flow(fan(self.width)).await?.wait().await?;
        let took = began.elapsed();
        subject.meter.latencies.took("flow_submit_to_done", took);
        bar.inc(1);
        Ok(took.div_f64(self.width as f64))
    }

    /// Runs as many members in narrow flows, all flows at once. Returns the time per member.
    async fn narrow(&self, subject: &Subject, bar: &ProgressBar) -> anyhow::Result<Duration> {
        let began = Instant::now();
        let client = subject.flowfabric.client();
        let flows = self.width.div_ceil(FEW);
        let ends = (0..flows).map(|_| async { client.submit_flow(fan(FEW)).await?.wait().await });
        futures_util::future::try_join_all(ends).await?;
        bar.inc(1);
        Ok(began.elapsed().div_f64((flows * FEW) as f64))
    }
}

fn fan(width: usize) -> Flow {
    let names: Vec<_> = (0..width).map(|nth| format!("n{nth}")).collect();
    let ends = Flow::new("fan").node("first", Node::empty(KIND)).node("last", Node::empty(KIND));
    let flow = names.iter().fold(ends, |flow, name| flow.node(name, Node::empty(KIND)).after(name, "first"));
    flow.after_each("last", names.iter().map(String::as_str))
}
