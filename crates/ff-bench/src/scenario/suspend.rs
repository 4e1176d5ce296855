//! Measures suspensions: a worker suspends, a client signals, the worker resumes; first one at a time, then many at once.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ff_core::types::ExecutionId;
use ff_sdk::{Client, Job, Reply, Signal, Waitpoint, Worker};
use futures_util::{StreamExt, TryStreamExt, stream};
use indicatif::ProgressBar;
use tokio::sync::mpsc;

use crate::latency::Percentiles;
use crate::store::Subject;
use crate::{KIND, Report};

/// Number of suspensions one at a time, on an otherwise idle store.
const ALONE: usize = 500;
/// Number of suspensions before the measurement.
const WARM_UP: usize = 50;

/// Name of the signal that every execution waits for.
const SIGNAL: &str = "go";

/// The settings of the measurement.
pub struct SuspendToResume {
    pub store: String,
    /// Number of concurrent clients that submit and signal, and of concurrent executions.
    pub workers: usize,
    pub count: usize,
}

impl SuspendToResume {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::open(&self.store).await?;
        let suspended = subject.meter.suspended();
        let working = subject.run(waiting_worker(&subject, self.workers));
        let (latencies, took) = tokio::select! {
            measured = self.suspensions(&subject) => measured?,
            Err(error) = signal_all(subject.flowfabric.client(), suspended, self.workers) => return Err(error.into()),
        };
        let mut report = subject.report("suspend").await?;
        report.throughput_per_s = Some(self.count as f64 / took.as_secs_f64());
        report.latency_ms = latencies;
        report.set([("workers", self.workers), ("count", self.count), ("alone", ALONE)]);
        working.end().await?;
        subject.close().await;
        Ok(report)
    }

    /// Returns the latencies one at a time, and the time of `count` concurrent suspensions.
    async fn suspensions(&self, subject: &Subject) -> anyhow::Result<(BTreeMap<String, Percentiles>, Duration)> {
        let bar = ProgressBar::new((WARM_UP + ALONE + self.count) as u64);
        self.run(subject, WARM_UP, 1, &bar).await?;
        subject.meter.latencies.forget();
        self.run(subject, ALONE, 1, &bar).await?;
        let latencies = subject.meter.latencies.percentiles();
        let took = self.run(subject, self.count, self.workers, &bar).await?;
        bar.finish_and_clear();
        Ok((latencies, took))
    }

    /// Runs `count` suspensions, `at_once` at a time, and returns their total time.
    async fn run(
        &self,
        subject: &Subject,
        count: usize,
        at_once: usize,
        bar: &ProgressBar,
    ) -> anyhow::Result<Duration> {
        let began = Instant::now();
        let client = subject.flowfabric.client();
        let suspensions = stream::iter(0..count).map(|_| async {
            let job = client.submit(Job::new(KIND, &())).await?;
            client.wait(&job.execution_id).await?;
            bar.inc(1);
            Ok::<_, ff_sdk::Error>(())
        });
        suspensions.buffer_unordered(at_once).try_collect::<()>().await?;
        Ok(began.elapsed())
    }
}

/// Returns a worker whose handlers wait for a signal once. The time is measured from the wait to the line after it, in another run
/// of the handler.
fn waiting_worker(subject: &Subject, at_once: usize) -> Worker {
    let meter = subject.meter.clone();
    let waits: Arc<Mutex<HashMap<ExecutionId, Instant>>> = Arc::default();
    subject.flowfabric.worker("bench").concurrency(at_once).on(KIND, move |context: ff_sdk::Context| {
        let (meter, waits) = (meter.clone(), waits.clone());
        async move {
            let id = context.task().execution_id;
            let lock = || waits.lock().unwrap_or_else(PoisonError::into_inner);
            lock().entry(id).or_insert_with(Instant::now);
            context.wait_for_signal(SIGNAL).await?;
            if let Some(began) = lock().remove(&id) {
                meter.latencies.took("suspend_to_resume", began.elapsed());
            }
            Ok(Reply::done())
        }
    })
}

/// Signals every execution as soon as it is suspended.
async fn signal_all(
    client: Client,
    mut suspended: mpsc::UnboundedReceiver<Waitpoint>,
    at_once: usize,
) -> Result<(), ff_sdk::Error> {
    let waitpoints = stream::poll_fn(move |context| suspended.poll_recv(context));
    let signals = waitpoints.map(|waitpoint| {
        let (client, signal) = (client.clone(), Signal::new(&waitpoint, SIGNAL));
        async move { client.signal(signal).await.map(drop) }
    });
    signals.buffer_unordered(at_once).try_collect().await
}
