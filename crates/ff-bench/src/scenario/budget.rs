//! Compares executions that report usage under a budget with executions without one. Machine speed changes within minutes, so only
//! neighbouring runs are compared.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ff_core::budget::{Amounts, BudgetDefinition, BudgetLimit, OnHardLimit, Reset};
use ff_core::limits;
use ff_core::quota::Scope;
use ff_core::types::{Dimension, Kind};
use ff_sdk::{Context, Fault, Job, Worker};
use indicatif::ProgressBar;

use crate::load::lifecycles;
use crate::store::Subject;
use crate::{JobShape, KIND, Report, median};

/// Number of measured rounds.
const ROUNDS: usize = 5;
/// Maximum silence, apart from the round under way.
const SILENCE: Duration = Duration::from_secs(10);
/// Number of executions in each warm-up run.
const WARM_UP: usize = 200;
/// Bytes of a payload.
const BYTES: usize = 100;
const SHAPE: JobShape = JobShape::Typical;
/// Name of the budget, which is deleted after each round.
const BUDGET: &str = "ff-bench";
const DIMENSION: &str = "tokens";

/// The settings of the measurement.
pub struct BudgetCost {
    pub store: String,
    /// Number of concurrent submitters and of concurrent executions.
    pub workers: usize,
    /// Executions under the budget; as many run without one.
    pub count: usize,
}

/// Lifecycles per second, and the median duration of a usage report.
struct Round {
    limited: f64,
    plain: f64,
    report_ms: Option<f64>,
}

impl BudgetCost {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::open(&self.store).await?;
        let budget = subject.flowfabric.client().budget(BUDGET)?;
        let each = self.count.div_ceil(ROUNDS);
        let bar = ProgressBar::new((3 * (WARM_UP + each * ROUNDS)) as u64);
        let (mut rounds, mut last_line) = (Vec::with_capacity(ROUNDS), Instant::now());
        for nth in 0..=ROUNDS {
            let count = if nth == 0 { WARM_UP } else { each };
            let (plain, _) = self.run(&subject, count, &bar, false).await?;
            budget.put(definition()?).await?;
            let (limited, _) = self.run(&subject, count, &bar, false).await?;
            let (_, report_ms) = self.run(&subject, count, &bar, true).await?;
            budget.delete().await?;
            // Without a terminal the progress bar is hidden.
            if bar.is_hidden() && last_line.elapsed() >= SILENCE {
                eprintln!("round {nth} of {ROUNDS} is measured");
                last_line = Instant::now();
            }
            if nth > 0 {
                rounds.push(Round { limited, plain, report_ms });
            }
        }
        bar.finish_and_clear();
        let mut report = subject.report("budget").await?;
        report.throughput_per_s = median(rounds.iter().map(|round| round.limited));
        report.add_median("without_budget_per_s", rounds.iter().map(|round| round.plain));
        report.add_median("with_to_without", rounds.iter().map(|round| round.limited / round.plain));
        report.add_median("report_p50_ms", rounds.iter().filter_map(|round| round.report_ms));
        report.set([("workers", self.workers), ("count", self.count), ("rounds", ROUNDS)]);
        subject.close().await;
        Ok(report)
    }

    /// Returns the lifecycles per second, and the median duration of a usage report in milliseconds.
    async fn run(
        &self,
        subject: &Subject,
        count: usize,
        bar: &ProgressBar,
        reports: bool,
    ) -> anyhow::Result<(f64, Option<f64>)> {
        let times = Arc::new(Mutex::new(Vec::new()));
        // Reports are timed one at a time.
        let workers = if reports { 1 } else { self.workers };
        let working = subject.run(worker(subject, workers, reports.then(|| times.clone())));
        let took = lifecycles(subject, (workers, count), bar, |nth: usize| -> Job { SHAPE.job(BYTES, nth) }).await?;
        working.end().await?;
        let times = times.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok((count as f64 / took.as_secs_f64(), median(times)))
    }
}

fn definition() -> anyhow::Result<BudgetDefinition> {
    let dimension = Dimension::parse(DIMENSION)?;
    Ok(BudgetDefinition {
        scope: Scope::Kind(Kind::parse(KIND)?),
        limits: BTreeMap::from([(dimension.clone(), BudgetLimit { hard: Some(limits::AMOUNT_MAX), soft: None })]),
        reset: Reset::Never,
        on_hard_limit: OnHardLimit::Block,
        estimate: BTreeMap::from([("*".to_owned(), Amounts::from([(dimension, 1)]))]),
    })
}

fn worker(subject: &Subject, workers: usize, times: Option<Arc<Mutex<Vec<f64>>>>) -> Worker {
    subject.flowfabric.worker("bench").concurrency(workers).on(KIND, move |context: Context| {
        let times = times.clone();
        async move {
            if let Some(times) = times {
                let began = Instant::now();
                context.usage().add(DIMENSION, 1).report().await?;
                times.lock().unwrap_or_else(PoisonError::into_inner).push(began.elapsed().as_secs_f64() * 1_000.0);
            }
            Ok::<_, Fault>(SHAPE.reply())
        }
    })
}
