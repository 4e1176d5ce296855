//! Listing of one tenant's lanes while another tenant has very many.

use std::time::{Duration, Instant};

use ff_backend_postgres::PostgresBackend;
use ff_core::backend::Perform;
use ff_core::contracts::{ListLanesArgs, SubmitArgs};
use ff_core::types::{LaneId, Namespace};

use crate::{StoreLocation, work};

/// Number of lanes of the other tenant.
const MANY: i64 = 30_000;

/// The other tenant's lanes are inserted without the store. A listing passes over them, so its duration does not depend on them.
#[tokio::test]
async fn listing_a_tenants_lanes_takes_no_longer_for_the_lanes_of_another() {
    let place = StoreLocation::new();
    let store = place.open().await;
    let tenants = ["default", "zeta"].map(|name| Namespace::parse(name).unwrap());
    for namespace in &tenants {
        for lane in ["a", "z"] {
            let (namespace, lane) = (namespace.clone(), LaneId::parse(lane).unwrap());
            store.submit(SubmitArgs { namespace, lane, ..work() }).await.unwrap();
        }
    }
    let alone = [list(&store, &tenants[0]).await, list(&store, &tenants[1]).await];
    let fill = "INSERT INTO lane (lane, partition, record) \
        SELECT 'large/lane-' || nth, 0, '{}' FROM generate_series(1, $1::int8) AS more(nth)";
    let database = place.look().await;
    assert_eq!(database.execute(fill, &[&MANY]).await.unwrap(), MANY.unsigned_abs());
    database.batch_execute("ANALYZE lane").await.unwrap();
    for (namespace, alone) in tenants.iter().zip(alone) {
        let took = list(&store, namespace).await;
        assert!(took < alone * 10, "{namespace}: {took:?} beside {MANY} lanes of another tenant, {alone:?} without");
    }
}

/// Returns the median time of several listings of both lanes of a tenant.
async fn list(store: &PostgresBackend, namespace: &Namespace) -> Duration {
    let mut took = Vec::new();
    for _ in 0..5 {
        let args = ListLanesArgs { namespace: Some(namespace.clone()), after: None, limit: 10, finished: true };
        let began = Instant::now();
        let page = store.list_lanes(args).await.unwrap();
        took.push(began.elapsed());
        assert_eq!((page.lanes.len(), page.next), (2, None));
    }
    took.sort_unstable();
    took[took.len() / 2]
}
