//! The lease history is trimmed to its limit.

use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::RevokeArgs;
use ff_core::limits;

use super::{claim_on, work};
use crate::StoreLocation;

#[tokio::test]
async fn the_newest_lost_leases_are_kept_and_older_ones_are_not() {
    let place = StoreLocation::new();
    let store = place.open_store(None).await;
    let id = store.submit(work()).await.unwrap().execution_id;
    let revoke = RevokeArgs { execution_id: id, lease_id: None, reason: None };
    let beyond = 3;
    for _ in 0..limits::LEASE_HISTORY + beyond {
        store.claim(claim_on(&id)).await.unwrap();
        store.revoke(revoke.clone()).await.unwrap();
    }
    let epochs = |leases: &[ff_core::lease::LeaseEvent]| -> Vec<_> {
        leases.iter().map(|lease| lease.fence.lease_epoch.0).collect()
    };
    let expected: Vec<_> = (beyond as u64 + 1..=(limits::LEASE_HISTORY + beyond) as u64).collect();
    assert_eq!(epochs(&store.attempts(&id).await.unwrap().leases), expected);
    let snapshot = store.snapshot(id.partition()).await.unwrap();
    assert_eq!(epochs(&snapshot.leases[&id]), expected);
    assert_eq!(snapshot.attempts[&id].len(), limits::LEASE_HISTORY + beyond, "attempts are all kept");
}
