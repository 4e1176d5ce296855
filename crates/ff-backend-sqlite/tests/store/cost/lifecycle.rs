//! The statements that plain work takes.

use ff_backend_sqlite::SqliteBackend;
use ff_core::backend::Perform;
use ff_core::contracts::{CompleteArgs, ConfigureLaneArgs, PutQuotaArgs, QuotaDefinition, Setting};
use ff_core::quota::{Per, Rate, Scope};
use ff_core::types::{LaneId, Namespace, QuotaName};
use ff_engine::Orchestration;

use crate::{StoreLocation, claim_on, work};

/// Work without suspensions or flows takes no statement for them: one more statement than these is a regression.
#[tokio::test]
async fn submitting_claiming_and_completing_take_so_many_statements() {
    let place = StoreLocation::new();
    let store = place.open();
    // The feed, the lane's configuration and the namespace's quotas are loaded once.
    assert_eq!(lifecycle(&store).await, [7 + 2, 8 + 1, 7]);
}

/// Plain work takes no statement for the quotas, limited lanes and fair lanes of other work.
#[tokio::test]
async fn admission_of_others_costs_plain_work_no_statement() {
    let place = StoreLocation::new();
    let store = place.open();
    let namespace = Namespace::parse("others").unwrap();
    let definition = QuotaDefinition {
        scope: Scope::Namespace,
        per: Some(Per::Kind),
        rate: Some(Rate { limit: 1, window_ms: 60_000 }),
        max_concurrent: Some(1),
    };
    let name = QuotaName::parse("one").unwrap();
    let put = PutQuotaArgs { namespace: namespace.clone(), name, definition: Some(definition) };
    assert_eq!(store.put_quota(put).await.unwrap().policies.len(), 1);
    let lane = ConfigureLaneArgs {
        concurrency: Setting::To(1),
        fair_by: Setting::To(Per::Namespace),
        ..ConfigureLaneArgs::new(namespace, LaneId::default_name())
    };
    store.configure_lane(lane).await.unwrap();
    drop(store);
    assert_eq!(lifecycle(&place.open()).await, [7 + 2, 8 + 1, 7]);
}

/// Returns the numbers of statements that a submission, a claim and a completion take.
async fn lifecycle(store: &SqliteBackend) -> Vec<u64> {
    let mut taken = Vec::new();
    let mut before = store.statements();
    let mut count = || {
        taken.push(store.statements() - before);
        before = store.statements();
    };
    let id = store.submit(work()).await.unwrap().execution_id;
    count();
    let claimed = store.claim(claim_on(&id)).await.unwrap().claimed.remove(0);
    count();
    store.complete(CompleteArgs { execution_id: id, fence: claimed.task.fence, result: None }).await.unwrap();
    count();
    taken
}
