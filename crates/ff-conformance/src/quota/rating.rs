//! A quota limits how many executions of a key are claimed within any span of a window.

use super::{Quota, claim_all, count_in, named, submit_for};
use crate::prelude::*;

pub(crate) async fn no_more_are_claimed_within_a_window_than_the_quota_allows(world: World) {
    Quota::new(&world, "api").rate(3, 1_000).put().await;
    submit_for(&world, "acme", 8).await;
    assert_eq!(claim_all(&world).await.len(), 3);
    world.clock.advance(ms(999)).await;
    assert_eq!(claim_all(&world).await.len(), 0);
    world.clock.advance(ms(1)).await;
    assert_eq!(claim_all(&world).await.len(), 3);
    world.clock.advance(ms(1_000)).await;
    assert_eq!(claim_all(&world).await.len(), 2);
}

/// The window slides. It does not restart at fixed times.
pub(crate) async fn a_window_slides(world: World) {
    Quota::new(&world, "api").rate(2, 1_000).put().await;
    submit_for(&world, "acme", 8).await;
    let claim = async |max| world.worker("holder").claim_up_to(max).await.len();
    assert_eq!(claim(1).await, 1);
    world.clock.advance(ms(600)).await;
    assert_eq!(claim(8).await, 1);
    world.clock.advance(ms(400)).await;
    assert_eq!(claim(8).await, 1, "the first has left the window, the second has not");
    world.clock.advance(ms(600)).await;
    assert_eq!(claim(8).await, 1);
}

pub(crate) async fn each_refusal_says_when_the_window_has_room(world: World) {
    Quota::new(&world, "api").rate(1, 1_000).put().await;
    submit_for(&world, "acme", 4).await;
    let began = world.clock.now();
    assert_eq!(claim_all(&world).await.len(), 1);
    let filter = Filter { state: Some(PublicState::RateLimited), ..Filter::everything(Namespace::default_name()) };
    let page = world.backend.list(ListArgs { filter, after: None, limit: 9 }).await.unwrap();
    let mut moments: Vec<_> = page
        .executions
        .iter()
        .map(|one| match one.blocking_detail.as_deref() {
            Some(BlockDetail::Quota { used: 1, limit: 1, retry_at: Some(at), .. }) => at.since(began),
            other => panic!("{other:?}"),
        })
        .collect();
    moments.sort_unstable();
    assert_eq!(moments, [1_000, 2_000, 3_000], "they do not all come back at once");
    for left in [2, 1, 0] {
        world.clock.advance(ms(1_000)).await;
        assert_eq!(claim_all(&world).await.len(), 1);
        assert_eq!(count_in(&world, PublicState::RateLimited).await, left);
    }
}

pub(crate) async fn each_value_of_a_key_has_its_own_window(world: World) {
    Quota::new(&world, "api").per("tag:customer").rate(2, 60_000).put().await;
    submit_for(&world, "acme", 4).await;
    submit_for(&world, "globex", 4).await;
    assert_eq!(claim_all(&world).await.len(), 4);
    let keys = world.backend.describe_quota(named("api")).await.unwrap().keys;
    let uses: Vec<_> = keys.iter().map(|used| (used.key.as_str(), used.in_window)).collect();
    assert_eq!(uses, [("acme", 2), ("globex", 2)]);
}
