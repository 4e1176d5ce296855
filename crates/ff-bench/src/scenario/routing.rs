//! Measures work that only few workers can run: how long it takes, and whether it slows down other work.
//!
//! Runs three rounds on one store: the work with requirements alone on the workers that can run it, as much work in all without
//! requirements, and both together.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_core::payload::Payload;
use ff_sdk::{Context, Job, Reply, Worker};
use indicatif::ProgressBar;
use tokio::sync::Semaphore;
use tokio::time::{Instant as Moment, sleep_until};

use crate::load::fill;
use crate::store::{Subject, WorkerTask};
use crate::{KIND, Report};

/// Capability of the capable workers.
const CAPABILITY: &str = "gpu";

/// The settings of the measurement.
pub struct Routing {
    pub store: String,
    /// Number of workers, each with one execution at a time.
    pub workers: usize,
    /// One worker in `one_in` is capable.
    pub one_in: usize,
    /// Number of executions; a tenth of them need a capable worker.
    pub count: usize,
    /// Duration of each execution.
    pub work: Duration,
}

/// The kind of work in a round.
#[derive(Clone, Copy)]
struct Round {
    name: &'static str,
    /// Whether a tenth of the work needs a capable worker.
    requires: bool,
    /// Whether there is work without requirements.
    others: bool,
}

impl Routing {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::open(&self.store).await?;
        let mut report = subject.report("routing").await?;
        let bar = ProgressBar::new((2 * self.count + self.count.div_ceil(10)) as u64);
        let alone = self.round(&subject, &bar, Round { name: "alone", requires: true, others: false }).await?;
        self.round(&subject, &bar, Round { name: "without", requires: false, others: true }).await?;
        self.round(&subject, &bar, Round { name: "together", requires: true, others: true }).await?;
        bar.finish_and_clear();
        report.latency_ms = subject.meter.latencies.percentiles();
        report.latency_ms.retain(|name, _| name.contains("capable") || name.contains("plain"));
        let p99 = |name: &str| report.latency_ms.get(name).map_or(f64::NAN, |latency| latency.p99 / 1_000.0);
        report.figures.insert("capable_one_after_the_other_s", alone.as_secs_f64());
        report.figures.insert("capable_p99_s", p99("together/capable"));
        report.figures.insert("capable_p99_ratio", p99("together/capable") / alone.as_secs_f64());
        report.figures.insert("plain_p99_ratio", p99("together/plain") / p99("without/plain"));
        report.set([("workers", self.workers), ("one_capable_in", self.one_in), ("count", self.count)]);
        report.settings.insert("work_ms", u64::try_from(self.work.as_millis())?.into());
        subject.close().await;
        Ok(report)
    }

    /// Submits the work of a round, runs it, and returns the total time. Records the time of each execution since the start of the
    /// round, under the name of the round and whether it needed a capable worker.
    async fn round(&self, subject: &Subject, bar: &ProgressBar, round: Round) -> anyhow::Result<Duration> {
        let needs_capable = |nth: usize| round.requires && nth.is_multiple_of(10);
        let wanted: Vec<_> = (0..self.count).filter(|nth| round.others || needs_capable(*nth)).collect();
        let done = Arc::new(Semaphore::new(0));
        let began = Instant::now();
        let jobs = &wanted;
        fill(subject, wanted.len(), bar, |nth| {
            let job = Job::with_payload(KIND, Payload::json("1"));
            if needs_capable(jobs[nth]) { job.require(CAPABILITY) } else { job }
        })
        .await?;
        let workers: Vec<_> =
            (0..self.workers).map(|nth| self.worker(subject, nth, round.name, began, &done)).collect();
        drop(done.acquire_many(u32::try_from(wanted.len())?).await?);
        let took = began.elapsed();
        for worker in workers {
            worker.end().await?;
        }
        Ok(took)
    }

    fn worker(
        &self,
        subject: &Subject,
        nth: usize,
        round: &'static str,
        began: Instant,
        done: &Arc<Semaphore>,
    ) -> WorkerTask {
        let (meter, done, work) = (subject.meter.clone(), done.clone(), self.work);
        let worker: Worker = subject.flowfabric.worker("bench").on(KIND, move |context: Context| {
            let (meter, done) = (meter.clone(), done.clone());
            async move {
                sleep_until(Moment::now() + work).await;
                let required = !context.task().policy.routing_requirements.is_empty();
                let of = if required { "capable" } else { "plain" };
                meter.latencies.took(&format!("{round}/{of}"), began.elapsed());
                done.add_permits(1);
                Ok(Reply::done())
            }
        });
        subject.run(if nth.is_multiple_of(self.one_in) { worker.capability(CAPABILITY) } else { worker })
    }
}
