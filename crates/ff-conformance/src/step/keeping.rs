//! Steps are deleted with their execution.

use super::record;
use crate::prelude::*;

pub(crate) async fn nothing_of_forgotten_steps_is_left(world: World) {
    let before = world.contents().await;
    let id = world.job("resize").retention(ms(1_000)).retries(1, ms(0)).submit().await;
    let first = world.worker("first").claim().await;
    record(&first, &world, "a b!").await;
    first.fail("network").await.unwrap();
    let second = world.worker("second").claim().await;
    record(&second, &world, "(c) ~a").await;
    second.complete(b"done").await.unwrap();
    let forked = world.backend.fork(ForkArgs::new(id)).await.unwrap();
    world.cancel(&forked.execution_id).await.unwrap();
    assert_eq!(world.contents().await.iter().map(|contents| contents.steps.len()).sum::<usize>(), 2);
    world.clock.advance(ms(1_000)).await;
    assert_refused!(world.backend.list_steps(ListStepsArgs::new(id)).await, "execution_not_found");
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn a_fork_outlives_what_it_came_from(world: World) {
    let id = world.job("resize").retention(ms(1_000)).submit().await;
    let held = world.worker("holder").claim().await;
    record(&held, &world, "a").await;
    let args = ForkArgs::new(id);
    let forked = world.backend.fork(args.clone()).await.unwrap();
    held.complete(b"done").await.unwrap();
    world.clock.advance(ms(1_000)).await;
    assert_refused!(world.backend.describe(&id).await, "execution_not_found");
    assert!(world.backend.fork(args).await.unwrap().duplicate);
    assert_eq!(super::recorded(&world, &forked.execution_id).await, ["a"]);
    assert_refused!(world.backend.fork(ForkArgs::new(id)).await, "execution_not_found");
}
