//! Executions are listed page by page, each exactly once, and found by their properties: lane, state, kind, labels and time.

use std::collections::BTreeSet;

use crate::prelude::*;

pub(crate) async fn the_newest_come_first(world: World) {
    let mut ids = one_a_millisecond(&world, 12).await;
    ids.reverse();
    let page = world.backend.list(everything(50)).await.unwrap();
    assert_eq!(page.executions.iter().map(|row| row.execution_id).collect::<Vec<_>>(), ids);
    assert_eq!(page.next, None);
    assert_eq!(page.executions[0], world.describe(&ids[0]).await);
}

/// Many executions of one moment are the hard case: a cursor must tell them apart.
pub(crate) async fn every_row_is_on_exactly_one_page(world: World) {
    let mut ids = BTreeSet::new();
    for _ in 0..3 {
        for _ in 0..20 {
            ids.insert(world.submit("resize", b"cat.png").await);
        }
        world.clock.advance(ms(1)).await;
    }
    for limit in [1, 7, 20, 30, 59, 60, 61] {
        let pages = all_pages(&world, everything(limit)).await;
        let rows: Vec<_> = pages.iter().flatten().copied().collect();
        assert_eq!(rows.len(), 60, "pages of {limit}");
        assert_eq!(rows.iter().copied().collect::<BTreeSet<_>>(), ids, "pages of {limit}");
        let (last, full) = pages.split_last().unwrap();
        assert!(full.iter().all(|page| page.len() == limit) && !last.is_empty(), "pages of {limit}");
    }
}

pub(crate) async fn a_page_continues_where_the_previous_page_ended(world: World) {
    let mut ids = one_a_millisecond(&world, 10).await;
    ids.reverse();
    let first = world.backend.list(everything(4)).await.unwrap();
    for _ in 0..5 {
        world.submit("resize", b"new.png").await;
    }
    let second = world.backend.list(ListArgs { after: first.next, ..everything(4) }).await.unwrap();
    let listed: Vec<_> = [first, second].iter().flat_map(|page| &page.executions).map(|row| row.execution_id).collect();
    assert_eq!(listed, ids[..8]);
}

pub(crate) async fn a_list_can_be_of_one_state(world: World) {
    let completed = world.held().await;
    completed.complete(b"done").await.unwrap();
    let failed = world.held().await;
    failed.fail_with("input", "unreadable", true).await.unwrap();
    let cancelled = world.submit("resize", b"cat.png").await;
    world.cancel(&cancelled).await.unwrap();
    let active = world.held().await.id();
    let waiting = world.submit("resize", b"cat.png").await;
    let delayed = world.job("resize").after(ms(60_000)).submit().await;
    let expired = world.job("resize").deadline(ms(1)).submit().await;
    world.clock.advance(ms(1)).await;
    for (state, id) in [
        (PublicState::Completed, completed.id()),
        (PublicState::Failed, failed.id()),
        (PublicState::Cancelled, cancelled),
        (PublicState::Active, active),
        (PublicState::Waiting, waiting),
        (PublicState::Delayed, delayed),
        (PublicState::Expired, expired),
    ] {
        let page = world.backend.list(of_state(state, 50)).await.unwrap();
        assert_eq!(page.executions.iter().map(|row| row.execution_id).collect::<Vec<_>>(), [id], "{state}");
    }
    let page = world.backend.list(of_state(PublicState::Suspended, 50)).await.unwrap();
    assert!(page.executions.is_empty());
}

pub(crate) async fn a_list_can_be_of_one_lane(world: World) {
    world.submit("resize", b"cat.png").await;
    let mail = world.job("send").lane("mail").submit().await;
    let sent = world.job("send").lane("mail").submit().await;
    world.cancel(&sent).await.unwrap();
    let filter = Filter { lane: LaneId::parse("mail").ok(), ..all() };
    let both = all_pages(&world, ListArgs { filter: filter.clone(), ..everything(1) }).await.concat();
    assert_eq!(both.iter().copied().collect::<BTreeSet<_>>(), BTreeSet::from([mail, sent]));
    let filter = Filter { state: Some(PublicState::Waiting), ..filter };
    assert_eq!(all_pages(&world, ListArgs { filter, ..everything(50) }).await.concat(), [mail]);
}

pub(crate) async fn a_list_is_of_one_namespace(world: World) {
    let ours = world.submit("resize", b"cat.png").await;
    let theirs = world.job("resize").namespace("acme").submit().await;
    assert_eq!(all_pages(&world, everything(50)).await.concat(), [ours]);
    let acme = Filter::everything(Namespace::parse("acme").unwrap());
    let lane = Filter { lane: Some(LaneId::default_name()), ..acme.clone() };
    for filter in [acme, lane] {
        assert_eq!(all_pages(&world, ListArgs { filter, ..everything(50) }).await.concat(), [theirs]);
    }
}

pub(crate) async fn a_page_has_at_most_a_thousand_rows(world: World) {
    world.submit("resize", b"cat.png").await;
    assert_eq!(world.backend.list(everything(1_000)).await.unwrap().executions.len(), 1);
    assert_refused!(world.backend.list(everything(1_001)).await, "limit_exceeded", "limit", 1_000, 1_001);
    assert_refused!(world.backend.list(everything(0)).await, "invalid_input", "limit");
}

/// The row of a cursor may have left the list before the cursor is used.
pub(crate) async fn a_cursor_outlives_its_row(world: World) {
    one_a_millisecond(&world, 6).await;
    let waiting = of_state(PublicState::Waiting, 2);
    let first = world.backend.list(waiting.clone()).await.unwrap();
    for row in &first.executions {
        world.cancel(&row.execution_id).await.unwrap();
    }
    let rest = all_pages(&world, ListArgs { after: first.next, ..waiting }).await.concat();
    assert_eq!(rest.len(), 4);
}

pub(crate) async fn nothing_comes_after_the_oldest(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let after = Some(Cursor { created_at: world.clock.now(), execution_id: id });
    let page = world.backend.list(ListArgs { after, ..everything(50) }).await.unwrap();
    assert!(page.executions.is_empty() && page.next.is_none());
}

pub(crate) async fn a_search_finds_what_is_everything_it_says(world: World) {
    let wanted = world.job("send").lane("mail").tag("team", "blue").submit().await;
    let other_kind = world.job("print").lane("mail").tag("team", "blue").submit().await;
    let other_lane = world.job("send").tag("team", "blue").submit().await;
    let other_label = world.job("send").lane("mail").tag("team", "red").submit().await;
    let other_state = world.job("send").lane("mail").tag("team", "blue").submit().await;
    world.cancel(&other_state).await.unwrap();
    let exactly = Filter {
        lane: LaneId::parse("mail").ok(),
        state: Some(PublicState::Waiting),
        kind: Kind::parse("send").ok(),
        tags: labels(&[("team", "blue")]),
        ..all()
    };
    assert_eq!(search(&world, exactly.clone()).await, [wanted].into());
    for (filter, also) in [
        (Filter { kind: None, ..exactly.clone() }, other_kind),
        (Filter { lane: None, ..exactly.clone() }, other_lane),
        (Filter { tags: labels(&[]), ..exactly.clone() }, other_label),
        (Filter { state: None, ..exactly.clone() }, other_state),
    ] {
        assert_eq!(search(&world, filter.clone()).await, [wanted, also].into(), "{filter:?}");
    }
}

pub(crate) async fn a_search_by_several_tags_finds_executions_with_all_of_them(world: World) {
    let both = world.job("resize").tag("team", "blue").tag("region", "eu").submit().await;
    world.job("resize").tag("team", "blue").submit().await;
    world.job("resize").tag("region", "eu").submit().await;
    world.job("resize").tag("team", "eu").tag("region", "blue").submit().await;
    let filter = Filter { tags: labels(&[("team", "blue"), ("region", "eu")]), ..all() };
    assert_eq!(search(&world, filter).await, [both].into());
}

pub(crate) async fn a_search_can_be_of_a_time(world: World) {
    let mut ids = Vec::new();
    let start = world.clock.now();
    for _ in 0..5 {
        ids.push(world.job("resize").tag("team", "blue").submit().await);
        world.clock.advance(ms(10)).await;
    }
    for tags in [labels(&[]), labels(&[("team", "blue")])] {
        let between = Filter { created_from: Some(start + 10), created_until: Some(start + 30), tags, ..all() };
        assert_eq!(search(&world, between.clone()).await, ids[1..3].iter().copied().collect());
        let since = Filter { created_until: None, ..between.clone() };
        assert_eq!(search(&world, since).await, ids[1..].iter().copied().collect());
        let before = Filter { created_from: None, ..between };
        assert_eq!(search(&world, before).await, ids[..3].iter().copied().collect());
    }
}

/// An execution that matches from the first page to the last is on exactly one of them, despite writes in between.
pub(crate) async fn a_matching_execution_is_listed_exactly_once_under_writes(world: World) {
    let ids = one_a_millisecond(&world, 12).await;
    for tags in [labels(&[]), labels(&[("team", "blue")])] {
        let mut args = ListArgs { filter: Filter { tags, ..all() }, after: None, limit: 2 };
        let mut seen = Vec::new();
        for id in ids.iter().cycle() {
            let page = world.backend.list(args.clone()).await.unwrap();
            seen.extend(page.executions.iter().map(|row| row.execution_id).filter(|id| ids.contains(id)));
            args.after = page.next;
            if args.after.is_none() {
                break;
            }
            world.cancel(id).await.unwrap();
            world.job("resize").tag("team", "blue").submit().await;
        }
        seen.reverse();
        assert_eq!(seen, ids);
    }
}

pub(crate) async fn tags_added_later_are_found_and_removed_tags_are_not(world: World) {
    let id = world.job("resize").tag("team", "blue").submit().await;
    let by = |key: &str, value: &str| Filter { tags: labels(&[(key, value)]), ..all() };
    let args = SetTagsArgs { execution_id: id, set: labels(&[("team", "red"), ("region", "eu")]), remove: [].into() };
    world.backend.set_tags(args).await.unwrap();
    assert_eq!(search(&world, by("team", "blue")).await, [].into());
    assert_eq!(search(&world, by("team", "red")).await, [id].into());
    let remove = labels(&[("region", "eu")]).into_keys().collect();
    world.backend.set_tags(SetTagsArgs { execution_id: id, set: labels(&[]), remove }).await.unwrap();
    assert_eq!(search(&world, by("region", "eu")).await, [].into());
}

pub(crate) async fn another_tenants_tags_are_not_found(world: World) {
    let theirs = world.job("resize").namespace("acme").tag("team", "blue").submit().await;
    let filter = Filter { tags: labels(&[("team", "blue")]), ..all() };
    assert_eq!(search(&world, filter.clone()).await, [].into());
    let acme = Namespace::parse("acme").unwrap();
    assert_eq!(search(&world, Filter { namespace: acme, ..filter }).await, [theirs].into());
}

pub(crate) async fn a_search_finds_one_match_behind_a_thousand_executions(world: World) {
    let rare = world.submit("rare", b"1").await;
    world.clock.advance(ms(1)).await;
    let many = (0..1_000).map(|_| world.job("resize").args()).collect();
    world.backend.submit_many(many).await.unwrap();
    let filter = Filter { kind: Kind::parse("rare").ok(), ..all() };
    assert_eq!(search(&world, filter).await, [rare].into());
}

pub(crate) async fn a_search_takes_at_most_eight_tags(world: World) {
    let named = |count: usize| {
        let pairs: Vec<_> = (0..count).map(|nth| format!("k{nth}")).collect();
        let tags = labels(&pairs.iter().map(|key| (key.as_str(), "v")).collect::<Vec<_>>());
        ListArgs { filter: Filter { tags, ..all() }, after: None, limit: 10 }
    };
    assert!(world.backend.list(named(limits::FILTER_TAGS)).await.is_ok());
    assert_refused!(world.backend.list(named(limits::FILTER_TAGS + 1)).await, "limit_exceeded", "tags", 8, 9);
}

pub(crate) async fn a_time_that_ends_before_it_begins_is_refused(world: World) {
    let now = Some(world.clock.now());
    let filter = Filter { created_from: now, created_until: now, ..all() };
    let answer = world.backend.list(ListArgs { filter, after: None, limit: 10 }).await;
    assert_refused!(answer, "invalid_input", "created_until");
}

/// Submits executions with a label, and returns their ids from the oldest to the newest.
async fn one_a_millisecond(world: &World, count: usize) -> Vec<ExecutionId> {
    let mut ids = Vec::new();
    for _ in 0..count {
        ids.push(world.job("resize").tag("team", "blue").submit().await);
        world.clock.advance(ms(1)).await;
    }
    ids
}

fn everything(limit: usize) -> ListArgs {
    ListArgs { filter: all(), after: None, limit }
}

fn of_state(state: PublicState, limit: usize) -> ListArgs {
    ListArgs { filter: Filter { state: Some(state), ..all() }, ..everything(limit) }
}

async fn all_pages(world: &World, mut args: ListArgs) -> Vec<Vec<ExecutionId>> {
    let mut pages = Vec::new();
    loop {
        let page = world.backend.list(args.clone()).await.unwrap();
        pages.push(page.executions.iter().map(|row| row.execution_id).collect());
        let Some(next) = page.next else { return pages };
        args.after = Some(next);
    }
}

fn all() -> Filter {
    Filter::everything(Namespace::default_name())
}

/// Returns every execution that matches a filter, read page by page. Checks that no execution is on two pages.
async fn search(world: &World, filter: Filter) -> BTreeSet<ExecutionId> {
    let found = all_pages(world, ListArgs { filter, ..everything(2) }).await.concat();
    let once: BTreeSet<_> = found.iter().copied().collect();
    assert_eq!(once.len(), found.len(), "something is on two pages");
    once
}
