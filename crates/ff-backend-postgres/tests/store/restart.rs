//! State that survives a restart.

use std::sync::Arc;

use ff_backend_postgres::PostgresOptions;
use ff_core::backend::clock::ManualClock;
use ff_core::backend::{EngineStore, Perform};

use crate::{StoreLocation, at, stopped_clock, work};

#[tokio::test]
async fn a_process_with_a_slow_clock_does_not_turn_time_back() {
    let place = StoreLocation::new();
    let clock = stopped_clock();
    let options =
        |clock: &Arc<ManualClock>| PostgresOptions { clock: Some(clock.clone()), ..PostgresOptions::default() };
    let store = place.open_with(options(&clock)).await;
    clock.advance(5_000);
    store.submit(work()).await.unwrap();

    let earlier = stopped_clock();
    let other = place.open_with(options(&earlier)).await;
    assert_eq!(other.now().await, Ok(at(5_000)));
    let id = other.submit(work()).await.unwrap().execution_id;
    assert_eq!(other.describe(&id).await.unwrap().created_at, at(5_000));
    earlier.advance(6_000);
    assert_eq!(other.now().await, Ok(at(6_000)));
}
