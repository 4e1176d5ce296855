//! The floor on Valkey: three functions over the same client. Each of the concurrent callers makes one call at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use redis::cmd;
use uuid::Uuid;

use crate::store::{FloorLoad, Servers};

const LIBRARY: &str = include_str!("floor.lua");
/// Prefix of the keys of the floor.
const PREFIX: &str = "ff:bench";
/// Number of hash tags, so that a cluster shares the jobs.
const TAGS: usize = 64;
/// Maximum number of keys removed with one command.
const REMOVED_AT_ONCE: usize = 500;

/// A queue on the servers of the store, under separate keys.
pub(crate) struct ValkeyFloor<'s> {
    servers: &'s mut Servers,
}

impl<'s> ValkeyFloor<'s> {
    pub(crate) fn over(servers: &'s mut Servers) -> Self {
        Self { servers }
    }

    /// Takes every job through its lifecycle, and removes its keys and functions.
    pub(crate) async fn run(self, load: &FloorLoad) -> anyhow::Result<Duration> {
        self.servers.ask_all::<()>(cmd("FUNCTION").arg("LOAD").arg("REPLACE").arg(LIBRARY)).await?;
        let (took, jobs) = lifecycles(self.servers, load).await?;
        remove(self.servers, &jobs).await?;
        self.servers.ask_all::<()>(cmd("FUNCTION").arg("DELETE").arg("flowfabric_bench")).await?;
        Ok(took)
    }
}

/// Runs all lifecycles. Returns their time, and the keys of the jobs.
async fn lifecycles(servers: &Servers, load: &FloorLoad) -> anyhow::Result<(Duration, Vec<String>)> {
    let (next, load) = (Arc::new(AtomicUsize::new(0)), Arc::new(load.clone()));
    let began = Instant::now();
    let callers: Vec<_> = (0..load.workers)
        .map(|_| {
            let (servers, next, load) = (servers.clone(), next.clone(), load.clone());
            tokio::spawn(async move {
                let mut jobs = Vec::new();
                loop {
                    let job = next.fetch_add(1, Ordering::Relaxed);
                    if job >= load.count {
                        return anyhow::Ok(jobs);
                    }
                    jobs.push(lifecycle(servers.clone(), job % TAGS, &load.payload).await?);
                }
            })
        })
        .collect();
    let mut jobs = Vec::with_capacity(load.count);
    for caller in callers {
        jobs.extend(caller.await.context("the floor broke off")??);
    }
    Ok((began.elapsed(), jobs))
}

/// Creates a job, then claims and completes the first job under the tag. Returns the key of the claimed job.
async fn lifecycle(mut servers: Servers, tag: usize, payload: &[u8]) -> anyhow::Result<String> {
    let [waiting, leased, done, jobs] = keys(tag);
    let job = Uuid::now_v7();
    let now = job.get_timestamp().map_or(0, |at| at.to_unix().0 * 1_000);
    let mut create = cmd("FCALL");
    create.arg("ff_bench_create").arg(2).arg(format!("{jobs}{job}")).arg(&waiting);
    create.arg(job.to_string()).arg("nothing").arg("bench").arg(now).arg(payload);
    servers.ask::<()>(&create).await?;
    let mut claim = cmd("FCALL");
    claim.arg("ff_bench_claim").arg(2).arg(&waiting).arg(&leased).arg(&jobs).arg(now + 30_000);
    // Every caller creates a job before it claims one, so there is always a job to claim, perhaps another caller's.
    let claimed: String = servers.ask(&claim).await?;
    let claimed_key = format!("{jobs}{claimed}");
    let mut complete = cmd("FCALL");
    complete.arg("ff_bench_complete").arg(3).arg(&claimed_key).arg(&leased).arg(&done);
    complete.arg(claimed).arg(now);
    servers.ask::<()>(&complete).await?;
    Ok(claimed_key)
}

/// Returns the keys of the waiting, leased and done jobs, and the key prefix of a job.
fn keys(tag: usize) -> [String; 4] {
    ["waiting", "leased", "done", "job:"].map(|name| format!("{PREFIX}:{{{tag}}}:{name}"))
}

async fn remove(servers: &mut Servers, jobs: &[String]) -> anyhow::Result<()> {
    for tag in 0..TAGS {
        let [waiting, leased, done, prefix] = keys(tag);
        let jobs = jobs.iter().filter(|job| job.starts_with(&prefix));
        let all: Vec<_> = [&waiting, &leased, &done].into_iter().chain(jobs).collect();
        for some in all.chunks(REMOVED_AT_ONCE) {
            servers.ask::<()>(cmd("DEL").arg(some)).await?;
        }
    }
    Ok(())
}
