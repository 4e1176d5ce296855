//! A reader that waits for output gets it as soon as there is some.

use std::future::Future;

use futures_util::future::join;
use tokio::time::timeout;

use super::{all, everything, one, text, words};
use crate::prelude::*;

pub(crate) async fn a_waiting_reader_gets_a_new_frame_at_once(world: World, held: LeasedExecution) {
    held.append(text(&["a"])).await.unwrap();
    let page = read_page_while(&world, &all(held.id(), 10), async {
        held.append(text(&["b"])).await.unwrap();
    })
    .await;
    assert_eq!(words(&page.items), ["1 b"]);
}

pub(crate) async fn a_waiting_reader_gets_the_end_of_a_stream_at_once(world: World, held: LeasedExecution) {
    held.append(text(&["a"])).await.unwrap();
    let page = read_page_while(&world, &one(held.id(), 0, 10), async {
        held.complete(b"done").await.unwrap();
    })
    .await;
    assert_eq!((words(&page.items), page.ended), (vec!["closed 0 Success".to_owned()], true));
}

pub(crate) async fn a_waiting_reader_learns_of_another_attempt_at_once(world: World, held: LeasedExecution) {
    held.append(text(&["a"])).await.unwrap();
    let page =
        read_page_while(&world, &all(held.id(), 10), async { world.clock.advance(held.lease_ttl()).await }).await;
    assert_eq!(words(&page.items), ["closed 0 LeaseExpired"]);
    let page = read_page_while(&world, &all(held.id(), 10), async {
        world.worker("second").claim().await;
    })
    .await;
    assert_eq!(words(&page.items), ["superseded 0 by 1"]);
}

pub(crate) async fn a_reader_before_the_first_claim_gets_the_first_frame(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let page = read_page_while(&world, &all(id, 10), async {
        let held = world.worker("holder").claim().await;
        held.append(text(&["a"])).await.unwrap();
    })
    .await;
    assert_eq!(words(&page.items), ["0 a"]);
}

pub(crate) async fn a_reader_of_an_execution_without_output_gets_its_end(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let page = read_page_while(&world, &all(id, 10), async {
        world.cancel(&id).await.unwrap();
    })
    .await;
    assert_eq!(page.outcome, Some(Outcome::Cancelled));
}

pub(crate) async fn a_reader_of_output_that_ended_does_not_wait(world: World, held: LeasedExecution) {
    held.append(text(&["a"])).await.unwrap();
    held.complete(b"done").await.unwrap();
    let (_, last) = everything(&world, &all(held.id(), 10)).await;
    let args = ReadStreamArgs { from: Some(last.next), ..all(held.id(), 10) };
    let page = in_time(world.long_poll.next_frames(args, 60_000)).await.unwrap();
    assert!(page.ended && page.items.is_empty());
}

pub(crate) async fn a_wait_for_output_runs_out(world: World, held: LeasedExecution) {
    held.append(text(&["a"])).await.unwrap();
    let (_, reader) = everything(&world, &all(held.id(), 10)).await;
    let args = ReadStreamArgs { from: Some(reader.next), ..all(held.id(), 10) };
    let page = in_time(world.long_poll.next_frames(args, 20)).await.unwrap();
    assert_eq!((page.items.len(), page.ended, page.next), (0, false, reader.next));
}

/// Returns the page that a reader at the end of a stream gets while `happens` runs.
async fn read_page_while(world: &World, args: &ReadStreamArgs, happens: impl Future<Output = ()>) -> StreamPage {
    let (_, last) = everything(world, args).await;
    let waiting = world.long_poll.next_frames(ReadStreamArgs { from: Some(last.next), ..args.clone() }, 60_000);
    in_time(join(waiting, happens)).await.0.unwrap()
}

/// Waits for an answer that must come long before the long poll runs out.
async fn in_time<T>(answer: impl Future<Output = T>) -> T {
    timeout(ms(20_000), answer).await.expect("not told in time")
}
