//! Measures fair lanes: how soon tenants with little work are served while one tenant has much, whether shares follow the
//! weights, and the cost of a claim with many keys compared with few.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use ff_core::contracts::{ClaimArgs, ConfigureLaneArgs, Setting, SubmitArgs};
use ff_core::lease::Holder;
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::quota::Per;
use ff_core::types::{FairKey, Kind, LaneId, Namespace, TagKey, TagValue, new_execution_uuid};
use ff_sdk::{Context, Fault, Job, Reply};
use indicatif::ProgressBar;

use crate::latency::percentiles;
use crate::load::{claim, fill};
use crate::store::Subject;
use crate::{KIND, Report};

const TAG: &str = "tenant";
/// The tenant with much work.
const LARGE: &str = "large";
/// Weights of the keys in the measurement of shares.
const WEIGHTS: [(&str, u32); 3] = [("gold", 5), ("silver", 3), ("bronze", 2)];
/// Number of claims measured with few keys and with many, one execution each.
const CLAIMS: usize = 500;
const FEW: usize = 10;

/// The settings of the measurement.
pub struct Fairness {
    pub store: String,
    /// Maximum number of concurrent executions.
    pub workers: usize,
    /// Number of tenants. All but one have one execution.
    pub tenants: usize,
    /// Number of executions of the tenant with much work.
    pub count: usize,
    /// Number of keys on one partition, compared with ten.
    pub keys: usize,
}

impl Fairness {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::open(&self.store).await?;
        let mut report = subject.report("fairness").await?;
        let shared = (self.count / 5).max(3_000);
        let bar = ProgressBar::new((self.count + self.tenants + 3 * shared + 2 * self.keys) as u64);
        report.figures.insert("others_done_at", self.tenants(&subject, &bar).await?);
        report.figures.insert("share_error", self.shares(&subject, shared, &bar).await?);
        let few = self.claims(&subject, "few", FEW, &bar).await?;
        let many = self.claims(&subject, "many", self.keys, &bar).await?;
        bar.finish_and_clear();
        let (few, many) = (percentiles(&few).context("no claim")?, percentiles(&many).context("no claim")?);
        report.figures.insert("cost_of_many_over_few", many.p50 / few.p50);
        report.latency_ms.insert(format!("claim_{FEW}_keys"), few);
        report.latency_ms.insert(format!("claim_{}_keys", self.keys), many);
        report.set([("workers", self.workers), ("tenants", self.tenants), ("count", self.count), ("keys", self.keys)]);
        subject.close().await;
        Ok(report)
    }

    /// Returns the fraction of executions begun when the last tenant with one execution was served.
    async fn tenants(&self, subject: &Subject, bar: &ProgressBar) -> anyhow::Result<f64> {
        let (lane, others) = ("bench-tenants", self.tenants.saturating_sub(1));
        fair(subject, lane, &[]).await?;
        fill(subject, self.count, bar, |_| job(lane, LARGE)).await?;
        fill(subject, others, bar, |nth| job(lane, &format!("tenant-{nth}"))).await?;
        let began = self.work(subject, lane, self.count + others).await?;
        let last = began.iter().rposition(|tenant| tenant != LARGE).map_or(0, |place| place + 1);
        Ok(last as f64 / began.len() as f64)
    }

    /// Returns the largest relative difference between a key's share and its weight, while all keys had work.
    async fn shares(&self, subject: &Subject, each: usize, bar: &ProgressBar) -> anyhow::Result<f64> {
        let lane = "bench-shares";
        fair(subject, lane, &WEIGHTS).await?;
        for (key, _) in WEIGHTS {
            fill(subject, each, bar, |_| job(lane, key)).await?;
        }
        let began = self.work(subject, lane, WEIGHTS.len() * each).await?;
        let mut shares = BTreeMap::new();
        began.iter().take(each).for_each(|key| *shares.entry(key.as_str()).or_insert(0_u32) += 1);
        let all: u32 = WEIGHTS.iter().map(|(_, weight)| weight).sum();
        let error = |(key, weight): &(&str, u32)| {
            let share = f64::from(shares.get(key).copied().unwrap_or(0)) / each as f64;
            (share * f64::from(all) / f64::from(*weight) - 1.0).abs()
        };
        Ok(WEIGHTS.iter().map(error).fold(0.0, f64::max))
    }

    /// Runs `count` executions. Returns their tenants, in the order they began.
    async fn work(&self, subject: &Subject, lane: &str, count: usize) -> anyhow::Result<Vec<String>> {
        let began = Arc::new(Mutex::new(Vec::with_capacity(count)));
        let target = subject.meter.completed() + count as u64;
        let order = began.clone();
        let worker = subject.flowfabric.worker("bench").lane(lane).concurrency(self.workers);
        let working = subject.run(worker.on(KIND, move |context: Context| {
            let tenant = context.task().tags.values().next().map(ToString::to_string);
            order.lock().unwrap_or_else(PoisonError::into_inner).push(tenant.unwrap_or_default());
            async { Ok::<_, Fault>(Reply::done()) }
        }));
        subject.meter.until_completed(target).await;
        working.end().await?;
        let began = began.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(began)
    }

    /// Returns the durations of claims from one partition where `keys` keys have work.
    async fn claims(
        &self,
        subject: &Subject,
        name: &str,
        keys: usize,
        bar: &ProgressBar,
    ) -> anyhow::Result<Vec<Duration>> {
        let lane = format!("bench-{name}");
        fair(subject, &lane, &[]).await?;
        let backend = subject.flowfabric.backend();
        let waiting: Vec<_> = (0..self.keys.max(2 * CLAIMS)).collect();
        for some in waiting.chunks(limits::BULK) {
            let work = some.iter().map(|nth| on_first_partition(subject, &lane, nth % keys));
            for answer in backend.submit_many(work.collect::<anyhow::Result<_>>()?).await? {
                answer?;
            }
            bar.inc(some.len() as u64);
        }
        let args = ClaimArgs {
            lane: LaneId::parse(&lane)?,
            kinds: vec![Kind::parse(KIND)?],
            ..ClaimArgs::new(0, Holder::parse("bench", "bench-1")?)
        };
        let mut durations = Vec::with_capacity(CLAIMS);
        while durations.len() < CLAIMS {
            let (took, claimed) = claim(subject, args.clone()).await?;
            ensure!(claimed > 0, "there was nothing to claim");
            durations.push(took);
        }
        Ok(durations)
    }
}

/// Makes a lane fair by tenant.
async fn fair(subject: &Subject, lane: &str, weights: &[(&str, u32)]) -> anyhow::Result<()> {
    let weight = |(key, weight): &(&str, u32)| Ok::<_, anyhow::Error>((FairKey::parse(key)?, Setting::To(*weight)));
    let args = ConfigureLaneArgs {
        fair_by: Setting::To(Per::Tag(TagKey::parse(TAG)?)),
        weights: weights.iter().map(weight).collect::<Result<_, _>>()?,
        ..ConfigureLaneArgs::new(Namespace::default_name(), LaneId::parse(lane)?)
    };
    subject.flowfabric.client().configure_lane(args).await?;
    Ok(())
}

fn job(lane: &str, tenant: &str) -> Job {
    Job::with_payload(KIND, Payload::json("1")).lane(lane).tag(TAG, tenant)
}

/// Returns a submission of a tenant for partition 0.
fn on_first_partition(subject: &Subject, lane: &str, tenant: usize) -> anyhow::Result<SubmitArgs> {
    let partitions = subject.flowfabric.backend().partitions();
    let mut work = SubmitArgs {
        lane: LaneId::parse(lane)?,
        tags: [(TagKey::parse(TAG)?, TagValue::parse(&format!("tenant-{tenant}"))?)].into(),
        ..SubmitArgs::new(Kind::parse(KIND)?, Payload::json("1"))
    };
    while work.execution_id(&partitions).partition() != 0 {
        work.uuid = new_execution_uuid();
    }
    Ok(work)
}
