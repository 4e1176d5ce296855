//! Measures the cost of a claim with few and with many waiting executions.

use std::time::{Duration, Instant};

use anyhow::Context;
use ff_core::contracts::{ClaimArgs, CompleteArgs};
use ff_core::lease::Holder;
use ff_core::payload::Payload;
use ff_core::types::{Kind, WorkerId, WorkerInstanceId};
use ff_sdk::Job;
use ff_sdk::store_url::without_password;
use indicatif::ProgressBar;

use crate::latency::percentiles;
use crate::load::fill;
use crate::store::Subject;
use crate::{KIND, Report};

/// Number of claims measured at each depth, one execution each.
const CLAIMS: usize = 2_000;
/// Payload bytes of a waiting execution.
const BYTES: usize = 100;

/// The settings of the measurement.
pub struct ClaimCost {
    pub store: String,
    /// Numbers of waiting executions, in ascending order.
    pub waiting: Vec<usize>,
}

impl ClaimCost {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::open(&self.store).await?;
        let mut report = Report::new("claim", without_password(&self.store), subject.settings().await?);
        let bar = ProgressBar::new(self.waiting.last().copied().unwrap_or(0) as u64);
        let mut there = 0;
        let mut middles = Vec::new();
        for waiting in &self.waiting {
            fill(&subject, waiting - there, &bar, |_| Job::with_payload(KIND, Payload::json(vec![b'1'; BYTES])))
                .await?;
            let claims = claims(&subject).await?;
            there = waiting - CLAIMS;
            bar.set_position(there as u64);
            let percentiles = percentiles(&claims).context("nothing was claimed")?;
            middles.push(percentiles.p50);
            report.latency_ms.insert(format!("claim_{waiting}"), percentiles);
        }
        bar.finish_and_clear();
        let rate = |middle: Option<&f64>| middle.map(|ms| 1_000.0 / ms);
        report.throughput_per_s = rate(middles.last());
        report.floor_per_s = rate(middles.first());
        report.ratio = report.throughput_per_s.zip(report.floor_per_s).map(|(many, few)| many / few);
        if let (Some(few), Some(many)) = (middles.first(), middles.last()) {
            report.figures.insert("cost_of_many_over_few", many / few);
        }
        report.settings.insert("payload_bytes", BYTES.into());
        report.settings.insert("claims", CLAIMS.into());
        report.settings.insert("waiting", self.waiting.into());
        subject.close().await;
        Ok(report)
    }

    /// Minimum number of waiting executions: more than are claimed, so that some remain.
    pub const LEAST: usize = 2 * CLAIMS;
}

/// Claims from one partition after the other. Completing the executions is not timed.
async fn claims(subject: &Subject) -> anyhow::Result<Vec<Duration>> {
    let backend = subject.flowfabric.backend();
    let mut durations = Vec::with_capacity(CLAIMS);
    let partitions = backend.partitions().num_flow_partitions;
    for partition in (0..partitions).cycle() {
        if durations.len() == CLAIMS {
            break;
        }
        let args = ClaimArgs {
            kinds: vec![Kind::parse(KIND)?],
            ..ClaimArgs::new(
                partition,
                Holder {
                    worker_id: WorkerId::parse("bench")?,
                    worker_instance_id: WorkerInstanceId::parse("bench-1")?,
                },
            )
        };
        let start = Instant::now();
        let claims = backend.claim(args).await?;
        let took = start.elapsed();
        for claimed in claims.claimed {
            durations.push(took);
            let (execution_id, fence) = (claimed.task.execution_id, claimed.task.fence);
            backend.complete(CompleteArgs { execution_id, fence, result: None }).await?;
        }
    }
    Ok(durations)
}
