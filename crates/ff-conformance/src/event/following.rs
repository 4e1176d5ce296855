//! A reader of the feed gets each event once and in order, and continues from its cursor.

use super::{follow, read, since};
use crate::prelude::*;

pub(crate) async fn a_new_reader_receives_no_earlier_events(world: World) {
    world.submit("resize", b"cat.png").await;
    follow(&world).await;
    world.submit("resize", b"cat.png").await;
    world.clock.advance(ms(1)).await;
    let start = follow(&world).await;
    let id = world.submit("resize", b"cat.png").await;
    let page = read(&world, &start).await;
    assert_eq!(page.events.iter().map(|event| event.execution_id).collect::<Vec<_>>(), [id]);
}

pub(crate) async fn a_place_beyond_everything_has_nothing_after_it(world: World) {
    let start = follow(&world).await;
    let id = world.submit("resize", b"cat.png").await;
    for (at, nth) in [(0, u64::MAX), (i64::MAX, 0), (i64::MAX, u64::MAX)] {
        let place = Position { at: TimestampMs(start.from.0.max(at)), nth };
        let beyond = EventCursor { places: [(id.partition(), place)].into(), ..start.clone() };
        let page = read(&world, &beyond).await;
        assert!(page.events.iter().all(|event| at == 0 && event.position > place), "{place}: {:?}", page.events);
    }
}

pub(crate) async fn pages_together_tell_everything_once(world: World) {
    let mut after = follow(&world).await;
    let mut ids = Vec::new();
    for nth in 0..20 {
        ids.push(world.submit("resize", b"cat.png").await);
        world.clock.advance(ms(u64::from(nth % 3 == 0))).await;
    }
    let mut events = Vec::new();
    loop {
        let page = world.backend.events(EventsArgs { limit: 3, ..since(&after) }).await.unwrap();
        assert!(!page.missed && page.events.len() <= 3);
        after = page.next;
        if page.events.is_empty() {
            break;
        }
        events.extend(page.events);
    }
    assert!(events.is_sorted_by_key(|event| event.position.at), "the order is that of time");
    let mut seen: Vec<_> = events.iter().map(|event| event.execution_id).collect();
    seen.sort_unstable();
    ids.sort_unstable();
    assert_eq!(seen, ids);
}

/// A server encrypts cursors for callers of one namespace. Stores and other servers refuse such a cursor.
pub(crate) async fn an_encrypted_cursor_without_its_key_is_refused(world: World) {
    let start = follow(&world).await;
    let cursor = EventCursor { sealed: Some(EncryptedPositions::new("AmsxAAAA")), ..start };
    assert_refused!(world.backend.events(since(&cursor)).await, "invalid_cursor");
}

/// The reader keeps the cursor as text, so the cursor outlives the reader.
pub(crate) async fn a_reader_continues_from_its_cursor(world: World) {
    let start = follow(&world).await;
    let first = world.submit("resize", b"cat.png").await;
    let page = read(&world, &start).await;
    assert_eq!(page.events[0].execution_id, first);
    let text = page.next.to_string();
    let second = world.submit("resize", b"cat.png").await;
    let place: EventCursor = text.parse().unwrap();
    let page = read(&world, &place).await;
    assert_eq!(page.events.iter().map(|event| event.execution_id).collect::<Vec<_>>(), [second]);
    assert_eq!(read(&world, &place).await, page, "a page whose answer got lost is the same again");
}

pub(crate) async fn two_readers_learn_the_same(world: World) {
    let (one, other) = (follow(&world).await, follow(&world).await);
    let id = world.submit("resize", b"cat.png").await;
    world.cancel(&id).await.unwrap();
    assert_eq!(read(&world, &one).await.events, read(&world, &other).await.events);
}

pub(crate) async fn a_tenants_reader_learns_of_its_tenants_work_only(world: World) {
    let start = follow(&world).await;
    world.submit("resize", b"cat.png").await;
    let theirs = world.job("resize").namespace("acme").submit().await;
    let acme = EventsArgs { namespace: Namespace::parse("acme").ok(), ..since(&start) };
    let page = world.backend.events(acme.clone()).await.unwrap();
    assert_eq!(page.events.iter().map(|event| event.execution_id).collect::<Vec<_>>(), [theirs]);
    let rest = world.backend.events(EventsArgs { after: Some(page.next), ..acme }).await.unwrap();
    assert_eq!(rest.events, []);
}

pub(crate) async fn a_reader_of_one_execution_learns_of_nothing_else(world: World) {
    let (one, other) = (world.submit("resize", b"cat.png").await, world.submit("resize", b"cat.png").await);
    let of_one = EventsArgs { execution: Some(one), after: None, ..since(&EventCursor::default()) };
    let start = world.backend.events(of_one.clone()).await.unwrap().next;
    for id in [other, one] {
        world.cancel(&id).await.unwrap();
    }
    let of_one = EventsArgs { after: Some(start), ..of_one };
    let page = world.backend.events(of_one.clone()).await.unwrap();
    let ended = EventKind::Finished { outcome: Outcome::Cancelled };
    let events: Vec<_> = page.events.iter().map(|event| (event.execution_id, event.what)).collect();
    assert_eq!((events, page.missed), (vec![(one, ended)], false));
    let rest = world.backend.events(EventsArgs { after: Some(page.next), ..of_one }).await.unwrap();
    assert_eq!((rest.events, rest.missed), (vec![], false));
}

pub(crate) async fn a_waiting_reader_learns_what_happens_at_once(world: World) {
    let start = follow(&world).await;
    let (long_poll, args) = (world.long_poll.clone(), since(&start));
    let waiting = tokio::spawn(async move { long_poll.next_events(args, 50_000).await.unwrap() });
    let id = world.submit("resize", b"cat.png").await;
    let page = waiting.await.unwrap();
    assert_eq!(
        page.events.iter().map(|event| (event.execution_id, event.what)).collect::<Vec<_>>(),
        [(id, EventKind::Submitted)]
    );
}

pub(crate) async fn a_wait_for_something_to_happen_runs_out(world: World) {
    let start = follow(&world).await;
    let page = world.long_poll.next_events(since(&start), 50).await.unwrap();
    assert_eq!((page.events, page.missed), (vec![], false));
    assert_refused!(world.long_poll.next_events(since(&start), limits::LONG_POLL_MS + 1).await, "limit_exceeded");
}

pub(crate) async fn a_reader_that_returns_too_late_learns_that_it_missed_events(world: World) {
    let start = follow(&world).await;
    world.submit("resize", b"cat.png").await;
    world.clock.advance(ms(limits::FOLLOWED_MS)).await;
    world.submit("resize", b"cat.png").await;
    let late = read(&world, &start).await;
    assert!(late.missed, "the feed had lapsed");
    let id = world.submit("resize", b"cat.png").await;
    let again = read(&world, &late.next).await;
    assert!(!again.missed, "it is said once");
    assert_eq!(again.events.iter().map(|event| event.execution_id).collect::<Vec<_>>(), [id]);
}

pub(crate) async fn a_page_of_events_has_at_most_a_thousand(world: World) {
    let start = follow(&world).await;
    let sized = |limit| EventsArgs { limit, ..since(&start) };
    assert!(world.backend.events(sized(limits::PAGE)).await.is_ok());
    assert_refused!(world.backend.events(sized(limits::PAGE + 1)).await, "limit_exceeded", "limit", 1_000, 1_001);
    assert_refused!(world.backend.events(sized(0)).await, "invalid_input");
}
