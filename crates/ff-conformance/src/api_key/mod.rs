//! Conformance tests for API keys.

pub(crate) mod creating;
pub(crate) mod listing;
pub(crate) mod revoking;

use crate::prelude::*;

/// Returns the arguments of a tenant's key with the roles submit and work.
pub(crate) fn key(id: &str) -> CreateKeyArgs {
    CreateKeyArgs {
        key_id: KeyId::parse(id).unwrap(),
        name: KeyName::parse("the nightly build").unwrap(),
        secret_hash: KeyHash::of(id.as_bytes()),
        roles: [Role::Submit, Role::Work].into(),
        namespace: Some(Namespace::parse("acme").unwrap()),
        ttl_ms: Some(1_000),
    }
}

/// Returns the ids of all keys, read one per page.
pub(crate) async fn ids(world: &World) -> Vec<String> {
    let (mut ids, mut after) = (Vec::new(), None);
    loop {
        let page = world.backend.list_keys(ListKeysArgs { after, limit: 1 }).await.unwrap();
        ids.extend(page.keys.iter().map(|key| key.key_id.to_string()));
        after = page.next;
        if after.is_none() {
            return ids;
        }
    }
}
