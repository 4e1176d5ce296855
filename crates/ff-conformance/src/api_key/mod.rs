//! What is promised about API keys.

pub(crate) mod creating;
pub(crate) mod listing;
pub(crate) mod revoking;

/// What is promised here, by theme.
#[doc(hidden)]
#[macro_export]
macro_rules! api_key_promises {
    ($for:ident => $($make:tt)+) => { $($make)+! { $for:
        api_key {
            creating,
            revoking,
            listing,
        }
    } };
}

use ff_core::api_key::{KeyHash, Role};
use ff_core::contracts::{CreateKeyArgs, ListKeysArgs};
use ff_core::types::{KeyId, KeyName, Namespace};

use crate::World;

/// A key by which a tenant submits and works.
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

/// The ids of all keys, one to a page.
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
