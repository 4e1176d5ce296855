//! A rotation replaces the secret of tokens on every partition. Older tokens work until their grace ends.

use crate::prelude::*;
use crate::world::conditions::count;

pub(crate) async fn a_store_has_its_first_secret_from_the_start(world: World) {
    let kids = world.backend.kids().await.unwrap();
    assert_eq!(kids.iter().map(|of| of.partition).collect::<Vec<_>>(), world.partitions().collect::<Vec<_>>());
    for of in kids {
        assert_eq!(of.kids, Kids { current_kid: Some(Kid::first()), verifying: vec![] });
    }
    let rings: Vec<_> = world.contents().await.into_iter().map(|partition| partition.ring).collect();
    assert!(rings[0].is_some() && rings.iter().all(|ring| *ring == rings[0]), "the same one everywhere");
    let (_, waitpoint) = world.suspended().await;
    assert_eq!(waitpoint.granted.waitpoint_token.kid, Kid::first());
}

pub(crate) async fn a_rotation_reaches_every_partition(world: World) {
    let report = rotate(&world, "k2", "c0ffee", 60_000).await;
    let rotated = RotatedSecret::Rotated { previous_kid: Some(Kid::first()), new_kid: kid("k2"), gc_count: 0 };
    assert_eq!((report.rotated, report.failed.len()), (everywhere(&world, &rotated), 0));
    for of in world.backend.kids().await.unwrap() {
        assert_eq!(names(&of.kids), ("k2", vec!["k1"]));
        assert_eq!(of.kids.verifying[0].expires_at, world.clock.now() + 60_000);
    }
    let (_, waitpoint) = world.suspended().await;
    assert_eq!(waitpoint.granted.waitpoint_token.kid, kid("k2"));
    assert_eq!(waitpoint.effect("go").await, Effect::Satisfied);
}

pub(crate) async fn the_key_ring_is_the_one_tokens_are_signed_under(world: World) {
    assert_eq!(world.engine_store.key_ring(0).await.unwrap().current().map(|(kid, _)| kid.clone()), Some(Kid::first()));
    rotate(&world, "k2", "c0ffee", 60_000).await;
    let (ring, now) = (world.engine_store.key_ring(0).await.unwrap(), world.engine_store.now().await.unwrap());
    let secret = Secret::from_hex("c0ffee".repeat(16).as_str()).ok();
    assert_eq!(ring.current().map(|(kid, secret)| (kid, secret.clone())), Some(&kid("k2")).zip(secret));
    assert!(ring.verifying(&Kid::first(), now).is_some(), "the one before still verifies");
    assert!(ring.verifying(&Kid::first(), now + 60_000).is_none());
}

pub(crate) async fn a_rotation_can_be_repeated(world: World) {
    rotate(&world, "k2", "c0ffee", 60_000).await;
    let before = world.contents().await;
    world.clock.advance(ms(100)).await;
    for grace_ms in [60_000, 1] {
        let report = rotate(&world, "k2", "C0FFEE", grace_ms).await;
        assert_eq!(report.rotated, everywhere(&world, &RotatedSecret::Noop { kid: kid("k2") }));
        assert!(report.is_complete());
    }
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn a_kid_that_still_verifies_becomes_current_again(world: World) {
    rotate(&world, "k2", "c0ffee", 1_000).await;
    let waitpoint = open(&world).await;
    rotate(&world, "k3", "0b", 1_000).await;
    let report = rotate(&world, "k2", "c0ffee", 500).await;
    let rotated = RotatedSecret::Rotated { previous_kid: Some(kid("k3")), new_kid: kid("k2"), gc_count: 0 };
    assert_eq!(report.rotated, everywhere(&world, &rotated));
    for of in world.backend.kids().await.unwrap() {
        assert_eq!(names(&of.kids), ("k2", vec!["k1", "k3"]));
    }
    world.clock.advance(ms(1_000)).await;
    assert_eq!(waitpoint.effect("vote").await, Effect::Appended, "it does not expire any more");
    let again = open(&world).await;
    assert_eq!(again.granted.waitpoint_token.kid, kid("k2"));
    for of in world.backend.kids().await.unwrap() {
        assert_eq!(names(&of.kids), ("k2", vec![]));
    }
}

/// A kid in use must not get another secret.
pub(crate) async fn a_kid_that_verifies_stands_for_one_secret(world: World) {
    rotate(&world, "k2", "0a", 0).await;
    rotate(&world, "k3", "0b", 1_000).await;
    let before = world.contents().await;
    for known in ["k2", "k3"] {
        let report = rotate(&world, known, "ff", 1_000).await;
        assert_eq!((report.rotated.len(), report.failed.len()), (0, world.partitions().len()));
        for (_, error) in report.failed {
            let EngineError::Refused(refusal) = error else { panic!("{error}") };
            assert_eq!((refusal.code.as_str(), refusal.field.as_deref()), ("rotation_conflict", Some("kid")));
        }
    }
    assert_eq!(world.contents().await, before);
    world.clock.advance(ms(1_000)).await;
    assert!(rotate(&world, "k2", "ff", 1_000).await.is_complete(), "a kid that is gone may come again");
}

pub(crate) async fn a_token_minted_before_two_rotations_works_within_its_grace_and_not_after(world: World) {
    let waitpoint = open(&world).await;
    rotate(&world, "k2", "0a", 1_000).await;
    world.clock.advance(ms(10)).await;
    rotate(&world, "k3", "0b", 5_000).await;
    world.clock.advance(ms(989)).await;
    assert_eq!(waitpoint.effect("in-time").await, Effect::Appended);
    world.clock.advance(ms(1)).await;
    assert_refused!(world.writes_nothing(waitpoint.send("late")).await, "token_expired");
    rotate(&world, "k4", "0c", 5_000).await;
    assert_refused!(waitpoint.send("late").await, "invalid_token");
}

pub(crate) async fn several_retired_secrets_are_alive_at_once_each_for_its_own_grace(world: World) {
    let mut waitpoints = vec![open(&world).await];
    for (name, secret, grace_ms) in [("k2", "0a", 3_000), ("k3", "0b", 1_000), ("k4", "0c", 2_000)] {
        rotate(&world, name, secret, grace_ms).await;
        waitpoints.push(open(&world).await);
    }
    let works = async |expected: [bool; 4]| {
        for (waitpoint, works) in waitpoints.iter().zip(expected) {
            let kid = &waitpoint.granted.waitpoint_token.kid;
            match works {
                true => assert_eq!(waitpoint.effect("vote").await, Effect::Appended, "{kid}"),
                false => drop(assert_refused!(waitpoint.send("vote").await, "token_expired")),
            }
        }
    };
    for of in world.backend.kids().await.unwrap() {
        assert_eq!(names(&of.kids), ("k4", vec!["k1", "k2", "k3"]));
    }
    works([true, true, true, true]).await;
    world.clock.advance(ms(1_000)).await;
    works([true, false, true, true]).await;
    world.clock.advance(ms(1_000)).await;
    works([true, false, false, true]).await;
    world.clock.advance(ms(1_000)).await;
    works([false, false, false, true]).await;
    for of in world.backend.kids().await.unwrap() {
        assert_eq!(names(&of.kids), ("k4", vec![]));
    }
}

pub(crate) async fn without_grace_a_secret_is_gone_at_once(world: World) {
    let waitpoint = open(&world).await;
    rotate(&world, "k2", "0a", 0).await;
    assert_refused!(waitpoint.send("late").await, "token_expired");
    assert_eq!(open(&world).await.effect("vote").await, Effect::Appended);
}

pub(crate) async fn the_next_rotation_removes_expired_secrets(world: World) {
    rotate(&world, "k2", "0a", 0).await;
    rotate(&world, "k3", "0b", 1_000).await;
    world.clock.advance(ms(1_000)).await;
    let report = rotate(&world, "k4", "0c", 1_000).await;
    let rotated = RotatedSecret::Rotated { previous_kid: Some(kid("k3")), new_kid: kid("k4"), gc_count: 1 };
    assert_eq!(report.rotated, everywhere(&world, &rotated));
    for partition in world.contents().await {
        let kids: Vec<_> = partition.ring.unwrap().keys.into_keys().map(|kid| kid.to_string()).collect();
        assert_eq!(kids, ["k3", "k4"]);
    }
}

pub(crate) async fn a_partition_keeps_sixty_four_secrets(world: World) {
    for nth in 2..=limits::RING_KIDS {
        assert!(rotate(&world, &format!("k{nth}"), &format!("{nth:02x}"), 60_000).await.is_complete());
    }
    let before = world.contents().await;
    let report = rotate(&world, "more", "ff", 60_000).await;
    assert_eq!(report.failed.len(), world.partitions().len());
    for (_, error) in report.failed {
        let EngineError::Refused(refusal) = error else { panic!("{error}") };
        assert_eq!((refusal.code.as_str(), refusal.limit), ("limit_exceeded", Some((64, 65))));
    }
    assert_eq!(world.contents().await, before);
    world.clock.advance(ms(60_000)).await;
    assert!(rotate(&world, "more", "ff", 60_000).await.is_complete());
}

pub(crate) async fn a_secret_has_sixteen_bytes_at_least(world: World) {
    let [short, enough] = [15, 16].map(|bytes| Secret::new(vec![7; bytes]).unwrap());
    let args = |secret| RotateSecretArgs { kid: kid("k2"), secret, grace_ms: 0 };
    let answer = world.writes_nothing(world.backend.rotate_secret(args(short))).await;
    assert_refused!(answer, "invalid_secret_hex", "secret_hex");
    assert!(world.backend.rotate_secret(args(enough)).await.unwrap().is_complete());
}

/// A kid that is used again must not make an old token valid, nor reveal the purpose of the token.
pub(crate) async fn a_kid_that_comes_again_with_another_secret_opens_nothing_from_before(world: World) {
    let (_, waitpoint) = world.suspended().await;
    let token = || world.backend.waitpoint_token(&waitpoint.execution_id, &waitpoint.granted.waitpoint_id);
    assert_eq!(token().await.unwrap(), waitpoint.granted.waitpoint_token);
    rotate(&world, "k2", "0a", 0).await;
    assert!(rotate(&world, "k1", "0b", 0).await.is_complete(), "the name is free again");
    assert_ne!(token().await.unwrap(), waitpoint.granted.waitpoint_token);
    assert_refused!(waitpoint.send("go").await, "invalid_token");
}

pub(crate) async fn a_grace_may_be_ten_years(world: World) {
    let mut args = RotateSecretArgs::parse("k2", &"0a".repeat(16), limits::SPAN_MAX_MS).unwrap();
    args.grace_ms += 1;
    let answer = world.writes_nothing(world.backend.rotate_secret(args.clone())).await;
    let refusal = assert_refused!(answer, "invalid_grace_ms", "grace_ms");
    assert_eq!(refusal.limit, Some((limits::SPAN_MAX_MS, limits::SPAN_MAX_MS + 1)));
    args.grace_ms -= 1;
    assert!(world.backend.rotate_secret(args).await.unwrap().is_complete());
}

/// Waitpoints created ahead and early signals survive a rotation.
pub(crate) async fn a_waitpoint_made_before_a_rotation_can_be_waited_on_after_it(world: World, held: LeasedExecution) {
    let ahead = held.ahead("approval").await;
    rotate(&world, "k2", "0a", 60_000).await;
    let [waitpoint] = held.wait(SuspendArgs { waitpoints: vec![ahead.binding()], ..held.wish("approval") }).await;
    assert_eq!(waitpoint.granted, ahead.granted);
    assert_eq!(ahead.effect("approved").await, Effect::Satisfied);
}

/// Returns a waitpoint that takes many signals.
async fn open(world: &World) -> Waitpoint {
    let held = world.held().await;
    let [waitpoint] = held.wait_for(count(100, Distinct::Signals, &["votes"]), ["votes"]).await;
    waitpoint
}

async fn rotate(world: &World, kid: &str, secret: &str, grace_ms: u64) -> RotationReport {
    let secret = secret.repeat(16);
    world.backend.rotate_secret(RotateSecretArgs::parse(kid, &secret, grace_ms).unwrap()).await.unwrap()
}

fn everywhere(world: &World, rotated: &RotatedSecret) -> Vec<(u16, RotatedSecret)> {
    world.partitions().map(|partition| (partition, rotated.clone())).collect()
}

fn names(kids: &Kids) -> (&str, Vec<&str>) {
    let verifying = kids.verifying.iter().map(|retired| retired.kid.as_str()).collect();
    (kids.current_kid.as_ref().map_or("", Kid::as_str), verifying)
}

fn kid(text: &str) -> Kid {
    Kid::parse(text).unwrap()
}
