//! Recorded steps are read page by page.

use super::{all, record, words};
use crate::prelude::*;

pub(crate) async fn pages_together_are_all_steps_in_order(world: World, held: LeasedExecution) {
    record(&held, &world, "a b! (c) d ~d").await;
    for limit in [1, 2, 5, 6] {
        assert_eq!(words(&all(&world, &held.id(), limit).await), ["a", "b!", "(c)", "d", "~d"]);
    }
    let page = world.backend.list_steps(ListStepsArgs { limit: 2, ..ListStepsArgs::new(held.id()) }).await.unwrap();
    assert_eq!((words(&page.steps), page.next), (vec!["a".to_owned(), "b!".to_owned()], Some(1)));
    let beyond = ListStepsArgs { after: Some(900), ..ListStepsArgs::new(held.id()) };
    assert_eq!(world.backend.list_steps(beyond).await.unwrap(), Default::default());
}

pub(crate) async fn a_page_ends_before_it_passes_a_mebibyte(world: World, held: LeasedExecution) {
    let large = vec![1; limits::STEP_RESULT_BYTES];
    for name in ["a", "b", "c", "d", "e"] {
        held.step(name, &large).await;
    }
    let page = world.backend.list_steps(ListStepsArgs::new(held.id())).await.unwrap();
    assert_eq!((words(&page.steps).join(" ").as_str(), page.next), ("a b c", Some(2)), "names are bytes too");
    let rest = ListStepsArgs { after: page.next, ..ListStepsArgs::new(held.id()) };
    let page = world.backend.list_steps(rest).await.unwrap();
    assert_eq!((words(&page.steps).join(" ").as_str(), page.next), ("d e", None));
}

pub(crate) async fn an_execution_without_steps_has_an_empty_page(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    assert_eq!(world.backend.list_steps(ListStepsArgs::new(id)).await.unwrap(), Default::default());
    let unknown = ExecutionId::new(id.partition(), Uuid::now_v7());
    assert_refused!(world.backend.list_steps(ListStepsArgs::new(unknown)).await, "execution_not_found");
}

pub(crate) async fn a_page_has_between_one_and_a_thousand_steps(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let with = |limit| world.backend.list_steps(ListStepsArgs { limit, ..ListStepsArgs::new(id) });
    with(limits::PAGE).await.unwrap();
    assert_refused!(with(0).await, "invalid_input");
    assert_refused!(with(limits::PAGE + 1).await, "limit_exceeded");
}
