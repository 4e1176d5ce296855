//! Recorded steps come with the claim of the next attempt.

use super::{all, named, record, words};
use crate::prelude::*;

fn join_steps(held: &LeasedExecution) -> String {
    words(&held.steps.steps).join(" ")
}

pub(crate) async fn every_attempt_gets_the_steps_recorded_before_it(world: World) {
    let id = world.job("resize").retries(5, ms(0)).submit().await;
    let first = world.worker("first").claim().await;
    assert_eq!(first.steps, Default::default());
    record(&first, &world, "a b!").await;
    first.fail("network").await.unwrap();
    let second = world.worker("second").claim().await;
    assert_eq!((join_steps(&second).as_str(), second.steps.next), ("a b!", None));
    assert_eq!(second.steps.steps, all(&world, &id, 10).await);
    record(&second, &world, "(c)").await;
    world.clock.advance(second.lease_ttl()).await;
    let third = world.worker("third").claim().await;
    assert_eq!(join_steps(&third), "a b! (c)", "also when the lease was lost");
    third.delay(ms(5)).await.unwrap();
    world.clock.advance(ms(5)).await;
    let resumed = world.worker("fourth").claim().await;
    assert!(resumed.task.resumed);
    assert_eq!(join_steps(&resumed), "a b! (c)", "and when the attempt goes on");
    world.revoke(&id).await.unwrap();
    let fifth = world.worker("fifth").claim().await;
    assert_eq!(join_steps(&fifth), "a b! (c)");
}

pub(crate) async fn many_bytes_of_steps_are_read_page_by_page(world: World) {
    world.job("resize").retries(1, ms(0)).submit().await;
    let first = world.worker("first").claim().await;
    let half = vec![5; limits::CLAIM_STEP_BYTES / 2 - 1];
    for name in ["a", "b", "c"] {
        first.step(name, &half).await;
    }
    first.fail("network").await.unwrap();
    let second = world.worker("second").claim().await;
    assert_eq!((join_steps(&second).as_str(), second.steps.next), ("a b", Some(1)), "as many as go into 256 KiB");
    let rest = ListStepsArgs { after: second.steps.next, ..ListStepsArgs::new(second.id()) };
    assert_eq!(words(&world.backend.list_steps(rest).await.unwrap().steps), ["c"]);
}

pub(crate) async fn a_claim_returns_the_first_step_at_any_size(world: World) {
    world.job("resize").retries(1, ms(0)).submit().await;
    let first = world.worker("first").claim().await;
    first.step("a", &vec![5; limits::STEP_RESULT_BYTES]).await;
    first.step("b", b"").await;
    first.fail("network").await.unwrap();
    let second = world.worker("second").claim().await;
    assert_eq!((join_steps(&second).as_str(), second.steps.next), ("a", Some(0)));
}

pub(crate) async fn steps_count_towards_what_one_reply_carries(world: World) {
    let partition = 3;
    let large = limits::CLAIM_STEP_BYTES - 1;
    let count = limits::CLAIM_BYTES / limits::CLAIM_STEP_BYTES + 1;
    for _ in 0..count {
        world.job("resize").retries(1, ms(0)).on_partition(partition).submit().await;
    }
    let held = world.worker("first").claim_on(partition, count).await;
    assert_eq!(held.len(), count, "payloads alone all go into one reply");
    for held in &held {
        let step = held.record(named(StepKind::Step, "a", ""), &vec![5; large]);
        world.backend.record_step(step).await.unwrap();
        held.fail("network").await.unwrap();
    }
    let again = world.worker("second").claim_on(partition, count).await;
    assert!(!again.is_empty() && again.len() < count, "{} of {count}", again.len());
    assert!(again.iter().all(|held| join_steps(held) == "a"));
    let rest = world.worker("second").claim_on(partition, count).await;
    assert_eq!(again.len() + rest.len(), count);
}
