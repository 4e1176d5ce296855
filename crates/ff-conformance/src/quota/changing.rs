//! A quota may be changed and deleted while executions wait for it.

use super::{Quota, claim_all, count_in, named, submit_for};
use crate::prelude::*;

pub(crate) async fn a_higher_limit_lets_more_start_at_once(world: World) {
    Quota::new(&world, "all").at_once(1).put().await;
    submit_for(&world, "acme", 6).await;
    assert_eq!(claim_all(&world).await.len(), 1);
    Quota::new(&world, "all").at_once(4).put().await;
    assert_eq!(claim_all(&world).await.len(), 3);
    assert_eq!(claim_all(&world).await.len(), 0);
}

pub(crate) async fn a_lower_limit_adds_nothing_until_enough_has_ended(world: World) {
    Quota::new(&world, "all").at_once(3).put().await;
    submit_for(&world, "acme", 6).await;
    let held = claim_all(&world).await;
    assert_eq!(held.len(), 3);
    Quota::new(&world, "all").at_once(1).put().await;
    assert_eq!(claim_all(&world).await.len(), 0);
    super::with_engine(&world);
    held[0].complete(b"done").await.unwrap();
    held[1].complete(b"done").await.unwrap();
    assert_eq!(world.worker("waiting").next(9, ms(200)).await.len(), 0);
    held[2].complete(b"done").await.unwrap();
    assert_eq!(super::get(&world, 1).await.len(), 1);
}

pub(crate) async fn without_the_quota_everything_starts(world: World) {
    Quota::new(&world, "slots").at_once(1).put().await;
    Quota::new(&world, "rate").rate(2, 86_400_000).put().await;
    submit_for(&world, "acme", 6).await;
    assert_eq!(claim_all(&world).await.len(), 1);
    assert_eq!(count_in(&world, PublicState::RateLimited).await, 5);
    assert!(!world.backend.delete_quota(named("slots")).await.unwrap().already);
    assert_eq!(claim_all(&world).await.len(), 1);
    assert!(!world.backend.delete_quota(named("rate")).await.unwrap().already);
    assert_eq!(claim_all(&world).await.len(), 4);
    assert!(world.backend.delete_quota(named("rate")).await.unwrap().already);
    assert_eq!(world.backend.list_quotas(&Namespace::default_name()).await.unwrap().quotas, []);
}

/// Executions that wait for a quota are cancelled, replayed and listed like any others.
pub(crate) async fn an_execution_blocked_by_a_quota_can_be_cancelled_and_replayed(world: World) {
    Quota::new(&world, "one").at_once(1).put().await;
    submit_for(&world, "acme", 2).await;
    let held = claim_all(&world).await;
    let reason = Some(BlockingReason::WaitingForQuota);
    let filter = Filter { blocking_reason: reason, ..Filter::everything(Namespace::default_name()) };
    let page = world.backend.list(ListArgs { filter, after: None, limit: 9 }).await.unwrap();
    let [waiting] = &page.executions[..] else { panic!("{} wait", page.executions.len()) };
    world.cancel(&waiting.execution_id).await.unwrap();
    assert_eq!(world.describe(&waiting.execution_id).await.blocking_detail, None);
    world.replay(&waiting.execution_id).await.unwrap();
    assert_eq!(world.state(&waiting.execution_id).await, PublicState::Waiting);
    assert_eq!(claim_all(&world).await.len(), 0);
    assert_eq!(world.state(&waiting.execution_id).await, PublicState::RateLimited);
    super::with_engine(&world);
    held[0].complete(b"done").await.unwrap();
    assert_eq!(super::get(&world, 1).await[0].id(), waiting.execution_id);
}
