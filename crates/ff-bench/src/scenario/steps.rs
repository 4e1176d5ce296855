//! Compares executions with steps, executions without, and the bare store, in rounds. Machine speed changes within minutes, so only
//! neighbouring runs are compared.

use std::collections::BTreeMap;

use ff_sdk::{Context, Fault, Worker};
use indicatif::ProgressBar;

use crate::latency::Percentiles;
use crate::load::lifecycles;
use crate::store::{FloorLoad, Subject};
use crate::{JobShape, KIND, Report, median};

/// Number of measured rounds.
const ROUNDS: usize = 5;
/// Number of executions of each kind before the measurement.
const WARM_UP: usize = 200;
/// Bytes of a payload, and of the result of a step.
const BYTES: usize = 100;
const SHAPE: JobShape = JobShape::Typical;

/// The settings of the measurement.
pub struct StepCost {
    pub store: String,
    /// Number of concurrent submitters and of concurrent executions.
    pub workers: usize,
    /// Number of steps of each execution.
    pub steps: usize,
    /// Executions with steps; as many run without.
    pub count: usize,
}

/// Rates per second.
struct Round {
    steps: f64,
    lifecycles: f64,
    floor: Option<f64>,
}

impl StepCost {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::open(&self.store).await?;
        let each = self.count.div_ceil(ROUNDS);
        let bar = ProgressBar::new((2 * (WARM_UP + each * ROUNDS)) as u64);
        self.plain(&subject, WARM_UP, &bar).await?;
        self.with_steps(&subject, WARM_UP, &bar).await?;
        subject.meter.latencies.forget();
        let (mut rounds, mut latencies) = (Vec::with_capacity(ROUNDS), BTreeMap::new());
        for _ in 0..ROUNDS {
            let (round, percentiles) = self.round(&mut subject, each, &bar).await?;
            rounds.push(round);
            latencies = percentiles;
        }
        bar.finish_and_clear();
        let mut report = subject.report("steps").await?;
        report.throughput_per_s = median(rounds.iter().map(|round| round.steps));
        report.floor_per_s = median(rounds.iter().filter_map(|round| round.floor));
        report.ratio = median(rounds.iter().filter_map(|round| Some(round.steps / round.floor?)));
        report.latency_ms = latencies;
        report.add_median("lifecycles_per_s", rounds.iter().map(|round| round.lifecycles));
        report.add_median("steps_to_lifecycles", rounds.iter().map(|round| round.steps / round.lifecycles));
        report.set([("workers", self.workers), ("steps", self.steps), ("count", self.count)]);
        report.set([("payload_bytes", BYTES), ("rounds", ROUNDS)]);
        subject.close().await;
        Ok(report)
    }

    /// Measures one round. Also returns the percentiles of recording a step.
    async fn round(
        &self,
        subject: &mut Subject,
        count: usize,
        bar: &ProgressBar,
    ) -> anyhow::Result<(Round, BTreeMap<String, Percentiles>)> {
        let before = subject.reading().await?;
        let lifecycles = self.plain(subject, count, bar).await?;
        let commits = subject.reading().await?.since(&before).commits;
        let batch = (3 * count).checked_div(usize::try_from(commits)?).unwrap_or(1).max(1);
        let load = FloorLoad { count, payload: vec![b'x'; BYTES], workers: self.workers, batch };
        let floor = subject.floor(&load).await?.map(|took| count as f64 / took.as_secs_f64());
        subject.meter.latencies.forget();
        let steps = self.with_steps(subject, count, bar).await?;
        let mut latencies = subject.meter.latencies.percentiles();
        latencies.retain(|name, _| name == "record_step");
        Ok((Round { steps, lifecycles, floor }, latencies))
    }

    /// Returns the lifecycles per second of executions without steps.
    async fn plain(&self, subject: &Subject, count: usize, bar: &ProgressBar) -> anyhow::Result<f64> {
        let working = subject.work_with(self.workers, SHAPE.reply());
        let took = lifecycles(subject, (self.workers, count), bar, |nth| SHAPE.job(BYTES, nth)).await?;
        working.end().await?;
        Ok(count as f64 / took.as_secs_f64())
    }

    /// Returns the steps per second, including the other operations of their executions.
    async fn with_steps(&self, subject: &Subject, count: usize, bar: &ProgressBar) -> anyhow::Result<f64> {
        let working = subject.run(self.worker(subject));
        let took = lifecycles(subject, (self.workers, count), bar, |nth| SHAPE.job(BYTES, nth)).await?;
        working.end().await?;
        Ok((count * self.steps) as f64 / took.as_secs_f64())
    }

    /// Returns a worker whose handlers only record steps.
    fn worker(&self, subject: &Subject) -> Worker {
        let steps = self.steps;
        subject.flowfabric.worker("bench").concurrency(self.workers).on(KIND, move |context: Context| async move {
            for nth in 0..steps {
                context.step("step", || async { Ok("x".repeat(BYTES)) }).key(nth).await?;
            }
            Ok::<_, Fault>(SHAPE.reply())
        })
    }
}
