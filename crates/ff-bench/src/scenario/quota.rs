//! Compares executions with many keys under a quota with executions without one, in rounds. Machine speed changes within minutes,
//! so only neighbouring runs are compared.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use ff_core::contracts::QuotaDefinition;
use ff_core::quota::{Per, Scope};
use ff_core::types::{Kind, TagKey, TagValue};
use ff_sdk::{Context, Fault, Job, Worker};
use indicatif::ProgressBar;

use crate::load::lifecycles;
use crate::store::Subject;
use crate::{JobShape, KIND, Report, median};

/// Number of measured rounds.
const ROUNDS: usize = 5;
/// Number of executions in each warm-up run.
const WARM_UP: usize = 200;
/// Bytes of a payload.
const BYTES: usize = 100;
const SHAPE: JobShape = JobShape::Typical;
/// Name of the quota, which is deleted after each round.
const QUOTA: &str = "ff-bench";
const TAG: &str = "key";

/// The settings of the measurement.
pub struct QuotaCost {
    pub store: String,
    /// Number of concurrent submitters and of concurrent executions.
    pub workers: usize,
    /// Number of values of the quota's key.
    pub keys: usize,
    /// Maximum number of executions held at once per key.
    pub most: u32,
    /// Executions under the quota; as many run without one.
    pub count: usize,
}

/// Lifecycles per second, and the fraction of executions begun when the last key had its first turn.
struct Round {
    limited: f64,
    plain: f64,
    last_turn: f64,
}

impl QuotaCost {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::open(&self.store).await?;
        let quota = subject.flowfabric.client().quota(QUOTA)?;
        let each = self.count.div_ceil(ROUNDS);
        let bar = ProgressBar::new((2 * (WARM_UP + each * ROUNDS)) as u64);
        let mut rounds = Vec::with_capacity(ROUNDS);
        for nth in 0..=ROUNDS {
            let count = if nth == 0 { WARM_UP } else { each };
            let (plain, _) = self.run(&subject, count, &bar).await?;
            quota.put(self.definition()?).await?;
            let (limited, last_turn) = self.run(&subject, count, &bar).await?;
            quota.delete().await?;
            if nth > 0 {
                rounds.push(Round { limited, plain, last_turn });
            }
        }
        bar.finish_and_clear();
        let mut report = subject.report("quota").await?;
        report.throughput_per_s = median(rounds.iter().map(|round| round.limited));
        report.add_median("without_quota_per_s", rounds.iter().map(|round| round.plain));
        report.add_median("with_to_without", rounds.iter().map(|round| round.limited / round.plain));
        report.add_median("last_key_begins_at", rounds.iter().map(|round| round.last_turn));
        report.set([("workers", self.workers), ("keys", self.keys), ("count", self.count), ("rounds", ROUNDS)]);
        report.set([("max_concurrent", self.most)]);
        subject.close().await;
        Ok(report)
    }

    fn definition(&self) -> anyhow::Result<QuotaDefinition> {
        let (scope, per) = (Scope::Kind(Kind::parse(KIND)?), Some(Per::Tag(TagKey::parse(TAG)?)));
        Ok(QuotaDefinition { scope, per, rate: None, max_concurrent: Some(self.most) })
    }

    /// Returns the lifecycles per second, and the fraction of executions begun when the last key had its first turn.
    async fn run(&self, subject: &Subject, count: usize, bar: &ProgressBar) -> anyhow::Result<(f64, f64)> {
        let turns = Arc::new(Turns::default());
        let working = subject.run(self.worker(subject, turns.clone()));
        let keys = self.keys;
        let job = move |nth: usize| -> Job { SHAPE.job(BYTES, nth).tag(TAG, &format!("key-{}", nth % keys)) };
        let took = lifecycles(subject, (self.workers, count), bar, job).await?;
        working.end().await?;
        Ok((count as f64 / took.as_secs_f64(), turns.last_first() as f64 / count as f64))
    }

    fn worker(&self, subject: &Subject, turns: Arc<Turns>) -> Worker {
        subject.flowfabric.worker("bench").concurrency(self.workers).on(KIND, move |context: Context| {
            let turns = turns.clone();
            async move {
                let key = TagKey::parse(TAG).ok().and_then(|key| context.task().tags.get(&key).cloned());
                turns.begin(key);
                Ok::<_, Fault>(SHAPE.reply())
            }
        })
    }
}

/// The keys that had a turn, the number of executions begun, and that number at the last first turn.
#[derive(Default)]
struct Turns(Mutex<(HashSet<TagValue>, usize, usize)>);

impl Turns {
    fn begin(&self, key: Option<TagValue>) {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.1 += 1;
        if key.is_some_and(|key| turns.0.insert(key)) {
            turns.2 = turns.1;
        }
    }

    /// Returns the number of executions begun when the last key had its first turn.
    fn last_first(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).2
    }
}
