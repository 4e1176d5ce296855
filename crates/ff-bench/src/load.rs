//! Load for a store: submissions in bulk, or whole lifecycles from callers that submit one job at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use ff_core::contracts::{ClaimArgs, CompleteArgs};
use ff_core::limits;
use ff_sdk::Job;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use indicatif::ProgressBar;

use crate::store::Subject;

/// Maximum number of concurrent bulk submissions.
const AT_ONCE: usize = 4;

/// Submits `count` jobs in bulk, each by its number.
pub(crate) async fn fill(
    subject: &Subject,
    count: usize,
    bar: &ProgressBar,
    job: impl Fn(usize) -> Job + Copy,
) -> anyhow::Result<()> {
    let client = subject.flowfabric.client();
    let bulks = (0..count).step_by(limits::BULK).map(|from| {
        let (client, until) = (client.clone(), count.min(from + limits::BULK));
        async move {
            for answer in client.submit_many((from..until).map(job)).await? {
                answer?;
            }
            bar.inc((until - from) as u64);
            anyhow::Ok(())
        }
    });
    stream::iter(bulks).buffer_unordered(AT_ONCE).try_collect().await
}

/// Claims executions and completes them. Returns the duration of the claim, and how many were claimed.
pub(crate) async fn claim(subject: &Subject, args: ClaimArgs) -> anyhow::Result<(Duration, usize)> {
    let backend = subject.flowfabric.backend();
    let start = Instant::now();
    let claimed = backend.claim(args).await?.claimed;
    let took = start.elapsed();
    for one in &claimed {
        let (execution_id, fence) = (one.task.execution_id, one.task.fence);
        backend.complete(CompleteArgs { execution_id, fence, result: None }).await?;
    }
    Ok((took, claimed.len()))
}

/// Submits `count` jobs from concurrent callers, waits until the last job is completed, and returns the total time.
pub(crate) async fn lifecycles(
    subject: &Subject,
    (callers, count): (usize, usize),
    bar: &ProgressBar,
    job: impl Fn(usize) -> Job + Copy + Send + 'static,
) -> anyhow::Result<Duration> {
    let target = subject.meter.completed() + count as u64;
    let next = Arc::new(AtomicUsize::new(0));
    let began = Instant::now();
    let callers: Vec<_> = (0..callers)
        .map(|_| {
            let (client, next, bar) = (subject.flowfabric.client(), next.clone(), bar.clone());
            let meter = subject.meter.clone();
            tokio::spawn(async move {
                loop {
                    let nth = next.fetch_add(1, Ordering::Relaxed);
                    if nth >= count {
                        return anyhow::Ok(());
                    }
                    meter.room().await;
                    client.submit(job(nth)).await?;
                    bar.inc(1);
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.context("a caller broke off")??;
    }
    subject.meter.until_completed(target).await;
    Ok(began.elapsed())
}
