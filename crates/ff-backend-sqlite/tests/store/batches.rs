//! Group commit: under load, many operations share a commit.

use ff_core::backend::{ExecutionRoom, LeaseRoom};
use ff_core::engine_error::Code;
use futures_util::future::join_all;
use std::collections::HashSet;

use ff_core::contracts::{CancelArgs, SubmitArgs};
use ff_core::types::IdempotencyKey;

use crate::{Place, claim_on, findings, work};

#[tokio::test]
async fn many_at_once_share_few_commits() {
    let place = Place::new();
    let store = place.open();
    let answers = store.submit_many((0..1_000).map(|_| work()).collect()).await.unwrap();
    let ids: HashSet<_> = answers.into_iter().map(|answer| answer.unwrap().execution_id).collect();
    assert_eq!(ids.len(), 1_000);
    assert!(store.commits() <= 100, "1000 submissions took {} commits", store.commits());
}

#[tokio::test]
async fn one_alone_is_committed_at_once() {
    let place = Place::new();
    let store = place.open();
    for expected in 1..=5 {
        store.submit(work()).await.unwrap();
        assert_eq!(store.commits(), expected);
    }
}

#[tokio::test]
async fn a_refused_one_writes_nothing_and_the_others_go_on() {
    let place = Place::new();
    let store = place.open();
    let unknown = ff_core::types::ExecutionId::new(0, uuid::Uuid::nil());
    let cancel = |execution_id| CancelArgs { execution_id, reason: None, requested_by: None };
    let (one, refused, two) = tokio::join!(store.submit(work()), store.cancel(cancel(unknown)), store.submit(work()));
    assert_eq!(refused.unwrap_err().code(), Code::ExecutionNotFound);
    store.describe(&one.unwrap().execution_id).await.unwrap();
    store.describe(&two.unwrap().execution_id).await.unwrap();
    let commits = store.commits();
    store.cancel(cancel(unknown)).await.unwrap_err();
    assert_eq!(store.commits(), commits, "there was nothing to commit");
}

#[tokio::test]
async fn what_changes_nothing_is_not_written() {
    let place = Place::new();
    let store = place.open();
    let work = work();
    let id = store.submit(work.clone()).await.unwrap().execution_id;
    let cancel = CancelArgs { execution_id: id, reason: None, requested_by: None };
    store.cancel(cancel.clone()).await.unwrap();
    let commits = store.commits();
    assert!(store.cancel(cancel).await.unwrap().already);
    assert!(store.submit(work).await.unwrap().duplicate);
    assert_eq!(store.commits(), commits);
}

/// Everybody wants the same few; whoever shares a batch must not be given the same one.
#[tokio::test]
async fn claims_at_once_take_each_execution_once() {
    let place = Place::new();
    let store = place.open();
    // One key, one partition: a key is not remembered beyond its window, and this one has none.
    let key = IdempotencyKey::parse("same").unwrap();
    let mut keyed = SubmitArgs { idempotency_key: Some(key), ..work() };
    keyed.policy.dedup_window_ms = 0;
    let submissions = (0..40).map(|_| SubmitArgs { uuid: uuid::Uuid::now_v7(), ..keyed.clone() }).collect();
    let answers = store.submit_many(submissions).await.unwrap();
    let ids: HashSet<_> = answers.into_iter().map(|answer| answer.unwrap().execution_id).collect();
    let id = *ids.iter().next().unwrap();
    let claims = join_all((0..60).map(|_| store.claim(claim_on(&id)))).await;
    let taken: Vec<_> = claims.into_iter().flat_map(|claims| claims.unwrap().claimed).collect();
    let held: HashSet<_> = taken.iter().map(|claimed| claimed.task.execution_id).collect();
    assert_eq!((taken.len(), held), (40, ids));
    assert_eq!(findings(&store).await, []);
}
