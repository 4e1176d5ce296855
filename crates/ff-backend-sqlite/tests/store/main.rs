//! What a store in a SQLite file promises beyond what every store does.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use ff_core::backend::Perform;
mod batches;
mod bytes;
mod closing;
mod cost;
mod damage;
mod doctor;
mod feed;
mod flow_cost;
mod flows;
mod hints;
mod history;
mod idle;
mod opening;
mod operating;
mod plans;
mod restart;
mod schema;
mod searching;
mod secrets;
mod waiting;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ff_backend_sqlite::{Durability, SqliteBackend, SqliteOptions};
use ff_core::backend::EngineStore;
use ff_core::clock::ManualClock;
use ff_core::contracts::{ClaimArgs, DeliverArgs, GrantedWaitpoint, SubmitArgs, SuspendArgs, WaitpointRef};
use ff_core::doctor::{Finding, examine};
use ff_core::lease::Holder;
use ff_core::payload::Payload;
use ff_core::token::PresentedToken;
use ff_core::types::{ExecutionId, Kind, SignalName, TimestampMs, WaitpointKey};
use tempfile::TempDir;

/// A directory of its own for a test, and the file of its store.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("work.db")
    }

    fn open(&self) -> SqliteBackend {
        ff_backend_sqlite::open(&self.path(), options()).unwrap()
    }

    /// The file as SQLite sees it, for looking behind the store's back while nobody has it open.
    fn look(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path()).unwrap()
    }
}

/// As by default, without waiting for the disk: that it is waited for is not what most tests are about.
fn options() -> SqliteOptions {
    SqliteOptions { durability: Durability::Normal, ..SqliteOptions::default() }
}

fn at(ms: u64) -> TimestampMs {
    TimestampMs(1_700_000_000_000) + ms
}

fn standing_clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(at(0)))
}

fn work() -> SubmitArgs {
    SubmitArgs::new(Kind::parse("resize").unwrap(), Payload::json("1"))
}

fn claim_on(id: &ExecutionId) -> ClaimArgs {
    ClaimArgs::new(id.partition(), Holder::parse("w", "w-1").unwrap())
}

fn key(text: &str) -> WaitpointKey {
    WaitpointKey::parse(text).unwrap()
}

/// New work that waits for a signal, and what opens it.
async fn suspended(store: &SqliteBackend) -> (ExecutionId, GrantedWaitpoint) {
    // Of a kind of its own, so that no older work is claimed instead.
    let work = work();
    let kind = Kind::parse(&work.uuid.to_string()).unwrap();
    let id = store.submit(SubmitArgs { kind: kind.clone(), ..work }).await.unwrap().execution_id;
    let claims = store.claim(ClaimArgs { kinds: vec![kind], ..claim_on(&id) }).await.unwrap();
    let fence = claims.claimed[0].task.fence;
    let granted = store.suspend(SuspendArgs::new(id, fence, key("approval"))).await.unwrap().waitpoints.remove(0);
    (id, granted)
}

fn signal(id: &ExecutionId, to: &GrantedWaitpoint, name: &str) -> DeliverArgs {
    let token = PresentedToken::from(&to.waitpoint_token);
    DeliverArgs::new(*id, WaitpointRef::Id(to.waitpoint_id), token, SignalName::parse(name).unwrap())
}

/// What a doctor finds on every partition.
async fn findings(store: &SqliteBackend) -> Vec<Finding> {
    let now = store.now().await.unwrap();
    let mut found = Vec::new();
    for partition in 0..store.partitions().num_flow_partitions {
        found.extend(examine(&store.snapshot(partition).await.unwrap(), partition, now));
    }
    found
}

/// A file beside a store's, as SQLite names it.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
