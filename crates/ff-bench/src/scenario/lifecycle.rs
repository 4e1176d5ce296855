//! Measures submit, claim and complete through the SDK, in rounds with the bare store between them. Machine speed changes within
//! minutes, so only neighbouring runs are compared.

use std::time::{Duration, Instant};

use anyhow::Context;
use ff_sdk::Job;
use indicatif::ProgressBar;

use crate::load::{fill, lifecycles};
use crate::processor::processor_time;
use crate::store::{FloorLoad, NoopWorker, StoreUsage, Subject};
use crate::{JobShape, Report, median};

/// Number of measured rounds, each with the floor before and after it.
const ROUNDS: usize = 9;
/// Number of submissions to an idle store.
const IDLE_SUBMISSIONS: usize = 200;
/// Number of lifecycles before the measurement.
const WARM_UP: usize = 2_000;
/// Maximum number of waiting executions while the store is filled.
const FILLED_AT_ONCE: usize = 20_000;

/// The settings of the measurement.
pub struct Lifecycle {
    /// The URL of a store, or of a server.
    pub target: String,
    pub job: JobShape,
    /// Submit up to [`ff_core::limits::BULK`] jobs per call, and work when all are submitted.
    pub bulk: bool,
    /// Finished executions in the store before the measurement. Unless 0, the empty store is measured too.
    pub kept: usize,
    /// Number of concurrent submitters and of concurrent executions.
    pub workers: usize,
    pub payload: usize,
    pub count: usize,
}

/// One round: lifecycles per second of the store, and of its floor right before and right after it.
struct Round {
    throughput: f64,
    /// Submissions per second, if all jobs were submitted before the work began.
    submitted: Option<f64>,
    floor: Option<f64>,
    floor_after: Option<f64>,
    /// Usage of the store during the round, without the floor.
    usage: StoreUsage,
    /// Processor time of this process during the round.
    process: Duration,
}

impl Round {
    /// Returns the rate of the store divided by the mean rate of the floor before and after it.
    fn ratio(&self) -> Option<f64> {
        Some(self.throughput / ((self.floor? + self.floor_after?) / 2.0))
    }
}

impl Lifecycle {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::reach(&self.target).await?;
        let stages = if self.kept > 0 { 2 } else { 1 };
        let each = WARM_UP + self.per_round() * ROUNDS;
        let bar = ProgressBar::new((stages * each + self.kept + IDLE_SUBMISSIONS) as u64);
        let mut empty = None;
        if self.kept > 0 {
            empty = Some(self.rounds(&mut subject, &bar).await?);
            self.keep(&subject, &bar).await?;
        }
        let bytes_before = subject.reading().await?.bytes;
        let rounds = self.rounds(&mut subject, &bar).await?;
        let bytes = subject.reading().await?.bytes.saturating_sub(bytes_before);
        // Latencies under load end here. An idle store answers sooner.
        let mut latencies = subject.meter.latencies.percentiles();
        self.submit_to_start(&subject, &bar).await?;
        latencies
            .extend(subject.meter.latencies.percentiles().into_iter().filter(|(name, _)| name == "submit_to_start"));
        bar.finish_and_clear();

        let mut report = subject.report("lifecycle").await?;
        report.latency_ms = latencies;
        report.figures.insert("bytes_per_execution", bytes as f64 / each as f64);
        self.write_figures(&mut report, &rounds, empty.as_deref());
        subject.close().await;
        Ok(report)
    }

    /// Writes the figures of the rounds into a report, with the ratio to the empty store where it was measured.
    fn write_figures(&self, report: &mut Report, rounds: &[Round], empty: Option<&[Round]>) {
        report.throughput_per_s = throughput(rounds);
        report.floor_per_s = median(rounds.iter().filter_map(|round| round.floor));
        report.ratio = ratio(rounds);
        let lifecycles = (self.per_round() * ROUNDS) as f64;
        let each = |of: fn(&Round) -> u64| rounds.iter().map(of).sum::<u64>() as f64 / lifecycles;
        let figures = [
            ("calls_per_lifecycle", each(|round| round.usage.calls)),
            ("inner_calls_per_lifecycle", each(|round| round.usage.inner_calls)),
            ("server_us_per_lifecycle", each(|round| round.usage.busy_us)),
            ("function_us_per_lifecycle", each(|round| round.usage.function_us)),
            // Submitting, claiming and completing count as one step each.
            ("steps_per_commit", 3.0 / each(|round| round.usage.commits)),
        ];
        // A figure that a store does not report is zero.
        report.figures.extend(figures.into_iter().filter(|(_, figure)| *figure > 0.0 && figure.is_finite()));
        let process: Duration = rounds.iter().map(|round| round.process).sum();
        report.figures.insert("process_us_per_lifecycle", process.as_secs_f64() * 1e6 / lifecycles);
        report.add_median("submitted_per_s", rounds.iter().filter_map(|round| round.submitted));
        if let Some(empty) = empty {
            // Compares ratios where there is a floor, which cancels changes in the speed of the machine.
            let (full, before) = (ratio(rounds).or(throughput(rounds)), ratio(empty).or(throughput(empty)));
            let of_empty = full.zip(before).map(|(full, before)| full / before);
            report.figures.extend(of_empty.map(|quotient| ("kept_to_empty", quotient)));
        }
        report.settings.insert("job", self.job.as_str().into());
        report.settings.insert("bulk", self.bulk.into());
        report.set([("kept", self.kept), ("workers", self.workers), ("payload_bytes", self.payload)]);
        report.set([("count", self.count), ("rounds", ROUNDS)]);
    }

    fn per_round(&self) -> usize {
        self.count.div_ceil(ROUNDS)
    }

    fn work(&self, subject: &Subject) -> NoopWorker {
        subject.work_with(self.workers, self.job.reply())
    }

    /// Runs a warm-up and all rounds.
    async fn rounds(&self, subject: &mut Subject, bar: &ProgressBar) -> anyhow::Result<Vec<Round>> {
        let mut working = (!self.bulk).then(|| self.work(subject));
        let cold = subject.reading().await?;
        self.run(subject, WARM_UP, bar).await?;
        let warm = subject.reading().await?;
        let mut floor = self.floor(subject, WARM_UP, warm.commits - cold.commits).await?;
        subject.meter.latencies.forget();
        let mut rounds = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            let round = self.round(subject, floor, bar).await?;
            floor = round.floor_after;
            rounds.push(round);
            working.iter_mut().for_each(NoopWorker::forget_starts);
        }
        if let Some(working) = working {
            working.end().await?;
        }
        Ok(rounds)
    }

    async fn round(&self, subject: &mut Subject, floor: Option<f64>, bar: &ProgressBar) -> anyhow::Result<Round> {
        let count = self.per_round();
        let (before, process) = (subject.reading().await?, processor_time());
        let (took, submitting) = self.run(subject, count, bar).await?;
        let process = processor_time().saturating_sub(process);
        let usage = subject.reading().await?.since(&before);
        Ok(Round {
            throughput: count as f64 / took.as_secs_f64(),
            submitted: submitting.map(|took| count as f64 / took.as_secs_f64()),
            floor,
            floor_after: self.floor(subject, count, usage.commits).await?,
            usage,
            process,
        })
    }

    /// Returns the lifecycles per second of the bare store, with as many steps per transaction as the store had per commit.
    async fn floor(&self, subject: &mut Subject, lifecycles: usize, commits: u64) -> anyhow::Result<Option<f64>> {
        let batch = (3 * lifecycles).checked_div(usize::try_from(commits)?).unwrap_or(1).max(1);
        let count = self.per_round();
        let load = FloorLoad { count, payload: vec![b'x'; self.payload], workers: self.workers, batch };
        let took = subject.floor(&load).await?;
        Ok(took.map(|took| count as f64 / took.as_secs_f64()))
    }

    /// Runs `count` lifecycles. Returns their total time, and in bulk also the time of the submissions.
    async fn run(
        &self,
        subject: &Subject,
        count: usize,
        bar: &ProgressBar,
    ) -> anyhow::Result<(Duration, Option<Duration>)> {
        if !self.bulk {
            return Ok((lifecycles(subject, (self.workers, count), bar, self.jobs()).await?, None));
        }
        let (began, target) = (Instant::now(), subject.meter.completed() + count as u64);
        fill(subject, count, bar, self.jobs()).await?;
        let submitting = began.elapsed();
        let working = self.work(subject);
        subject.meter.until_completed(target).await;
        let took = began.elapsed();
        working.end().await?;
        Ok((took, Some(submitting)))
    }

    /// Puts finished executions into the store.
    async fn keep(&self, subject: &Subject, bar: &ProgressBar) -> anyhow::Result<()> {
        let mut working = self.work(subject);
        for from in (0..self.kept).step_by(FILLED_AT_ONCE) {
            let some = FILLED_AT_ONCE.min(self.kept - from);
            let target = subject.meter.completed() + some as u64;
            fill(subject, some, bar, self.jobs()).await?;
            subject.meter.until_completed(target).await;
            working.forget_starts();
        }
        working.end().await
    }

    fn jobs(&self) -> impl Fn(usize) -> Job + Copy + Send + 'static {
        let (shape, bytes) = (self.job, self.payload);
        move |nth| shape.job(bytes, nth)
    }

    /// Measures the time from submission to the start of the handler, one at a time.
    async fn submit_to_start(&self, subject: &Subject, bar: &ProgressBar) -> anyhow::Result<()> {
        let mut working = self.work(subject);
        let (client, job) = (subject.flowfabric.client(), self.jobs());
        for nth in 0..IDLE_SUBMISSIONS {
            let done = subject.meter.completed() + 1;
            subject.meter.room().await;
            let before = Instant::now();
            client.submit(job(nth)).await?;
            let started = working.starts.recv().await.context("the worker stopped")?;
            subject.meter.latencies.took("submit_to_start", started.duration_since(before));
            subject.meter.until_completed(done).await;
            bar.inc(1);
        }
        working.end().await
    }
}

fn throughput(rounds: &[Round]) -> Option<f64> {
    median(rounds.iter().map(|round| round.throughput))
}

fn ratio(rounds: &[Round]) -> Option<f64> {
    median(rounds.iter().filter_map(Round::ratio))
}
