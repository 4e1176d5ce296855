//! Measures quorums that are reached while other upstreams run: the time until the last of them is cancelled.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use ff_core::flow::FlowEventKind;
use ff_core::state::PublicState;
use ff_sdk::{Context, Fault, Flow, Node, Reply, Worker, quorum};
use indicatif::ProgressBar;
use tokio::sync::Semaphore;

use crate::store::Subject;
use crate::{KIND, Report};

/// Kind of executions that end only when they are cancelled.
const IDLER: &str = "ff-bench-idler";
/// Kind of the execution that ends on request, which reaches the quorum.
const WINNER: &str = "ff-bench-winner";

/// Number of flows before the measurement.
const WARM_UP: usize = 3;

/// The settings of the measurement.
pub struct QuorumCancel {
    pub store: String,
    /// Number of upstreams that are cancelled.
    pub width: usize,
    pub flows: usize,
}

impl QuorumCancel {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::open(&self.store).await?;
        let let_win = Arc::new(Semaphore::new(0));
        let working = subject.run(racing_worker(&subject, self.width + 2, let_win.clone()));
        let bar = ProgressBar::new((WARM_UP + self.flows) as u64);
        for nth in 0..WARM_UP + self.flows {
            if nth == WARM_UP {
                subject.meter.latencies.forget();
            }
            self.one(&subject, &let_win).await?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        let mut report = subject.report("quorum-cancel").await?;
        report.latency_ms = subject.meter.latencies.percentiles();
        report.set([("width", self.width), ("flows", self.flows)]);
        working.end().await?;
        subject.close().await;
        Ok(report)
    }

    /// Runs one flow. Its winner ends once all other upstreams run. Records the time until the last of them is known to be
    /// cancelled.
    async fn one(&self, subject: &Subject, let_win: &Semaphore) -> anyhow::Result<()> {
        let flow = subject.flowfabric.client().submit_flow(self.flow()).await?;
        let mut events = flow.events();
        let (mut running, mut left) = (0, self.width);
        let mut began = None;
        while left > 0 {
            let event = events.next().await.context("the flow ended before its upstreams did")??;
            let FlowEventKind::Moved { to, .. } = event.what else { continue };
            running += usize::from(to == PublicState::Active);
            left -= usize::from(to == PublicState::Cancelled);
            if running > self.width && began.is_none() {
                began = Some(Instant::now());
                let_win.add_permits(1);
            }
        }
        if let Some(began) = began {
            subject.meter.latencies.took("quorum_cancel", began.elapsed());
        }
        flow.wait().await?;
        Ok(())
    }

    fn flow(&self) -> Flow {
        let names: Vec<_> = (0..self.width).map(|nth| format!("idler{nth}")).collect();
        let ends = Flow::new("quorum").node("winner", Node::empty(WINNER)).node("last", Node::empty(KIND));
        let flow = names.iter().fold(ends, |flow, name| flow.node(name, Node::empty(IDLER)));
        let upstreams = names.iter().map(String::as_str).chain(["winner"]);
        flow.after_each("last", upstreams).join(quorum(1).cancel_remaining())
    }
}

/// Returns a worker for all members of a flow at once. An idle handler returns when its execution is cancelled.
fn racing_worker(subject: &Subject, at_once: usize, let_win: Arc<Semaphore>) -> Worker {
    let worker = subject.flowfabric.worker("bench").concurrency(at_once);
    let worker = worker.on(KIND, |_: Context| async { Ok::<_, Fault>(Reply::done()) });
    let worker = worker.on(IDLER, |context: Context| async move {
        context.cancelled().await;
        Ok::<_, Fault>(Reply::done())
    });
    worker.on(WINNER, move |_: Context| {
        let let_win = let_win.clone();
        async move {
            // Fails only when the semaphore is closed, which never happens.
            if let Ok(permit) = let_win.acquire().await {
                permit.forget();
            }
            Ok::<_, Fault>(Reply::done())
        }
    })
}
