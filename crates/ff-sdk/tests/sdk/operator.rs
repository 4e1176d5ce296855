//! An operator's calls from Rust: searches, tags, priorities, bulk actions, lanes, workers and events.

use ff_sdk::core::contracts::ListWorkersArgs;
use ff_sdk::core::engine_error::Code;
use ff_sdk::core::event::{EventCursor, EventKind};
use ff_sdk::core::lane::LaneState;
use ff_sdk::core::state::{BlockingReason, PublicState};
use ff_sdk::core::types::ExecutionId;
use ff_sdk::core::worker::Worker;
use ff_sdk::{BulkReport, Client, Context, Fault, Job, Reply, Search};

use crate::fixture::{fabric, in_time, start};

async fn submit(client: &Client, job: Job) -> ExecutionId {
    client.submit(job).await.unwrap().execution_id
}

async fn found(client: &Client, search: Search) -> Vec<ExecutionId> {
    let mut found = client.search(search).unwrap();
    let mut ids = Vec::new();
    while let Some(info) = found.next().await {
        ids.push(info.unwrap().execution_id);
    }
    ids
}

async fn workers(client: &Client) -> Vec<Worker> {
    client.workers(ListWorkersArgs { namespace: None, after: None, limit: 10 }).await.unwrap().workers
}

#[tokio::test]
async fn executions_are_found_by_what_they_are() {
    let client = fabric().await.client();
    let mail = submit(&client, Job::new("send", &1).lane("mail")).await;
    let blue = submit(&client, Job::new("send", &2).tag("team", "blue")).await;
    assert_eq!(found(&client, Search::all().lane("mail")).await, [mail]);
    assert_eq!(found(&client, Search::all().kind("send").tag("team", "blue")).await, [blue]);
    assert_eq!(found(&client, Search::all().namespace("acme")).await, []);
    client.cancel(&mail, None).await.unwrap();
    assert_eq!(found(&client, Search::all().state(PublicState::Cancelled)).await, [mail]);
    let error = client.search(Search::all().lane("no lane")).err().unwrap();
    assert_eq!(error.code(), Some(Code::InvalidInput));
}

#[tokio::test]
async fn tags_and_priorities_are_changed_later() {
    let client = fabric().await.client();
    let id = submit(&client, Job::new("send", &1).tag("draft", "yes")).await;
    client.tag(&id, "team", "blue").await.unwrap();
    let left = client.untag(&id, "draft").await.unwrap().tags;
    assert_eq!(left.keys().map(|key| key.as_str()).collect::<Vec<_>>(), ["team"]);
    let changed = client.change_priority(&id, 7).await.unwrap();
    assert_eq!((changed.from.get(), changed.priority.get()), (0, 7));
    assert_eq!(client.change_priority(&id, 9_001).await.unwrap_err().code(), Some(Code::InvalidInput));
}

#[tokio::test]
async fn many_are_cancelled_and_run_again_and_a_dry_run_does_neither() {
    let client = fabric().await.client();
    for n in 0..5 {
        submit(&client, Job::new("send", &n)).await;
    }
    submit(&client, Job::new("other", &0)).await;
    let sends = || Search::all().kind("send");
    let five = BulkReport { done: 5, refused: 0 };
    assert_eq!(client.cancel_all(sends()).unwrap().dry_run().run(|_| {}).await.unwrap(), five);
    assert_eq!(found(&client, sends().state(PublicState::Waiting)).await.len(), 5);

    let mut pages = Vec::new();
    let cancelling = client.cancel_all(sends()).unwrap().reason("too late").page(2);
    assert_eq!(cancelling.run(|page| pages.push(page.executions.len())).await.unwrap(), five);
    assert_eq!((pages.iter().sum::<usize>(), pages.len() >= 3), (5, true), "{pages:?}");
    assert_eq!(found(&client, Search::all().state(PublicState::Waiting)).await.len(), 1);

    assert_eq!(client.replay_all(sends()).unwrap().run(|_| {}).await.unwrap(), five);
    assert_eq!(found(&client, sends().state(PublicState::Waiting)).await.len(), 5);
}

#[tokio::test]
async fn executions_are_held_explained_and_released() {
    let client = fabric().await.client();
    let id = submit(&client, Job::new("send", &1)).await;
    assert!(!client.hold(&id, Some("a bad release")).await.unwrap().already);
    assert!(client.explain(&id).await.unwrap().summary.starts_with("An operator holds it (held: a bad release)."));
    submit(&client, Job::new("send", &2)).await;
    assert_eq!(client.hold_all(Search::all()).unwrap().run(|_| {}).await.unwrap().done, 1);
    let held = || Search::all().blocking_reason(BlockingReason::PausedByOperator);
    assert_eq!(found(&client, held()).await.len(), 2);
    let lane = client.lane("default").unwrap().explain().await.unwrap();
    assert!(lane.summary.starts_with("2 of lane default do not run, because operators hold them"), "{}", lane.summary);
    assert!(!client.release(&id).await.unwrap().already);
    assert_eq!(client.release_all(held()).unwrap().reason("unused").run(|_| {}).await.unwrap().done, 1);
    assert_eq!(found(&client, held()).await.len(), 0);
    let unindexed = Search::all().blocking_reason(BlockingReason::WaitingForWorker);
    assert_eq!(unindexed.build().unwrap_err().code(), Some(Code::InvalidInput));
}

#[tokio::test]
async fn a_held_lane_is_released() {
    let client = fabric().await.client();
    let mail = client.lane("mail").unwrap();
    assert_eq!(mail.pause().await.unwrap().settings.state, LaneState::Paused);
    mail.limit(Some(3)).await.unwrap();
    mail.drain().await.unwrap();
    let refused = client.submit(Job::new("send", &1).lane("mail")).await.unwrap_err();
    assert_eq!(refused.code(), Some(Code::NotRunnable));
    let resumed = mail.resume().await.unwrap().settings;
    assert_eq!((resumed.state, resumed.concurrency), (LaneState::Active, Some(3)));
    mail.limit(None).await.unwrap();
    assert_eq!(mail.describe().await.unwrap().settings.concurrency, None);
}

#[tokio::test]
async fn a_worker_is_seen_until_it_has_stopped() {
    let ff = fabric().await;
    let client = ff.client();
    let worker = ff.worker("resizer").lane("images").on("resize", |_: Context| async { Ok::<_, Fault>(Reply::done()) });
    let (stop, running) = start(worker);
    let seen = async {
        loop {
            if let Some(worker) = workers(&client).await.pop() {
                return worker;
            }
            tokio::task::yield_now().await;
        }
    };
    let worker = in_time(seen).await;
    assert_eq!(worker.worker_id.as_str(), "resizer");
    assert_eq!(worker.lanes.iter().map(|lane| lane.as_str()).collect::<Vec<_>>(), ["images"]);
    assert_eq!(worker.kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>(), ["resize"]);
    stop.send(()).unwrap();
    in_time(running).await.unwrap().unwrap();
    assert_eq!(workers(&client).await, []);
}

#[tokio::test]
async fn a_reader_of_events_continues_from_its_cursor() {
    let client = fabric().await.client();
    let mut events = client.events(None, None).await.unwrap();
    let first = submit(&client, Job::new("send", &1)).await;
    let second = submit(&client, Job::new("send", &2)).await;
    let record = in_time(events.next()).await.unwrap();
    assert_eq!(record.what, EventKind::Submitted);
    // Events of different partitions with the same timestamp have no order.
    let other = if record.execution_id == first { second } else { first };

    let cursor: EventCursor = events.cursor().to_string().parse().unwrap();
    let mut again = client.events(None, Some(cursor)).await.unwrap();
    let record = in_time(again.next()).await.unwrap();
    assert_eq!((record.execution_id, record.what), (other, EventKind::Submitted));
    assert_eq!(again.next_if_any().await.unwrap(), None);
    assert!(!again.missed());
}
