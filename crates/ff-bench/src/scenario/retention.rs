//! Measures memory while finished executions are removed soon: runs rounds of lifecycles, and records the size of this process and
//! its store after each.

use std::fs;
use std::time::Duration;

use anyhow::Context;
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_sdk::Job;
use indicatif::ProgressBar;

use crate::load::lifecycles;
use crate::store::Subject;
use crate::{KIND, Report, median};

/// Number of rounds; memory is read after each.
const ROUNDS: usize = 20;
/// Number of rounds at the beginning and at the end that are compared.
const ENDS: usize = 5;
/// Payload bytes of each execution.
const BYTES: usize = 100;

/// The settings of the measurement.
pub struct Retention {
    pub store: String,
    pub workers: usize,
    pub count: usize,
    /// Retention of finished executions.
    pub kept: Duration,
}

impl Retention {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::open(&self.store).await?;
        let mut report = subject.report("retention").await?;
        let mut working = subject.work(self.workers);
        let bar = ProgressBar::new(self.count as u64);
        let retention_ms = u64::try_from(self.kept.as_millis())?;
        let job = move |_| {
            let policy = Policy { retention_ms: Some(retention_ms), ..Policy::default() };
            Job::with_payload(KIND, Payload::json(vec![b'1'; BYTES])).policy(policy)
        };
        let (mut process, mut store, mut rates) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let per_round = self.count.div_ceil(ROUNDS);
            let took = lifecycles(&subject, (self.workers, per_round), &bar, job).await?;
            subject.meter.latencies.forget();
            working.forget_starts();
            rates.push(per_round as f64 / took.as_secs_f64());
            process.push(resident_mib()?);
            store.push(subject.reading().await?.bytes as f64 / MIB);
        }
        bar.finish_and_clear();
        report.throughput_per_s = median(rates);
        for (sizes, [first, last]) in
            [(process, ["process_mib_first", "process_mib_last"]), (store, ["store_mib_first", "store_mib_last"])]
        {
            // The first round is left out: caches fill, and the first executions have not reached their retention.
            report.add_median(first, sizes[1..=ENDS].iter().copied());
            report.add_median(last, sizes[ROUNDS - ENDS..].iter().copied());
        }
        report.set([("workers", self.workers), ("count", self.count)]);
        report.settings.insert("retention_ms", retention_ms.into());
        working.end().await?;
        subject.close().await;
        Ok(report)
    }
}

const MIB: f64 = 1_048_576.0;

/// Returns the resident memory of this process in MiB.
fn resident_mib() -> anyhow::Result<f64> {
    let status =
        fs::read_to_string("/proc/self/status").context("this system does not tell how much memory it uses")?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next()?.parse().ok());
    let kib: f64 = resident.context("this system does not tell how much memory is resident")?;
    Ok(kib / 1_024.0)
}
