//! An id names one API key. Only the hash of its secret is stored.

use super::{ids, key};
use crate::prelude::*;

pub(crate) async fn a_key_is_found_as_it_was_created(world: World) {
    let created = world.backend.create_key(key("a1")).await.unwrap();
    assert_eq!((created.key.created_at, created.already), (world.clock.now(), false));
    assert_eq!(created.key.expires_at, Some(world.clock.now() + 1_000));
    let found = world.engine_store.find_key(&key("a1").key_id).await.unwrap().unwrap();
    assert_eq!((found.info, found.secret_hash), (created.key, key("a1").secret_hash));
    assert_eq!(world.engine_store.find_key(&KeyId::parse("a2").unwrap()).await.unwrap(), None);
}

pub(crate) async fn creating_twice_is_one_key(world: World) {
    let first = world.backend.create_key(key("a1")).await.unwrap();
    world.clock.advance(ms(10)).await;
    let again = world.backend.create_key(key("a1")).await.unwrap();
    assert_eq!((again.key, again.already), (first.key, true));
    assert_eq!(ids(&world).await, ["a1"]);
}

pub(crate) async fn an_id_stands_for_one_key(world: World) {
    world.backend.create_key(key("a1")).await.unwrap();
    let other = CreateKeyArgs { secret_hash: KeyHash::of(b"another"), ..key("a1") };
    assert_refused!(world.backend.create_key(other).await, "idempotency_conflict", "key_id");
    let found = world.engine_store.find_key(&key("a1").key_id).await.unwrap().unwrap();
    assert_eq!(found.secret_hash, key("a1").secret_hash);
}

pub(crate) async fn an_invalid_key_request_is_refused_by_its_field(world: World) {
    for (args, code, field) in [
        (CreateKeyArgs { roles: [].into(), ..key("a1") }, "invalid_input", "roles"),
        (CreateKeyArgs { namespace: None, ..key("a1") }, "invalid_input", "namespace"),
        (CreateKeyArgs { roles: [Role::Admin].into(), ..key("a1") }, "invalid_input", "namespace"),
        (CreateKeyArgs { ttl_ms: Some(0), ..key("a1") }, "invalid_input", "ttl_ms"),
        (CreateKeyArgs { ttl_ms: Some(limits::SPAN_MAX_MS + 1), ..key("a1") }, "limit_exceeded", "ttl_ms"),
    ] {
        let error = world.backend.create_key(args).await.unwrap_err();
        let EngineError::Refused(refusal) = error else { panic!("{error}") };
        assert_eq!((refusal.code.to_string().as_str(), refusal.field.as_deref()), (code, Some(field)));
    }
    assert_eq!(ids(&world).await, Vec::<String>::new());
    let admin = CreateKeyArgs { roles: [Role::Admin].into(), namespace: None, ttl_ms: None, ..key("a1") };
    assert_eq!(world.backend.create_key(admin).await.unwrap().key.expires_at, None);
}

pub(crate) async fn of_two_who_create_one_id_at_once_one_succeeds(world: World) {
    let create = |secret: &'static [u8]| {
        let args = CreateKeyArgs { secret_hash: KeyHash::of(secret), ..key("a1") };
        world.backend.create_key(args)
    };
    let (one, other) = tokio::join!(create(b"one"), create(b"other"));
    assert_eq!(one.is_ok() as u8 + other.is_ok() as u8, 1, "{one:?} {other:?}");
    let hash = if one.is_ok() { KeyHash::of(b"one") } else { KeyHash::of(b"other") };
    assert_eq!(world.engine_store.find_key(&key("a1").key_id).await.unwrap().unwrap().secret_hash, hash);
}
