//! A revoked key stays revoked.

use super::key;
use crate::prelude::*;

pub(crate) async fn a_key_is_taken_back_once_and_for_good(world: World) {
    world.backend.create_key(key("a1")).await.unwrap();
    world.clock.advance(ms(10)).await;
    let revoked = world.backend.revoke_key(revoke("a1")).await.unwrap();
    assert_eq!((revoked.revoked_at, revoked.already), (world.clock.now(), false));
    world.clock.advance(ms(10)).await;
    let again = world.backend.revoke_key(revoke("a1")).await.unwrap();
    assert_eq!((again.revoked_at, again.already), (revoked.revoked_at, true));
    let found = world.engine_store.find_key(&key("a1").key_id).await.unwrap().unwrap();
    assert_eq!(found.info.revoked_at, Some(revoked.revoked_at));
    assert!(!found.info.is_valid(world.clock.now()));
}

pub(crate) async fn a_key_that_is_not_there_cannot_be_taken_back(world: World) {
    assert_refused!(world.backend.revoke_key(revoke("a1")).await, "not_found", "key_id");
    assert_eq!(world.engine_store.find_key(&key("a1").key_id).await.unwrap(), None);
}

pub(crate) async fn a_key_taken_back_cannot_be_created_anew(world: World) {
    world.backend.create_key(key("a1")).await.unwrap();
    world.backend.revoke_key(revoke("a1")).await.unwrap();
    let again = world.backend.create_key(key("a1")).await.unwrap();
    assert!(again.already && again.key.revoked_at.is_some());
}

fn revoke(id: &str) -> RevokeKeyArgs {
    RevokeKeyArgs { key_id: key(id).key_id }
}
