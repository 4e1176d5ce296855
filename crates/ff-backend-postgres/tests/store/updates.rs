//! A step of an execution updates its row within the page, so it writes to no index.

use ff_core::backend::Perform;
use ff_core::contracts::{CompleteArgs, SubmitArgs};
use ff_core::payload::Payload;
use ff_core::policy::Backoff;
use ff_core::types::{Priority, TagKey, TagValue};
use futures_util::future::join_all;

use crate::load::few;
use crate::{StoreLocation, claim_on, findings, work};

const LIFECYCLES: usize = 2_000;
/// Number of workers, each with one job at a time.
const WORKERS: usize = 16;

/// Returns a job like real ones, with tags, a priority and a retry policy.
fn typical(nth: usize) -> SubmitArgs {
    let tag = |key: &str, value: String| (TagKey::parse(key).unwrap(), TagValue::parse(&value).unwrap());
    let mut args = SubmitArgs { payload: Payload::bytes(vec![0xff; 100]), ..work() };
    args.tags = [tag("customer", format!("customer-{}", nth % 100)), tag("env", "production".into())].into();
    args.priority = Priority::new(5).unwrap();
    args.policy.retry_policy.max_retries = 5;
    args.policy.retry_policy.backoff = Backoff::Fixed { delay_ms: 1_000, jitter: true };
    args
}

#[tokio::test]
async fn steps_update_the_rows_of_executions_within_their_pages() {
    let place = StoreLocation::new();
    let store = place.open_with(few()).await;
    let work = async |worker: usize| {
        // Waiting executions fill the pages before the first one is claimed.
        let mut submitted = Vec::new();
        for nth in (worker..LIFECYCLES).step_by(WORKERS) {
            submitted.push(store.submit(typical(nth)).await.unwrap().execution_id);
        }
        for id in submitted {
            // Each worker claims as many executions as it has submitted, so one always waits.
            let task = store.claim(claim_on(&id)).await.unwrap().claimed.remove(0).task;
            let result = Some(Payload::bytes(vec![0xff; 100]));
            store.complete(CompleteArgs { execution_id: task.execution_id, fence: task.fence, result }).await.unwrap();
        }
    };
    join_all((0..WORKERS).map(work)).await;
    assert_eq!(findings(&store).await, []);
    store.close().await;
    drop(store);
    // The server adds up the statistics of a connection when it ends.
    let client = place.look().await;
    let counted = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relid = 'execution'::regclass";
    let (updated, within) = loop {
        let row = client.query_one(counted, &[]).await.unwrap();
        let (updated, within): (i64, i64) = (row.get(0), row.get(1));
        if usize::try_from(updated).unwrap() >= 2 * LIFECYCLES {
            break (updated, within);
        }
    };
    assert!(within * 100 >= updated * 95, "{within} of {updated} updates stayed within their page");
}
