//! Handlers put out frames: as many as they can, and then one at a time to a reader that follows.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_core::contracts::StreamItem;
use ff_core::types::ExecutionId;
use ff_sdk::store_url::without_password;
use ff_sdk::{Context, Fault, Job, Reply, Worker};
use futures_util::future::try_join_all;
use tokio::sync::{Mutex, mpsc};

use crate::store::Subject;
use crate::{KIND, Report};

/// Frames one at a time.
const ALONE: usize = 500;
/// Frames one at a time before anything is measured.
const WARM_UP: usize = 50;

/// What to measure.
pub struct StreamCost {
    pub store: String,
    /// Executions that put out frames at once.
    pub workers: usize,
    /// Bytes of each frame.
    pub frame: usize,
    /// Frames of all of them.
    pub count: usize,
}

/// What a handler is to do: put out so many frames at once, or one whenever it is asked to, and say when.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Plan {
    frames: usize,
    bytes: usize,
    alone: bool,
}

impl StreamCost {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::open(&self.store).await?;
        let (asks, asked) = mpsc::unbounded_channel();
        let (said, mut says) = mpsc::unbounded_channel();
        let working = subject.run(worker(&subject, self.workers, asked, said));
        let client = subject.flowfabric.client();
        let plan = Plan { frames: self.count.div_ceil(self.workers), bytes: self.frame, alone: false };
        let began = Instant::now();
        let jobs = (0..self.workers).map(|_| client.submit(Job::new(KIND, &plan)));
        let ids: Vec<_> = try_join_all(jobs).await?.into_iter().map(|job| job.execution_id).collect();
        try_join_all(ids.iter().map(|id| client.wait(id))).await?;
        let took = began.elapsed();

        let alone = Plan { frames: WARM_UP + ALONE, alone: true, ..plan.clone() };
        let id = client.submit(Job::new(KIND, &alone)).await?.execution_id;
        self.follow(&subject, &id, &asks, &mut says).await?;
        let mut report = Report::new("stream", without_password(&self.store), subject.settings().await?);
        report.throughput_per_s = Some((plan.frames * self.workers) as f64 / took.as_secs_f64());
        report.latency_ms = subject.meter.latencies.percentiles();
        report.settings.insert("workers", self.workers.into());
        report.settings.insert("frame_bytes", self.frame.into());
        report.settings.insert("count", self.count.into());
        report.settings.insert("alone", ALONE.into());
        working.end().await?;
        subject.close().await;
        Ok(report)
    }

    /// Follows one execution, and asks for the next frame when one has come.
    async fn follow(
        &self,
        subject: &Subject,
        id: &ExecutionId,
        asks: &mpsc::UnboundedSender<()>,
        says: &mut mpsc::UnboundedReceiver<Instant>,
    ) -> anyhow::Result<()> {
        let mut reader = subject.flowfabric.client().output(id, None);
        asks.send(())?;
        let mut heard = 0;
        while let Some(item) = reader.next().await? {
            let StreamItem::Frame { .. } = item else { continue };
            let came = Instant::now();
            let put_out = says.recv().await.unwrap_or(came);
            heard += 1;
            if heard == WARM_UP {
                subject.meter.latencies.forget();
            } else if heard > WARM_UP {
                subject.meter.latencies.took("frame_to_reader", came.saturating_duration_since(put_out));
            }
            // The handler has ended when the last frame has come.
            asks.send(()).ok();
        }
        Ok(())
    }
}

/// A worker whose handlers put out frames as they are told.
fn worker(
    subject: &Subject,
    at_once: usize,
    asked: mpsc::UnboundedReceiver<()>,
    said: mpsc::UnboundedSender<Instant>,
) -> Worker {
    let asked = Arc::new(Mutex::new(asked));
    let worker = subject.flowfabric.worker("bench").concurrency(at_once).lease_ttl(Duration::from_secs(60));
    worker.on(KIND, move |context: Context, plan: Plan| {
        let (asked, said) = (asked.clone(), said.clone());
        async move {
            let (out, text) = (context.stream("out"), "x".repeat(plan.bytes));
            for _ in 0..plan.frames {
                if plan.alone {
                    asked.lock().await.recv().await;
                    // Fails when the reader has gone.
                    said.send(Instant::now()).ok();
                }
                out.text(text.as_str()).await?;
            }
            out.flush().await?;
            Ok::<_, Fault>(Reply::done())
        }
    })
}
