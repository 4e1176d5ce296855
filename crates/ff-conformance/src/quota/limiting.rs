//! A quota limits how many executions of a key are leased at once.

use super::{Quota, claim_all, count_in, get, named, submit_for, with_engine};
use crate::prelude::*;

pub(crate) async fn no_more_of_a_key_are_held_than_the_quota_allows(world: World) {
    Quota::new(&world, "customers").per("tag:customer").at_once(2).put().await;
    submit_for(&world, "acme", 5).await;
    submit_for(&world, "globex", 5).await;
    let free: Vec<_> = [world.job("send").submit().await, world.job("send").submit().await].into();
    let held = claim_all(&world).await;
    let of = |customer: &str| {
        let is_of = |one: &&LeasedExecution| one.task.tags.values().any(|value| value.as_str() == customer);
        held.iter().filter(is_of).count()
    };
    assert_eq!((of("acme"), of("globex"), held.len()), (2, 2, 6));
    assert!(free.iter().all(|id| held.iter().any(|one| one.id() == *id)), "work without the tag is not limited");
    assert_eq!(claim_all(&world).await.len(), 0);
}

pub(crate) async fn an_execution_blocked_by_a_quota_shows_the_reason(world: World) {
    let policy = Quota::new(&world, "customers").per("tag:customer").at_once(1).put().await;
    let ids = submit_for(&world, "acme", 2).await;
    let held = claim_all(&world).await;
    assert_eq!(held.len(), 1);
    let waiting = ids.into_iter().find(|id| *id != held[0].id()).unwrap();
    let info = world.describe(&waiting).await;
    assert_eq!(info.public_state, PublicState::RateLimited);
    assert_eq!(info.state.blocking_reason, BlockingReason::WaitingForQuota);
    let detail = BlockDetail::Quota {
        policy_id: policy.id,
        name: "customers".into(),
        key: "acme".into(),
        used: 1,
        limit: 1,
        retry_at: None,
    };
    assert_eq!(info.blocking_detail.as_deref(), Some(&detail));
    let usage = world.backend.describe_quota(named("customers")).await.unwrap();
    assert_eq!(usage.keys, [KeyUse { key: "acme".into(), in_window: 0, held: 1, waiting: 1 }]);
    let explained = world.backend.explain(&waiting).await.unwrap();
    assert_eq!(explained.holders.iter().map(|holder| holder.execution_id).collect::<Vec<_>>(), [held[0].id()]);
}

/// Waiting workers do not poll. The end of an execution wakes them.
pub(crate) async fn a_waiting_worker_gets_the_slot_that_was_freed(world: World) {
    with_engine(&world);
    Quota::new(&world, "one").at_once(1).put().await;
    submit_for(&world, "acme", 8).await;
    let mut held = world.worker("first").next(1, ms(0)).await.pop().unwrap();
    for _ in 0..7 {
        let worker = world.worker("waiting");
        let waiting = tokio::spawn(async move { worker.next(1, ms(50_000)).await });
        held.complete(b"done").await.unwrap();
        let next = waiting.await.unwrap().pop();
        let keys = world.backend.describe_quota(named("one")).await.unwrap().keys;
        let left = count_in(&world, PublicState::Waiting).await;
        held = next.unwrap_or_else(|| panic!("one is free: {keys:?}, {left} are ready"));
        assert_eq!(count_in(&world, PublicState::Active).await, 1);
    }
}

pub(crate) async fn every_way_to_end_a_lease_frees_its_slot(world: World) {
    with_engine(&world);
    Quota::new(&world, "six").at_once(6).put().await;
    submit_for(&world, "acme", 14).await;
    let held = claim_all(&world).await;
    assert_eq!(held.len(), 6);
    held[0].complete(b"done").await.unwrap();
    held[1].fail_with("input", "unreadable", true).await.unwrap();
    world.cancel(&held[2].id()).await.unwrap();
    held[3].delay(ms(60_000_000)).await.unwrap();
    held[4].wait_on("approval").await;
    world.cancel(&held[5].id()).await.unwrap();
    let next = get(&world, 6).await;
    assert_eq!(claim_all(&world).await.len(), 0);
    world.clock.advance(next[0].lease_ttl()).await;
    assert!(!get(&world, 2).await.is_empty(), "an expired lease frees its slot as well");
    assert!(count_in(&world, PublicState::Active).await <= 6);
}

pub(crate) async fn an_execution_that_waited_and_was_cancelled_gives_its_turn_to_the_next(world: World) {
    Quota::new(&world, "one").at_once(1).put().await;
    submit_for(&world, "acme", 4).await;
    let held = claim_all(&world).await;
    assert_eq!(count_in(&world, PublicState::RateLimited).await, 3);
    let filter = Filter { state: Some(PublicState::RateLimited), ..Filter::everything(Namespace::default_name()) };
    let page = world.backend.list(ListArgs { filter, after: None, limit: 9 }).await.unwrap();
    for one in &page.executions[..2] {
        world.cancel(&one.execution_id).await.unwrap();
    }
    with_engine(&world);
    held[0].complete(b"done").await.unwrap();
    let next = get(&world, 1).await;
    assert_eq!(next[0].id(), page.executions[2].execution_id);
}

pub(crate) async fn every_policy_must_admit(world: World) {
    Quota::new(&world, "all").at_once(3).put().await;
    Quota::new(&world, "customers").per("tag:customer").at_once(2).put().await;
    Quota::new(&world, "sends").scope("kind:send").rate(100, 60_000).put().await;
    for customer in ["acme", "globex", "initech"] {
        submit_for(&world, customer, 3).await;
    }
    let mut held = claim_all(&world).await;
    for _ in 0..4 {
        held.extend(claim_all(&world).await);
    }
    assert_eq!(held.len(), 3);
    let usage = world.backend.describe_quota(named("sends")).await.unwrap();
    assert_eq!((usage.keys[0].held, usage.keys[0].in_window), (3, 3), "what was not claimed is given back");
}

pub(crate) async fn a_policy_applies_to_its_scope_only(world: World) {
    Quota::new(&world, "lane").scope("lane:mail").at_once(1).put().await;
    Quota::new(&world, "kind").scope("kind:resize").at_once(1).put().await;
    Quota::new(&world, "tag").scope("tag:tier=free").at_once(1).put().await;
    Quota::new(&world, "theirs").of("acme").at_once(1).put().await;
    for _ in 0..3 {
        world.job("send").lane("mail").submit().await;
        world.job("resize").submit().await;
        world.job("other").tag("tier", "free").submit().await;
        world.job("other").tag("tier", "paid").submit().await;
        world.job("other").namespace("acme").submit().await;
    }
    assert_eq!(world.worker("mail").lanes(&["mail"]).claim_up_to(9).await.len(), 1);
    assert_eq!(world.worker("theirs").namespace("acme").claim_up_to(9).await.len(), 1);
    let held = claim_all(&world).await;
    let of = |kind: &str| held.iter().filter(|one| one.task.kind.as_str() == kind).count();
    assert_eq!((of("resize"), of("other")), (1, 4));
}

pub(crate) async fn a_lane_with_a_limit_and_a_quota_keeps_both(world: World) {
    world.lane("default").limit(3).await;
    Quota::new(&world, "customers").per("tag:customer").at_once(2).put().await;
    for customer in ["acme", "globex", "initech"] {
        submit_for(&world, customer, 4).await;
    }
    let mut held = Vec::new();
    for _ in 0..6 {
        held.extend(claim_all(&world).await);
        world.clock.advance(ms(limits::RECOUNT_MS)).await;
    }
    assert_eq!(held.len(), 3);
    assert_eq!(world.lane("default").depth(LanePlace::Active).await.count, 3);
}

pub(crate) async fn many_workers_together_never_hold_more_than_the_quota_allows(world: World) {
    with_engine(&world);
    Quota::new(&world, "customers").per("tag:customer").at_once(2).put().await;
    for nth in 0..40 {
        submit_for(&world, ["acme", "globex"][nth % 2], 1).await;
    }
    let working = (0..6).map(|nth| {
        let world = world.clone();
        tokio::spawn(async move {
            let mut done = 0;
            loop {
                let held = world.worker(&format!("w{nth}")).next(2, ms(2_000)).await;
                if held.is_empty() {
                    return done;
                }
                assert!(count_in(&world, PublicState::Active).await <= 4);
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
