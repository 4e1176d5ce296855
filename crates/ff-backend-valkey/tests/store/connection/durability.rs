//! Answers that wait for the disk.

use ff_backend_valkey::{Durability, ValkeyBackend, ValkeyOptions};
use ff_core::backend::Perform;
use ff_core::contracts::{CompleteArgs, RenewArgs};
use ff_core::engine_error::{Code, EngineError};
use ff_core::types::LeaseEpoch;
use futures_util::future::join_all;

use crate::support::{Flavour, Process};
use crate::{claim, connect, findings, insist, options, work};

#[tokio::test]
async fn every_change_waits_for_the_disk_and_no_read_does() {
    let server = Process::start(Flavour::Valkey, &[]);
    let store = connect(&format!("{}?durability=fsync", server.url())).await;
    let before = waits(&server);
    let id = store.submit(work()).await.unwrap().execution_id;
    assert_eq!(waits(&server), before + 1);
    let fence = claim(&store, &id).await.task.fence;
    store.complete(CompleteArgs { execution_id: id, fence, result: None }).await.unwrap();
    assert_eq!(waits(&server), before + 3);
    store.describe(&id).await.unwrap();
    store.result(&id).await.unwrap();
    assert_eq!(waits(&server), before + 3);
    assert_eq!(findings(&store).await, []);
}

#[tokio::test]
async fn the_options_say_the_same_as_the_url_and_the_url_wins() {
    let server = Process::start(Flavour::Valkey, &[]);
    let fsync = || ValkeyOptions { durability: Durability::Fsync, ..options() };
    let store = ValkeyBackend::connect(&server.url(), fsync()).await.unwrap();
    let before = waits(&server);
    store.submit(work()).await.unwrap();
    assert_eq!(waits(&server), before + 1);

    let url = format!("{}?durability=server", server.url());
    let store = ValkeyBackend::connect(&url, fsync()).await.unwrap();
    let before = waits(&server);
    store.submit(work()).await.unwrap();
    assert_eq!(waits(&server), before);
}

/// Callers that wait at the same time share a wait.
#[tokio::test]
async fn many_changes_wait_for_the_disk_together() {
    let server = Process::start(Flavour::Valkey, &[]);
    let store = connect(&format!("{}?durability=fsync", server.url())).await;
    let before = waits(&server);
    let submitted = join_all((0..256).map(|_| store.submit(work()))).await;
    assert!(submitted.iter().all(Result::is_ok));
    let waited = waits(&server) - before;
    assert!((1..64).contains(&waited), "256 changes waited {waited} times");
    assert_eq!(findings(&store).await, []);
}

#[tokio::test]
async fn a_change_that_is_not_on_disk_has_an_unknown_outcome_and_can_be_repeated() {
    let server = Process::start(Flavour::Valkey, &[]);
    let store = connect(&format!("{}?durability=fsync", server.url())).await;
    server.ask(&["CONFIG", "SET", "appendonly", "no"]);
    let args = work();
    let answer = store.submit(args.clone()).await;
    assert!(matches!(&answer, Err(EngineError::Unknown(why)) if why.contains("disk")), "{answer:?}");
    server.ask(&["CONFIG", "SET", "appendonly", "yes"]);
    let again = store.submit(args).await.unwrap();
    assert!(again.duplicate, "the first one was done, if not on disk");
    assert_eq!(findings(&store).await, []);
}

#[tokio::test]
async fn a_refusal_needs_no_disk() {
    let server = Process::start(Flavour::Valkey, &[]);
    let store = connect(&format!("{}?durability=fsync", server.url())).await;
    let id = store.submit(work()).await.unwrap().execution_id;
    let mut fence = claim(&store, &id).await.task.fence;
    fence.lease_epoch = LeaseEpoch(9);
    let refused = store.renew(RenewArgs { execution_id: id, fence, lease_ttl_ms: None }).await.unwrap_err();
    assert_eq!(refused.code(), Code::StaleLease);
}

#[tokio::test]
async fn a_server_that_dies_during_a_call_leaves_the_outcome_unknown() {
    let mut server = Process::start(Flavour::Valkey, &[]);
    let store = connect(&format!("{}?durability=fsync", server.url())).await;
    server.ask(&["CONFIG", "SET", "appendfsync", "no"]);
    let args = work();
    let dying = async {
        while !server.ask(&["INFO", "clients"]).contains("blocked_clients:1\r\n") {
            tokio::task::yield_now().await;
        }
        server.kill();
    };
    let (answer, ()) = tokio::join!(store.submit(args.clone()), dying);
    assert!(matches!(answer, Err(EngineError::Unknown(_))), "{answer:?}");
    server.restart();
    insist(|| store.submit(args.clone())).await;
    assert_eq!(findings(&store).await, []);
}

/// Returns the number of waits for the server's disk.
fn waits(server: &Process) -> usize {
    let stats = server.ask(&["INFO", "commandstats"]);
    let line = stats.lines().find_map(|line| line.strip_prefix("cmdstat_waitaof:calls="));
    line.and_then(|line| line.split(',').next()).map_or(0, |count| count.parse().unwrap())
}
