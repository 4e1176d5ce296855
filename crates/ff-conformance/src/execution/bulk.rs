//! Many executions in one call: submissions, and cancellations and replays of all that match a filter.

use crate::prelude::*;

pub(crate) async fn a_thousand_at_once_each_have_their_own_answer(world: World) {
    let too_big = Payload::bytes(vec![0; limits::PAYLOAD_BYTES + 1]);
    let jobs: Vec<SubmitArgs> = (0..limits::BULK)
        .map(|nth| match nth {
            500 => world.job("resize").payload(too_big.clone()).args(),
            600..610 => world.job("resize").key("same").args(),
            610 => world.job("shrink").key("same").args(),
            _ => world.job("resize").payload(Payload::json(nth.to_string())).args(),
        })
        .collect();
    let config = world.backend.partitions();
    let expected: Vec<_> = jobs.iter().map(|job| job.execution_id(&config)).collect();

    let answers = world.backend.submit_many(jobs).await.unwrap();

    assert_eq!(answers.len(), limits::BULK);
    for (nth, answer) in answers.into_iter().enumerate() {
        match nth {
            500 => {
                assert_refused!(answer, "payload_too_large");
            }
            610 => {
                assert_refused!(answer, "idempotency_conflict");
            }
            601..610 => {
                let submitted = answer.unwrap();
                assert_eq!((submitted.execution_id, submitted.duplicate), (expected[600], true), "{nth}");
            }
            _ => {
                let submitted = answer.unwrap();
                assert_eq!((submitted.execution_id, submitted.duplicate), (expected[nth], false), "{nth}");
            }
        }
    }
    let stored: usize = world.contents().await.iter().map(|partition| partition.executions.len()).sum();
    assert_eq!(stored, limits::BULK - 11);
}

pub(crate) async fn a_bulk_of_a_thousand_and_one_is_refused_as_a_whole(world: World) {
    let jobs = (0..=limits::BULK).map(|_| world.job("resize").args()).collect();
    let refusal = assert_refused!(world.backend.submit_many(jobs).await, "limit_exceeded");
    assert_eq!(refusal.limit, Some((1_000, 1_001)));
    assert!(world.contents().await.iter().all(|partition| partition.executions.is_empty()));
}

pub(crate) async fn a_bulk_keeps_its_order_within_a_partition(world: World) {
    let jobs: Vec<_> = (0..50).map(|_| world.job("resize").on_partition(1).args()).collect();
    let config = world.backend.partitions();
    let sent: Vec<_> = jobs.iter().map(|job| job.execution_id(&config)).collect();
    world.backend.submit_many(jobs).await.unwrap();
    let taken: Vec<_> = world.worker("worker").claim_on(1, 50).await.iter().map(LeasedExecution::id).collect();
    assert_eq!(taken, sent);
}

pub(crate) async fn nothing_at_once_is_nothing(world: World) {
    assert_eq!(world.backend.submit_many(Vec::new()).await, Ok(Vec::new()));
}

pub(crate) async fn many_are_cancelled_by_what_they_are(world: World) {
    let (blue, other) = colours(&world).await;
    let done = act(&world, args(cancel())).await;
    assert_eq!(ids(&done), blue);
    for id in &blue {
        assert_eq!(world.state(id).await, PublicState::Cancelled);
    }
    assert_eq!(world.state(&other).await, PublicState::Waiting);
    assert_eq!(ids(&act(&world, args(cancel())).await), [], "what is over is not cancelled again");
}

pub(crate) async fn a_dry_run_says_which_and_does_nothing(world: World) {
    let (blue, _) = colours(&world).await;
    let before = world.contents().await;
    let done = act(&world, BulkArgs { dry_run: true, ..args(cancel()) }).await;
    assert_eq!((ids(&done), world.contents().await), (blue, before));
}

pub(crate) async fn many_are_replayed_by_what_they_are(world: World) {
    let (blue, _) = colours(&world).await;
    world.cancel(&blue[0]).await.unwrap();
    world.cancel(&blue[1]).await.unwrap();
    world.clock.advance(ms(1)).await;
    let done = act(&world, args(replay())).await;
    assert_eq!(ids(&done), blue[..2]);
    assert_eq!(world.state(&blue[0]).await, PublicState::Waiting);
}

/// A caller repeats the request for a page whose answer was lost. No execution is changed twice.
pub(crate) async fn a_repeated_bulk_page_changes_no_execution_twice(world: World) {
    let (blue, _) = colours(&world).await;
    world.cancel(&blue[0]).await.unwrap();
    let as_of = world.clock.now();
    world.clock.advance(ms(1)).await;
    let first = world.backend.bulk(BulkArgs { as_of: Some(as_of), limit: 10, ..args(replay()) }).await.unwrap();
    assert_eq!((first.executions, first.as_of), (vec![blue[0]], as_of));
    world.cancel(&blue[0]).await.unwrap();
    let again = world.backend.bulk(BulkArgs { as_of: Some(as_of), limit: 10, ..args(replay()) }).await.unwrap();
    assert_eq!(again.executions, []);
}

pub(crate) async fn a_bulk_action_reports_a_refusal_and_continues(world: World) {
    let (blue, _) = colours(&world).await;
    for _ in 0..limits::MAX_REPLAYS {
        world.cancel(&blue[0]).await.unwrap();
        world.replay(&blue[0]).await.unwrap();
    }
    world.cancel(&blue[0]).await.unwrap();
    world.cancel(&blue[1]).await.unwrap();
    let done = act(&world, args(replay())).await;
    assert_eq!(ids(&done), [blue[1]]);
    let refused: Vec<_> = done.iter().flat_map(|page| &page.refused).collect();
    assert_eq!(
        (refused.len(), refused[0].execution_id, refused[0].code.as_str()),
        (1, blue[0], "max_replays_exhausted")
    );
}

pub(crate) async fn a_page_acts_on_at_most_a_thousand(world: World) {
    let sized = |limit| BulkArgs { limit, ..args(cancel()) };
    assert!(world.backend.bulk(sized(limits::BULK)).await.is_ok());
    assert_refused!(world.backend.bulk(sized(limits::BULK + 1)).await, "limit_exceeded", "limit", 1_000, 1_001);
    assert_refused!(world.backend.bulk(sized(0)).await, "invalid_input");
}

/// Submits three executions of one colour and one of another. Returns the ids of the three, sorted, and the other id.
async fn colours(world: &World) -> (Vec<ExecutionId>, ExecutionId) {
    let mut blue = Vec::new();
    for _ in 0..3 {
        blue.push(world.job("resize").tag("colour", "blue").submit().await);
    }
    blue.sort_unstable();
    (blue, world.job("resize").tag("colour", "red").submit().await)
}

fn args(action: BulkAction) -> BulkArgs {
    let filter = Filter { tags: labels(&[("colour", "blue")]), ..Filter::everything(Namespace::default_name()) };
    BulkArgs { filter, action, dry_run: false, as_of: None, after: None, limit: 2 }
}

fn cancel() -> BulkAction {
    BulkAction::Cancel { reason: Some("a test".into()), requested_by: None }
}

fn replay() -> BulkAction {
    BulkAction::Replay { reason: None, requested_by: None, reopen_downstream: false }
}

/// Runs a bulk operation to its last page, and returns every page.
async fn act(world: &World, mut args: BulkArgs) -> Vec<BulkPage> {
    let mut pages = Vec::new();
    loop {
        let page = world.backend.bulk(args.clone()).await.unwrap();
        (args.as_of, args.after) = (Some(page.as_of), page.next);
        pages.push(page);
        if args.after.is_none() {
            return pages;
        }
    }
}

/// Returns the ids of the changed executions, sorted.
fn ids(pages: &[BulkPage]) -> Vec<ExecutionId> {
    let mut ids: Vec<_> = pages.iter().flat_map(|page| page.executions.iter().copied()).collect();
    ids.sort_unstable();
    ids
}
