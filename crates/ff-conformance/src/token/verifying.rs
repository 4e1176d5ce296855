//! A token opens one waitpoint only, and is verified before any other check.

use crate::prelude::*;
use crate::world::conditions::{all, count, key, signal};

/// Without a valid token, an existing execution gets the same refusal as a missing one, in every state.
pub(crate) async fn the_token_is_judged_before_anything_about_state_is_revealed(world: World) {
    let (held, waitpoint) = world.suspended().await;
    let forged = PresentedToken::new(format!("k1:{}", "00".repeat(32)));
    world.writes_nothing(looks_alike(&world, &waitpoint, &forged)).await;
    waitpoint.send("approved").await.unwrap();
    looks_alike(&world, &waitpoint, &forged).await;
    world.cancel(&held.id()).await.unwrap();
    looks_alike(&world, &waitpoint, &forged).await;
    assert_refused!(waitpoint.send("late").await, "target_not_signalable");
}

/// Without a token, a key that was used before looks like any other.
pub(crate) async fn a_duplicate_needs_its_token_as_well(world: World) {
    let (_, waitpoint) = world.suspended().await;
    let once = waitpoint.signal_once("approved", "answer");
    world.backend.deliver(once.clone()).await.unwrap();
    let forged = DeliverArgs { token: PresentedToken::new(format!("k1:{}", "00".repeat(32))), ..once };
    assert_refused!(world.backend.deliver(forged).await, "invalid_token");
}

pub(crate) async fn a_token_opens_its_own_waitpoint_only(world: World, held: LeasedExecution) {
    let [a, b] = held.wait_for(all([signal("a"), signal("b")]), ["a", "b"]).await;
    let elsewhere = world.job("resize").on_partition(held.id().partition()).submit().await;
    let other = world.worker("holder").claim().await.wait_on("a").await;
    assert_eq!(other.execution_id, elsewhere);
    let before = world.contents().await;
    for (to, token) in [(&a, &b), (&b, &a), (&a, &other), (&other, &a)] {
        let crossed = DeliverArgs { token: token.token(), ..to.signal("go") };
        assert_refused!(world.backend.deliver(crossed).await, "invalid_token");
    }
    let moved = DeliverArgs { execution_id: other.execution_id, ..a.signal("go") };
    assert_refused!(world.backend.deliver(moved).await, "invalid_token");
    assert_eq!(world.contents().await, before);
}

/// A page that shows a question can verify the token first. This does not use up the token.
pub(crate) async fn a_token_can_be_judged_without_using_it(world: World) {
    let (held, waitpoint) = world.suspended().await;
    let verify = async |id: &ExecutionId, waitpoint: &WaitpointId, token: &PresentedToken| {
        world.engine_store.verify_token(id, waitpoint, token).await
    };
    let (id, at, genuine) = (held.id(), waitpoint.id(), waitpoint.token());
    let before = world.contents().await;
    verify(&id, &at, &genuine).await.unwrap();
    let forged = PresentedToken::new(format!("k1:{}", "00".repeat(32)));
    assert_refused!(verify(&id, &at, &forged).await, "invalid_token");
    assert_refused!(verify(&id, &at, &PresentedToken::default()).await, "missing_token");
    assert_refused!(verify(&id, &WaitpointId::new(), &genuine).await, "invalid_token");
    assert_refused!(verify(&ExecutionId::new(0, Uuid::now_v7()), &at, &genuine).await, "invalid_token");
    assert_eq!(world.contents().await, before);
    rotate(&world, "k2", 1_000).await;
    verify(&id, &at, &genuine).await.unwrap();
    world.clock.advance(ms(1_000)).await;
    assert_refused!(verify(&id, &at, &genuine).await, "token_expired");
    let minted = world.backend.waitpoint_token(&id, &at).await.unwrap();
    verify(&id, &at, &PresentedToken::from(&minted)).await.unwrap();
}

/// Tokens that are minted after a rotation are signed with the new secret.
pub(crate) async fn a_token_minted_after_a_rotation_and_its_grace_opens(world: World) {
    let (held, waitpoint) = world.suspended().await;
    rotate(&world, "k2", 1_000).await;
    let token = async || world.backend.waitpoint_token(&held.id(), &waitpoint.id()).await.unwrap();
    let within = token().await;
    assert_eq!(within.kid.as_str(), "k2");
    world.clock.advance(ms(1_000)).await;
    rotate(&world, "k3", 0).await;
    let after = token().await;
    assert_eq!(after.kid.as_str(), "k3");
    let signal = |token: &WaitpointToken| DeliverArgs { token: token.into(), ..waitpoint.signal("approved") };
    let before = world.contents().await;
    assert_refused!(waitpoint.send("approved").await, "invalid_token");
    assert_refused!(world.backend.deliver(signal(&within)).await, "token_expired");
    assert_eq!(world.contents().await, before);
    assert_eq!(world.backend.deliver(signal(&after)).await.unwrap().effect, Effect::Satisfied);
    assert_eq!(world.worker("other").claim().await.id(), held.id());
}

/// Every token minted for a waitpoint opens it while the token's secret verifies.
pub(crate) async fn an_older_token_and_a_newer_one_both_open_within_the_grace(world: World, held: LeasedExecution) {
    let [waitpoint] = held.wait_for(count(3, Distinct::Signals, &["votes"]), ["votes"]).await;
    rotate(&world, "k2", 60_000).await;
    let minted = world.backend.waitpoint_token(&held.id(), &waitpoint.id()).await.unwrap();
    assert_eq!(waitpoint.effect("vote").await, Effect::Appended);
    let newer = DeliverArgs { token: (&minted).into(), ..waitpoint.signal("vote") };
    assert_eq!(world.backend.deliver(newer).await.unwrap().effect, Effect::Appended);
    assert_eq!(waitpoint.effect("vote").await, Effect::Satisfied);
}

async fn rotate(world: &World, kid: &str, grace_ms: u64) {
    let rotation = RotateSecretArgs::parse(kid, &"5e".repeat(16), grace_ms).unwrap();
    assert!(world.backend.rotate_secret(rotation).await.unwrap().is_complete());
}

pub(crate) async fn an_operator_can_read_a_token(world: World) {
    let (held, waitpoint) = world.suspended().await;
    let token = world.backend.waitpoint_token(&held.id(), &waitpoint.id()).await.unwrap();
    assert_eq!(token, waitpoint.granted.waitpoint_token);
    assert_refused!(world.backend.waitpoint_token(&held.id(), &WaitpointId::new()).await, "waitpoint_not_found");
    let other = world.held().await.id();
    assert_refused!(world.backend.waitpoint_token(&other, &waitpoint.id()).await, "waitpoint_not_found");
    let unknown = ExecutionId::new(0, Uuid::now_v7());
    assert_refused!(world.backend.waitpoint_token(&unknown, &waitpoint.id()).await, "execution_not_found");
}

/// Checks that an existing and a missing execution get identical refusals, for a forged token and for no token.
async fn looks_alike(world: &World, waitpoint: &Waitpoint, forged: &PresentedToken) {
    let partition = waitpoint.execution_id.partition();
    for (token, code) in [(forged, "invalid_token"), (&PresentedToken::default(), "missing_token")] {
        let known = DeliverArgs { token: token.clone(), ..waitpoint.signal("go") };
        let nowhere = DeliverArgs { execution_id: ExecutionId::new(partition, Uuid::now_v7()), ..known.clone() };
        let refusal = assert_refused!(world.backend.deliver(nowhere).await, code);
        assert_eq!((&refusal.field, refusal.state), (&None, None));
        for to in [
            WaitpointRef::Id(waitpoint.id()),
            WaitpointRef::Key(waitpoint.granted.waitpoint_key.clone()),
            WaitpointRef::Id(WaitpointId::new()),
            WaitpointRef::Key(key("nowhere")),
        ] {
            let args = DeliverArgs { waitpoint: to, ..known.clone() };
            assert_eq!(assert_refused!(world.backend.deliver(args).await, code), refusal);
        }
    }
}
