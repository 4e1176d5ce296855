//! Measures the cost of an engine and workers while there is nothing to do.

use std::time::Duration;

use anyhow::Context;
use futures_util::StreamExt;
use indicatif::ProgressBar;
use tokio::time::{Instant, interval, timeout_at};

use crate::Report;
use crate::processor::processor_time;
use crate::store::{BareStore, Subject};

/// The settings of the measurement.
pub struct Idle {
    pub store: String,
    pub workers: usize,
    pub span: Duration,
}

impl Idle {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::open(&self.store).await?;
        let working = subject.work(self.workers);
        // The engine and the scheduler sweep every partition once at the start. Sweeping all of them here gives them time to
        // finish.
        for partition in 0..subject.flowfabric.backend().partitions().num_flow_partitions {
            subject.flowfabric.engine_store().context("the store is elsewhere")?.sweep(partition).await?;
        }
        let mut report = subject.report("idle").await?;
        let bar = ProgressBar::new(self.span.as_secs());
        let cpu = processor_time();
        let began = Instant::now();
        let commands = tokio::select! {
            commands = commands(&subject.bare, began + self.span) => commands?,
            () = tick(&bar) => None,
        };
        let took = began.elapsed().as_secs_f64();
        let busy = processor_time().saturating_sub(cpu).as_secs_f64();
        bar.finish_and_clear();
        report.figures.insert("processor_percent", 100.0 * busy / took);
        if let Some(commands) = commands {
            report.figures.insert("client_commands_per_s", commands as f64 / took);
        }
        report.set([("workers", self.workers)]);
        report.set([("seconds", self.span.as_secs())]);
        working.end().await?;
        subject.close().await;
        Ok(report)
    }
}

/// Advances the progress bar once a second, for ever.
async fn tick(bar: &ProgressBar) {
    let mut seconds = interval(Duration::from_secs(1));
    loop {
        seconds.tick().await;
        bar.inc(1);
    }
}

/// Counts the commands that clients send to the only server until `until`; `None` without one. `MONITOR` reports every Valkey
/// command and marks those that functions call. Postgres counts statements.
async fn commands(bare: &BareStore, until: Instant) -> anyhow::Result<Option<usize>> {
    let client = match bare {
        BareStore::Valkey(servers) => servers.only(),
        BareStore::Postgres(database) => {
            let before = database.statements();
            tokio::time::sleep_until(until).await;
            return Ok(Some(usize::try_from(database.statements() - before)?));
        }
        BareStore::Memory | BareStore::Sqlite(_) | BareStore::Server => None,
    };
    let Some(client) = client else {
        tokio::time::sleep_until(until).await;
        return Ok(None);
    };
    let mut monitor = client.get_async_monitor().await?.into_on_message::<String>();
    let mut commands = 0;
    while let Ok(line) = timeout_at(until, monitor.next()).await {
        let line = line.context("the server went away")?;
        commands += usize::from(!line.contains(" lua] "));
    }
    Ok(Some(commands))
}
