//! Token secrets: they exist from the start, are the same on every partition, and survive.

use ff_backend_sqlite::SqliteBackend;
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{RotateSecretArgs, RotatedSecret};
use ff_core::token::KeyRing;
use ff_engine::Orchestration;

use crate::{StoreLocation, signal, suspended};

async fn rings(store: &SqliteBackend) -> Vec<Option<KeyRing>> {
    let mut rings = Vec::new();
    for partition in 0..store.partitions().num_flow_partitions {
        rings.push(store.snapshot(partition).await.unwrap().ring);
    }
    rings
}

#[tokio::test]
async fn every_partition_has_the_same_secret_from_the_start_and_keeps_it() {
    let place = StoreLocation::new();
    let store = place.open();
    let before = rings(&store).await;
    assert!(before[0].is_some() && before.iter().all(|ring| *ring == before[0]));
    let (id, granted) = suspended(&store).await;
    store.close().await;
    drop(store);
    let store = place.open();
    assert_eq!(rings(&store).await, before);
    store.deliver(signal(&id, &granted, "go")).await.unwrap();
}

#[tokio::test]
async fn two_stores_do_not_share_a_secret() {
    let (one, two) = (StoreLocation::new(), StoreLocation::new());
    assert_ne!(rings(&one.open()).await[0], rings(&two.open()).await[0]);
}

#[tokio::test]
async fn a_partition_that_lost_its_secrets_gets_those_of_the_others() {
    let place = StoreLocation::new();
    let before = rings(&place.open()).await;
    assert_eq!(place.look().execute("DELETE FROM key_ring WHERE partition IN (0, 7)", []), Ok(2));
    assert_eq!(rings(&place.open()).await, before);
}

#[tokio::test]
async fn a_rotation_reaches_every_partition_at_once_and_can_be_repeated() {
    let place = StoreLocation::new();
    let store = place.open();
    let rotation = RotateSecretArgs::parse("k2", "c0ffee5ec4e7c0ffee5ec4e7c0ffee5e", 1_000).unwrap();
    let first = store.rotate_secret(rotation.clone()).await.unwrap();
    assert!(first.is_complete());
    assert!(first.rotated.iter().all(|(_, rotated)| matches!(rotated, RotatedSecret::Rotated { .. })));
    let commits = store.commits();
    assert!(commits < 10, "it took {commits} commits");
    let again = store.rotate_secret(rotation).await.unwrap();
    let partitions: Vec<_> = again.rotated.iter().map(|(partition, _)| *partition).collect();
    assert_eq!(partitions, Vec::from_iter(0..256));
    assert!(again.rotated.iter().all(|(_, rotated)| matches!(rotated, RotatedSecret::Noop { .. })));
    assert_eq!(store.commits(), commits, "there was nothing to write");
    for partition in store.kids().await.unwrap() {
        assert_eq!(partition.kids.current_kid.unwrap().as_str(), "k2");
        assert_eq!(partition.kids.verifying.len(), 1);
    }
}
