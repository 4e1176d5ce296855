//! Measures chains, in which each execution waits for the one before: first one flow at a time, then all flows at once.

use std::time::{Duration, Instant};

use ff_sdk::{Flow, Node};
use futures_util::{StreamExt, TryStreamExt, stream};
use indicatif::ProgressBar;

use crate::store::Subject;
use crate::{KIND, Report};

/// Number of flows before the measurement.
const WARM_UP: usize = 5;

/// The settings of the measurement.
pub struct Chain {
    pub store: String,
    /// Maximum number of concurrent executions.
    pub workers: usize,
    /// Members of each flow.
    pub nodes: usize,
    pub flows: usize,
}

impl Chain {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::open(&self.store).await?;
        let working = subject.work(self.workers);
        let bar = ProgressBar::new((WARM_UP + 2 * self.flows) as u64);
        self.run(&subject, WARM_UP, 1, &bar).await?;
        subject.meter.latencies.forget();
        self.run(&subject, self.flows, 1, &bar).await?;
        let latencies = subject.meter.latencies.percentiles();
        let took = self.run(&subject, self.flows, self.flows, &bar).await?;
        bar.finish_and_clear();
        let mut report = subject.report("chain").await?;
        report.throughput_per_s = Some(self.flows as f64 / took.as_secs_f64());
        report.latency_ms = latencies;
        report.set([("workers", self.workers), ("nodes", self.nodes), ("flows", self.flows)]);
        working.end().await?;
        subject.close().await;
        Ok(report)
    }

    /// Runs `flows` flows, `at_once` at a time, and returns their total time.
    async fn run(
        &self,
        subject: &Subject,
        flows: usize,
        at_once: usize,
        bar: &ProgressBar,
    ) -> anyhow::Result<Duration> {
        let began = Instant::now();
        let client = subject.flowfabric.client();
        let chains = stream::iter(0..flows).map(|_| async {
            let submitted = Instant::now();
            client.submit_flow(self.chain()).await?.wait().await?;
            subject.meter.latencies.took("flow_submit_to_done", submitted.elapsed());
            bar.inc(1);
            Ok::<_, ff_sdk::Error>(())
        });
        chains.buffer_unordered(at_once).try_collect::<()>().await?;
        Ok(began.elapsed())
    }

    fn chain(&self) -> Flow {
        let names: Vec<_> = (0..self.nodes).map(|nth| format!("n{nth}")).collect();
        let flow = names.iter().fold(Flow::new("chain"), |flow, name| flow.node(name, Node::empty(KIND)));
        names.windows(2).fold(flow, |flow, pair| flow.after(&pair[1], &pair[0]))
    }
}
