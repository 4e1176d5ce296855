//! A search looks at a bounded number of executions per page.

use ff_core::backend::Perform;
use ff_core::contracts::{Filter, ListArgs, SubmitArgs};
use ff_core::types::{Kind, Namespace};
use ff_engine::Orchestration;

use crate::lanes_and_events::store;
use crate::{StoreLocation, work};

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
    let kind = Some(Kind::parse("rare").unwrap());
    let filter = Filter { kind, ..Filter::everything(Namespace::default_name()) };
    let page = async |after| store.list(ListArgs { filter: filter.clone(), after, limit: 10 }).await.unwrap();
    let first = page(None).await;
    assert!(first.executions.is_empty() && first.next.is_some(), "{first:?}");
    let second = page(first.next).await;
    assert_eq!(second.executions.iter().map(|info| info.execution_id).collect::<Vec<_>>(), [id]);
    assert_eq!(second.next, None);
}
