//! Executions are listed page by page, each exactly once.

use std::collections::BTreeSet;

use crate::prelude::*;

pub(crate) async fn the_newest_come_first(world: World) {
    let mut ids = Vec::new();
    for _ in 0..12 {
        ids.push(world.submit("resize", b"cat.png").await);
        world.clock.advance(ms(1)).await;
    }
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
    let mut ids = Vec::new();
    for _ in 0..10 {
        ids.push(world.submit("resize", b"cat.png").await);
        world.clock.advance(ms(1)).await;
    }
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
    let filter = Filter { lane: LaneId::parse("mail").ok(), ..everything(1).filter };
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
    let refusal = assert_refused!(world.backend.list(everything(1_001)).await, "limit_exceeded");
    assert_eq!((refusal.field.as_deref(), refusal.limit), (Some("limit"), Some((1_000, 1_001))));
    let refusal = assert_refused!(world.backend.list(everything(0)).await, "invalid_input");
    assert_eq!(refusal.field.as_deref(), Some("limit"));
}

/// The row of a cursor may have left the list before the cursor is used.
pub(crate) async fn a_cursor_outlives_its_row(world: World) {
    for _ in 0..6 {
        world.submit("resize", b"cat.png").await;
        world.clock.advance(ms(1)).await;
    }
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

fn everything(limit: usize) -> ListArgs {
    ListArgs { filter: Filter::everything(Namespace::default_name()), after: None, limit }
}

fn of_state(state: PublicState, limit: usize) -> ListArgs {
    let all = everything(limit);
    ListArgs { filter: Filter { state: Some(state), ..all.filter }, ..all }
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
