//! A reader gets every item once, in order, and the outcome of the execution.

use super::{all, everything, one, page, text, words};
use crate::prelude::*;

/// Returns the second lease of an execution whose first attempt failed after two frames and whose second appended one.
async fn retried(world: &World) -> LeasedExecution {
    world.job("resize").retries(1, ms(0)).submit().await;
    let first = world.worker("first").claim().await;
    first.append(text(&["a", "b"])).await.unwrap();
    first.fail("network").await.unwrap();
    let second = world.worker("second").claim().await;
    second.append(text(&["c"])).await.unwrap();
    second
}

pub(crate) async fn pages_of_any_size_tell_the_same(world: World) {
    let held = retried(&world).await;
    for limit in 1..7 {
        let (items, last) = everything(&world, &all(held.id(), limit)).await;
        assert_eq!(words(&items), ["0 a", "1 b", "closed 0 Failure", "superseded 0 by 1", "0 c"], "pages of {limit}");
        assert!(!last.ended);
    }
}

pub(crate) async fn a_read_of_one_attempt_returns_only_that_attempt(world: World) {
    let held = retried(&world).await;
    let (items, last) = everything(&world, &one(held.id(), 0, 10)).await;
    assert_eq!(words(&items), ["0 a", "1 b", "closed 0 Failure"]);
    assert!(last.ended && last.outcome.is_none());
    let (items, last) = everything(&world, &one(held.id(), 1, 10)).await;
    assert_eq!(words(&items), ["0 c"]);
    assert!(!last.ended);
}

pub(crate) async fn a_stream_shows_the_outcome_of_an_ended_attempt(world: World) {
    for (ends, outcome) in
        [("Success", Outcome::Success), ("Failure", Outcome::Failed), ("Cancelled", Outcome::Cancelled)]
    {
        let held = world.held().await;
        held.append(text(&["a"])).await.unwrap();
        match outcome {
            Outcome::Success => drop(held.complete(b"done").await.unwrap()),
            Outcome::Failed => drop(held.fail_with("network", "gone", true).await.unwrap()),
            _ => drop(world.cancel(&held.id()).await.unwrap()),
        }
        let (items, last) = everything(&world, &all(held.id(), 10)).await;
        assert_eq!(words(&items), ["0 a".to_owned(), format!("closed 0 {ends}")]);
        assert_eq!((last.ended, last.outcome), (true, Some(outcome)));
        let end = page(&world, &all(held.id(), 10), Some(last.next)).await;
        assert!(end.ended && end.items.is_empty(), "and again to a reader that comes back");
    }
}

pub(crate) async fn output_of_an_attempt_that_was_retried_is_marked(world: World) {
    world.job("resize").retries(1, ms(5_000)).submit().await;
    let first = world.worker("first").claim().await;
    first.append(text(&["a"])).await.unwrap();
    first.fail("network").await.unwrap();
    let (items, reader) = everything(&world, &all(first.id(), 10)).await;
    assert_eq!(words(&items), ["0 a", "closed 0 Failure"]);
    assert!(!reader.ended, "another attempt is to come");
    world.clock.advance(ms(5_000)).await;
    world.worker("second").claim().await;
    let news = page(&world, &all(first.id(), 10), Some(reader.next)).await;
    assert_eq!(words(&news.items), ["superseded 0 by 1"]);
}

pub(crate) async fn work_without_output_ends_without_any(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let (items, last) = everything(&world, &all(id, 10)).await;
    assert_eq!((items.len(), last.ended), (0, false));
    world.cancel(&id).await.unwrap();
    let (items, last) = everything(&world, &all(id, 10)).await;
    assert_eq!((items.len(), last.outcome), (0, Some(Outcome::Cancelled)));
    let held = world.held().await;
    held.complete(b"done").await.unwrap();
    let (items, last) = everything(&world, &all(held.id(), 10)).await;
    assert_eq!((words(&items), last.ended), (vec!["closed 0 Success".to_owned()], true));
}

pub(crate) async fn the_stream_of_a_replayed_execution_continues_with_another_attempt(world: World) {
    let held = world.held().await;
    held.append(text(&["a"])).await.unwrap();
    held.fail_with("network", "gone", true).await.unwrap();
    let (_, reader) = everything(&world, &all(held.id(), 10)).await;
    world.replay(&held.id()).await.unwrap();
    let again = world.worker("second").claim().await;
    again.append(text(&["b"])).await.unwrap();
    again.complete(b"done").await.unwrap();
    let news = page(&world, &all(held.id(), 10), Some(reader.next)).await;
    assert_eq!(words(&news.items), ["superseded 0 by 1", "0 b", "closed 1 Success"]);
    assert_eq!(news.outcome, Some(Outcome::Success));
}

pub(crate) async fn a_cursor_that_was_not_given_out_is_refused(world: World) {
    let (held, other) = (retried(&world).await, world.submit("resize", b"cat.png").await);
    let at = |attempt, seq| Some(StreamCursor::new(&held.id(), AttemptIndex(attempt), seq));
    for (attempt, from) in [
        (None, Some(StreamCursor::start(&other))),
        (None, at(0, 4)),
        (None, at(1, 2)),
        (None, at(3, 0)),
        (Some(AttemptIndex(1)), at(0, 1)),
    ] {
        let args = ReadStreamArgs { attempt, from, ..all(held.id(), 10) };
        assert_refused!(world.backend.read_stream(args).await, "invalid_cursor", "from");
    }
}

pub(crate) async fn output_of_what_is_not_there_is_refused(world: World, held: LeasedExecution) {
    assert_refused!(world.backend.read_stream(one(held.id(), 1, 10)).await, "stream_not_found");
    let gone = ExecutionId::new(held.id().partition(), Uuid::nil());
    assert_refused!(world.backend.read_stream(all(gone, 10)).await, "execution_not_found");
}
