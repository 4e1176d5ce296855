//! Submit, claim, complete through the SDK, in rounds with the bare store between them: machines change their speed within
//! minutes, so only neighbours are compared.

use std::time::{Duration, Instant};

use anyhow::Context;
use ff_core::payload::Payload;
use ff_sdk::Job;
use ff_sdk::store_url::without_password;
use indicatif::ProgressBar;

use crate::load::lifecycles;
use crate::store::{FloorLoad, NoopWorker, Subject};
use crate::{KIND, Report, median};

/// Measurements of the store, each with the floor before and after it.
const ROUNDS: usize = 9;
/// Submissions to a store that does nothing else.
const IDLE_SUBMISSIONS: usize = 200;
/// Lifecycles before anything is measured.
const WARM_UP: usize = 2_000;

/// What to measure.
pub struct Lifecycle {
    pub store: String,
    /// Callers that submit at once, and executions worked on at once.
    pub workers: usize,
    pub payload: usize,
    pub count: usize,
}

/// One round: lifecycles a second of the store, and of its floor right before and right after.
struct Round {
    throughput: f64,
    floor: Option<f64>,
    floor_after: Option<f64>,
    /// What the store did meanwhile, without the floor.
    commits: u64,
    calls: u64,
    inner_calls: u64,
}

impl Round {
    /// What the store does of what its floor does. The speed of a machine drifts, so the floor is taken from both sides.
    fn ratio(&self) -> Option<f64> {
        Some(self.throughput / ((self.floor? + self.floor_after?) / 2.0))
    }
}

impl Lifecycle {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::open(&self.store).await?;
        let mut working = subject.work(self.workers);
        let bar = ProgressBar::new((WARM_UP + self.per_round() * ROUNDS + IDLE_SUBMISSIONS) as u64);
        let cold = subject.reading().await?;
        self.lifecycles(&subject, WARM_UP, &bar).await?;
        subject.timed.latencies.forget();
        let before = subject.reading().await?;
        let mut floor = self.floor(&mut subject, WARM_UP, before.commits - cold.commits).await?;
        let mut rounds = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            let round = self.round(&mut subject, floor, &bar).await?;
            floor = round.floor_after;
            rounds.push(round);
        }
        let after = subject.reading().await?;
        // What is measured under load ends here: a store that does nothing else answers sooner.
        let mut latencies = subject.timed.latencies.percentiles();
        self.submit_to_start(&subject, &mut working, &bar).await?;
        latencies
            .extend(subject.timed.latencies.percentiles().into_iter().filter(|(name, _)| name == "submit_to_start"));
        bar.finish_and_clear();

        let mut report = Report::new("lifecycle", without_password(&self.store), subject.settings().await?);
        report.throughput_per_s = median(rounds.iter().map(|round| round.throughput).collect());
        report.floor_per_s = median(rounds.iter().filter_map(|round| round.floor).collect());
        report.ratio = median(rounds.iter().filter_map(Round::ratio).collect());
        report.latency_ms = latencies;
        let lifecycles = (self.per_round() * ROUNDS) as f64;
        report.figures.insert("bytes_per_execution", after.bytes.saturating_sub(before.bytes) as f64 / lifecycles);
        let each = |of: fn(&Round) -> u64| rounds.iter().map(of).sum::<u64>() as f64 / lifecycles;
        if after.calls > 0 {
            report.figures.insert("calls_per_lifecycle", each(|round| round.calls));
            report.figures.insert("inner_calls_per_lifecycle", each(|round| round.inner_calls));
        }
        if after.commits > 0 {
            // Submitting, claiming and completing are a step each.
            report.figures.insert("steps_per_commit", 3.0 / each(|round| round.commits));
        }
        report.settings.insert("workers", self.workers.into());
        report.settings.insert("payload_bytes", self.payload.into());
        report.settings.insert("count", self.count.into());
        report.settings.insert("rounds", ROUNDS.into());
        working.end().await?;
        subject.close().await;
        Ok(report)
    }

    fn per_round(&self) -> usize {
        self.count.div_ceil(ROUNDS)
    }

    async fn round(&self, subject: &mut Subject, floor: Option<f64>, bar: &ProgressBar) -> anyhow::Result<Round> {
        let count = self.per_round();
        let before = subject.reading().await?;
        let took = self.lifecycles(subject, count, bar).await?;
        let after = subject.reading().await?;
        let commits = after.commits - before.commits;
        Ok(Round {
            throughput: count as f64 / took.as_secs_f64(),
            floor,
            floor_after: self.floor(subject, count, commits).await?,
            commits,
            calls: after.calls - before.calls,
            inner_calls: after.inner_calls - before.inner_calls,
        })
    }

    /// Lifecycles a second of the bare store, with as many steps in a transaction as so many lifecycles took commits.
    async fn floor(&self, subject: &mut Subject, lifecycles: usize, commits: u64) -> anyhow::Result<Option<f64>> {
        let batch = (3 * lifecycles).checked_div(usize::try_from(commits)?).unwrap_or(1).max(1);
        let count = self.per_round();
        let load = FloorLoad { count, payload: vec![b'x'; self.payload], workers: self.workers, batch };
        let took = subject.floor(&load).await?;
        Ok(took.map(|took| count as f64 / took.as_secs_f64()))
    }

    async fn lifecycles(&self, subject: &Subject, count: usize, bar: &ProgressBar) -> anyhow::Result<Duration> {
        let bytes = self.payload;
        lifecycles(subject, (self.workers, count), bar, move || job(bytes)).await
    }

    /// From the call that submits to the first line of the handler, one at a time.
    async fn submit_to_start(
        &self,
        subject: &Subject,
        working: &mut NoopWorker,
        bar: &ProgressBar,
    ) -> anyhow::Result<()> {
        working.forget_starts();
        let client = subject.flowfabric.client();
        for _ in 0..IDLE_SUBMISSIONS {
            let done = subject.timed.completed() + 1;
            subject.timed.room().await;
            let asked = Instant::now();
            client.submit(job(self.payload)).await?;
            let started = working.starts.recv().await.context("the worker stopped")?;
            subject.timed.latencies.took("submit_to_start", started.duration_since(asked));
            subject.timed.until_completed(done).await;
            bar.inc(1);
        }
        Ok(())
    }
}

fn job(bytes: usize) -> Job {
    Job::with_payload(KIND, Payload::json(vec![b'1'; bytes]))
}
