//! Searches on a file: all matches are found, in pages of any size, while executions change.

use ff_backend_sqlite::SqliteBackend;
use ff_core::backend::Perform;
use ff_core::contracts::{BulkAction, BulkArgs, Filter, ListArgs, SubmitArgs};
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, Kind, LaneId, Namespace};
use ff_engine::Orchestration;

use crate::lanes_and_events::{cancel, labels, store};
use crate::{StoreLocation, work};

fn all() -> Filter {
    Filter::everything(Namespace::default_name())
}

/// Returns the executions on every page of a search.
async fn search(store: &SqliteBackend, filter: Filter, limit: usize) -> Vec<ExecutionId> {
    let mut args = ListArgs { filter, after: None, limit };
    let mut found = Vec::new();
    loop {
        let page = store.list(args.clone()).await.unwrap();
        assert!(page.executions.len() <= limit);
        found.extend(page.executions.iter().map(|info| info.execution_id));
        args.after = page.next;
        if args.after.is_none() {
            return found;
        }
    }
}

#[tokio::test]
async fn a_search_finds_what_fits_and_nothing_else_in_pages_of_any_size() {
    let place = StoreLocation::new();
    let (store, clock) = store(&place, None);
    let mut ids = Vec::new();
    for nth in 0..60_usize {
        let tags = labels(&[("nth", &(nth % 2).to_string()), ("third", &(nth % 3).to_string())]);
        let kind = Kind::parse(["resize", "mail"][nth % 2]).unwrap();
        let lane = LaneId::parse(["default", "slow"][usize::from(nth % 5 == 0)]).unwrap();
        ids.push(store.submit(SubmitArgs { tags, kind, lane, ..work() }).await.unwrap().execution_id);
        clock.advance(u64::from(nth % 3 == 0));
    }
    for id in ids.iter().step_by(4) {
        cancel(&store, *id).await;
    }
    let expected = |fits: &dyn Fn(usize) -> bool| {
        let mut fitting: Vec<_> = (0..60).filter(|nth| fits(*nth)).map(|nth| ids[nth]).collect();
        fitting.sort_unstable();
        fitting
    };
    let mail = || Some(Kind::parse("mail").unwrap());
    let slow = || Some(LaneId::parse("slow").unwrap());
    for limit in [1, 7, 1_000] {
        for (filter, fits) in [
            (all(), &(|_| true) as &dyn Fn(usize) -> bool),
            (Filter { state: Some(PublicState::Cancelled), ..all() }, &|nth| nth % 4 == 0),
            (Filter { kind: mail(), ..all() }, &|nth| nth % 2 == 1),
            (Filter { lane: slow(), ..all() }, &|nth| nth % 5 == 0),
            (Filter { lane: slow(), kind: mail(), state: Some(PublicState::Waiting), ..all() }, &|nth| nth % 10 == 5),
            (Filter { tags: labels(&[("third", "1")]), ..all() }, &|nth| nth % 3 == 1),
            (Filter { tags: labels(&[("third", "1"), ("nth", "0")]), ..all() }, &|nth| nth % 6 == 4),
            (
                Filter { tags: labels(&[("nth", "0")]), state: Some(PublicState::Cancelled), lane: slow(), ..all() },
                &|nth| nth % 20 == 0,
            ),
        ] {
            let mut found = search(&store, filter.clone(), limit).await;
            found.sort_unstable();
            assert_eq!(found, expected(fits), "{filter:?} by {limit}");
        }
    }
    let whole = search(&store, all(), 1_000).await;
    assert_eq!(search(&store, all(), 3).await, whole, "the order is the same however it is paged");
    let infos = store.list(ListArgs { filter: all(), after: None, limit: 1_000 }).await.unwrap().executions;
    let times: Vec<_> = infos.iter().map(|info| info.created_at).collect();
    assert!(times.is_sorted_by(|newer, older| newer >= older));
    let (from, until) = (times[40], times[10]);
    let within = Filter { created_from: Some(from), created_until: Some(until), ..all() };
    let expected: Vec<_> =
        infos.iter().filter(|info| (from..until).contains(&info.created_at)).map(|info| info.execution_id).collect();
    assert_eq!(search(&store, within, 4).await, expected);
}

#[tokio::test]
async fn a_search_under_writes_shows_what_stays_exactly_once() {
    let place = StoreLocation::new();
    let (store, clock) = store(&place, None);
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(store.submit(work()).await.unwrap().execution_id);
        clock.advance(1);
    }
    let mut args = ListArgs { filter: all(), after: None, limit: 3 };
    let mut seen = Vec::new();
    for id in ids.iter().cycle() {
        let page = store.list(args.clone()).await.unwrap();
        seen.extend(page.executions.iter().map(|info| info.execution_id));
        args.after = page.next;
        if args.after.is_none() {
            break;
        }
        cancel(&store, *id).await;
        store.submit(work()).await.unwrap();
    }
    seen.reverse();
    assert_eq!(seen, ids);
}

#[tokio::test]
async fn a_search_for_what_is_rare_ends_a_page_before_it_has_looked_at_everything() {
    let place = StoreLocation::new();
    let (store, clock) = store(&place, None);
    let rare = SubmitArgs { kind: Kind::parse("rare").unwrap(), ..work() };
    let id = store.submit(rare).await.unwrap().execution_id;
    clock.advance(1);
    for _ in 0..11 {
        store.submit_many((0..1_000).map(|_| work()).collect()).await.unwrap();
    }
    let filter = Filter { kind: Some(Kind::parse("rare").unwrap()), ..all() };
    let first = store.list(ListArgs { filter: filter.clone(), after: None, limit: 10 }).await.unwrap();
    assert!(first.executions.is_empty() && first.next.is_some(), "{first:?}");
    assert_eq!(search(&store, filter, 10).await, [id]);
}

#[tokio::test]
async fn a_bulk_cancel_matches_its_dry_run() {
    let place = StoreLocation::new();
    let (store, _) = store(&place, None);
    let tags = labels(&[("team", "blue")]);
    let blue = (0..25).map(|_| SubmitArgs { tags: tags.clone(), ..work() });
    store.submit_many(blue.chain((0..5).map(|_| work())).collect()).await.unwrap();
    let filter = Filter { tags, ..all() };
    let action = BulkAction::Cancel { reason: None, requested_by: None };
    let bulk = |dry_run, as_of, after| BulkArgs {
        filter: filter.clone(),
        action: action.clone(),
        dry_run,
        as_of,
        after,
        limit: 10,
    };
    for dry_run in [true, false] {
        let (mut as_of, mut after, mut done) = (None, None, 0);
        loop {
            let page = store.bulk(bulk(dry_run, as_of, after)).await.unwrap();
            assert_eq!(page.refused, []);
            done += page.executions.len();
            (as_of, after) = (Some(page.as_of), page.next);
            if after.is_none() {
                break;
            }
        }
        assert_eq!(done, 25);
        let left = Filter { state: Some(PublicState::Waiting), ..all() };
        assert_eq!(search(&store, left, 100).await.len(), if dry_run { 30 } else { 5 });
    }
}
