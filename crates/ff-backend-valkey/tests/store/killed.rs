//! A server that is killed under load, and started again with the data on its disk.

use std::sync::Arc;

use ff_backend_valkey::{Durability, ValkeyBackend, ValkeyOptions};
use ff_core::backend::clock::ManualClock;
use ff_core::types::TimestampMs;

use crate::load::Load;
use crate::support::{Flavour, Process};
use crate::{LEASE_TTL_MS, options};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_when_valkey_is_killed_under_load() {
    killed_under_load(Flavour::Valkey, Durability::Server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_when_redis_is_killed_under_load() {
    killed_under_load(Flavour::Redis, Durability::Server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_when_answers_wait_for_the_disk() {
    killed_under_load(Flavour::Valkey, Durability::Fsync).await;
}

async fn killed_under_load(flavour: Flavour, durability: Durability) {
    let mut server = Process::start(flavour, &[]);
    let clock = Arc::new(ManualClock::at(TimestampMs(1_700_000_000_000)));
    let options = ValkeyOptions { clock: Some(clock.clone()), durability, ..options() };
    let load = Load::on(ValkeyBackend::connect(&server.url(), options).await.unwrap());
    let callers = load.start(25);
    for _ in 0..4 {
        load.goes_on(150).await;
        load.all_there(false);
        tokio::task::block_in_place(|| server.restart());
        load.all_there(true);
    }
    callers.join_all().await;
    assert!(load.repeated() > 0, "no call was under way when it was killed");
    // A claim whose reply was lost is claimed again.
    clock.advance(LEASE_TTL_MS);
    load.drain().await;
    load.holds().await;
}
