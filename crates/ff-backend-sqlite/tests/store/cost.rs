//! What plain work costs.

use ff_core::backend::Perform;
use ff_core::contracts::CompleteArgs;

use crate::{StoreLocation, claim_on, work};

/// Work without suspensions or flows pays nothing for them: one more statement than these is a regression.
#[tokio::test]
async fn submitting_claiming_and_completing_take_so_many_statements() {
    let place = StoreLocation::new();
    let store = place.open();
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
    // The feed, the lane's configuration and the namespace's quotas are loaded once.
    assert_eq!(taken, [7 + 2, 8 + 1, 8]);
}
