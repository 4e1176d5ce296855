//! A lane may limit how many of its executions are leased at once, over all partitions.

use crate::prelude::*;

pub(crate) async fn no_more_are_held_than_the_limit(world: World) {
    world.lane("default").limit(5).await;
    submit(&world, 12).await;
    let held = claim(&world).await;
    assert_eq!(held.len(), 5);
    assert_eq!(claim(&world).await.len(), 0);
    assert_eq!(world.lane("default").depth(LanePlace::Active).await.count, 5);
}

pub(crate) async fn every_way_to_end_makes_room(world: World) {
    world.lane("default").limit(5).await;
    submit(&world, 12).await;
    let held = claim(&world).await;
    held[0].complete(b"done").await.unwrap();
    held[1].fail_with("input", "unreadable", true).await.unwrap();
    world.cancel(&held[2].id()).await.unwrap();
    held[3].delay(ms(60_000_000)).await.unwrap();
    held[4].wait_on("approval").await;
    let next = get(&world, 5).await;
    assert_eq!(claim(&world).await.len(), 0);
    world.clock.advance(next[0].lease_ttl()).await;
    get(&world, 5).await;
    assert_eq!(claim(&world).await.len(), 0, "an expired lease frees one as well, and no more");
}

/// Waiting workers do not poll. The end of an execution wakes them.
pub(crate) async fn a_waiting_worker_gets_what_there_is_room_for(world: World) {
    world.lane("default").limit(1).await;
    submit(&world, 10).await;
    let mut held = world.worker("first").next(1, ms(0)).await.pop().unwrap();
    for _ in 0..9 {
        let worker = world.worker("waiting");
        let waiting = tokio::spawn(async move { worker.next(1, ms(50_000)).await });
        assert_eq!(world.worker("other").next(1, ms(0)).await.len(), 0);
        held.complete(b"done").await.unwrap();
        held = waiting.await.unwrap().pop().expect("one is free");
    }
}

pub(crate) async fn a_lower_limit_adds_nothing_until_enough_has_ended(world: World) {
    world.lane("default").limit(5).await;
    submit(&world, 12).await;
    let held = claim(&world).await;
    world.lane("default").limit(2).await;
    for one in &held[..3] {
        one.complete(b"done").await.unwrap();
    }
    world.clock.advance(ms(limits::RECOUNT_MS)).await;
    assert_eq!(claim(&world).await.len(), 0);
    held[3].complete(b"done").await.unwrap();
    get(&world, 1).await;
    assert_eq!(claim(&world).await.len(), 0);
}

pub(crate) async fn a_limit_counts_what_is_held_already(world: World) {
    submit(&world, 12).await;
    let held = world.worker("holder").claim_up_to(3).await;
    world.lane("default").limit(4).await;
    assert_eq!(claim(&world).await.len(), 1);
    drop(held);
}

pub(crate) async fn without_a_limit_everything_is_handed_out_again(world: World) {
    world.lane("default").limit(1).await;
    submit(&world, 12).await;
    assert_eq!(claim(&world).await.len(), 1);
    let lane = world.lane("default");
    lane.configure(ConfigureLaneArgs { concurrency: Setting::Default, ..lane.args() }).await.unwrap();
    assert_eq!(claim(&world).await.len(), 11);
}

pub(crate) async fn two_tenants_limits_are_two_limits(world: World) {
    world.lane("default").limit(1).await;
    world.lane("default").of("acme").limit(2).await;
    submit(&world, 4).await;
    for _ in 0..4 {
        world.job("resize").namespace("acme").submit().await;
    }
    assert_eq!(claim(&world).await.len(), 1);
    assert_eq!(world.worker("theirs").namespace("acme").claim_up_to(10).await.len(), 2);
}

pub(crate) async fn many_workers_together_never_hold_more_than_the_limit(world: World) {
    world.lane("default").limit(3).await;
    submit(&world, 40).await;
    let working = (0..6).map(|nth| {
        let world = world.clone();
        tokio::spawn(async move {
            let mut done = 0;
            loop {
                let held = world.worker(&format!("w{nth}")).next(2, ms(1_000)).await;
                if held.is_empty() {
                    return done;
                }
                assert!(world.lane("default").depth(LanePlace::Active).await.count <= 3);
                for one in held {
                    one.complete(b"done").await.unwrap();
                    done += 1;
                }
            }
        })
    });
    let mut done = 0;
    for one in working.collect::<Vec<_>>() {
        done += one.await.unwrap();
    }
    assert_eq!(done, 40);
}

async fn submit(world: &World, count: usize) {
    let work = (0..count).map(|_| world.job("resize").args()).collect();
    world.backend.submit_many(work).await.unwrap();
}

/// Claims until `count` executions are held, and waits for them.
async fn get(world: &World, count: usize) -> Vec<LeasedExecution> {
    let mut held = Vec::new();
    while held.len() < count {
        let some = world.worker("waiting").next(count - held.len(), ms(50_000)).await;
        assert!(!some.is_empty(), "{count} are free, and only {} came", held.len());
        held.extend(some);
    }
    held
}

async fn claim(world: &World) -> Vec<LeasedExecution> {
    world.worker("holder").claim_up_to(100).await
}
