//! Measures the cost of a claim with few and with many waiting executions.

use std::time::Duration;

use anyhow::Context;
use ff_core::contracts::ClaimArgs;
use ff_core::lease::Holder;
use ff_core::payload::Payload;
use ff_core::types::{Kind, LaneId};
use ff_sdk::Job;
use indicatif::ProgressBar;

use crate::latency::percentiles;
use crate::load::{claim, fill};
use crate::store::Subject;
use crate::{KIND, Report};

/// Number of claims measured in each lane, one execution each.
const CLAIMS: usize = 2_000;
/// Number of claims from one lane before the next lane has its turn. The speed of the machine changes while many are claimed.
const AT_ONCE: usize = 100;
/// Payload bytes of a waiting execution.
const BYTES: usize = 100;

/// The settings of the measurement.
pub struct ClaimCost {
    pub store: String,
    /// Numbers of waiting executions, each in a lane of its own, in ascending order.
    pub waiting: Vec<usize>,
}

/// A lane with waiting executions.
struct Lane {
    id: LaneId,
    waiting: usize,
    next_partition: u16,
    /// Durations of the claims so far.
    claims: Vec<Duration>,
}

impl ClaimCost {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::open(&self.store).await?;
        let mut report = subject.report("claim").await?;
        let bar = ProgressBar::new(self.waiting.iter().sum::<usize>() as u64);
        let mut lanes = Vec::new();
        for (nth, waiting) in self.waiting.iter().copied().enumerate() {
            let lane = format!("bench-{nth}");
            let job = |_| Job::with_payload(KIND, Payload::json(vec![b'1'; BYTES])).lane(&lane);
            fill(&subject, waiting, &bar, job).await?;
            lanes.push(Lane { id: LaneId::parse(&lane)?, waiting, next_partition: 0, claims: Vec::new() });
        }
        for _ in 0..CLAIMS / AT_ONCE {
            for lane in &mut lanes {
                lane.claim(&subject).await?;
            }
        }
        bar.finish_and_clear();
        let mut medians = Vec::new();
        for lane in &lanes {
            let percentiles = percentiles(&lane.claims).context("nothing was claimed")?;
            medians.push(percentiles.p50);
            report.latency_ms.insert(format!("claim_{}", lane.waiting), percentiles);
        }
        let rate = |median: Option<&f64>| median.map(|ms| 1_000.0 / ms);
        report.throughput_per_s = rate(medians.last());
        report.floor_per_s = rate(medians.first());
        report.ratio = report.throughput_per_s.zip(report.floor_per_s).map(|(many, few)| many / few);
        if let (Some(few), Some(many)) = (medians.first(), medians.last()) {
            report.figures.insert("cost_of_many_over_few", many / few);
        }
        report.set([("payload_bytes", BYTES), ("claims", CLAIMS)]);
        report.settings.insert("waiting", self.waiting.into());
        subject.close().await;
        Ok(report)
    }

    /// Minimum number of waiting executions: more than are claimed, so that some remain.
    pub const LEAST: usize = 2 * CLAIMS;
}

impl Lane {
    /// Claims executions from one partition after the other. Completing them is not timed.
    async fn claim(&mut self, subject: &Subject) -> anyhow::Result<()> {
        let partitions = subject.flowfabric.backend().partitions().num_flow_partitions;
        let enough = self.claims.len() + AT_ONCE;
        let holder = Holder::parse("bench", "bench-1")?;
        while self.claims.len() < enough {
            let args = ClaimArgs {
                lane: self.id.clone(),
                kinds: vec![Kind::parse(KIND)?],
                ..ClaimArgs::new(self.next_partition, holder.clone())
            };
            self.next_partition = (self.next_partition + 1) % partitions;
            let (took, claimed) = claim(subject, args).await?;
            self.claims.extend(std::iter::repeat_n(took, claimed));
        }
        Ok(())
    }
}
