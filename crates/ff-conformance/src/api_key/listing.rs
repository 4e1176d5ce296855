//! Keys are listed without their secrets.

use super::{ids, key};
use crate::prelude::*;

pub(crate) async fn keys_are_listed_by_id_page_by_page(world: World) {
    assert_eq!(ids(&world).await, Vec::<String>::new());
    for id in ["c", "a", "d", "b"] {
        world.backend.create_key(key(id)).await.unwrap();
    }
    assert_eq!(ids(&world).await, ["a", "b", "c", "d"]);
}

pub(crate) async fn a_list_of_keys_shows_everything_but_secrets(world: World) {
    let created = world.backend.create_key(key("a1")).await.unwrap();
    let page = world.backend.list_keys(ListKeysArgs { after: None, limit: 10 }).await.unwrap();
    assert_eq!(page.keys, [created.key]);
    let text = serde_json::to_string(&page).unwrap();
    assert!(!text.contains(&key("a1").secret_hash.to_hex()), "{text}");
}

pub(crate) async fn a_page_of_keys_has_at_most_a_thousand(world: World) {
    let list = |limit| ListKeysArgs { after: None, limit };
    assert!(world.backend.list_keys(list(limits::PAGE)).await.is_ok());
    assert_refused!(world.backend.list_keys(list(limits::PAGE + 1)).await, "limit_exceeded", "limit", 1_000, 1_001);
    assert_refused!(world.backend.list_keys(list(0)).await, "invalid_input");
}
