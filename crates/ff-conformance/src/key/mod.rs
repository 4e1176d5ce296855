//! What is promised about API keys.

pub(crate) mod creating;
pub(crate) mod listing;
pub(crate) mod revoking;

/// What is promised here, by theme.
#[doc(hidden)]
#[macro_export]
macro_rules! key_promises {
    ($for:ident => $($make:tt)+) => { $($make)+! { $for:
        key {
            creating {
                a_key_is_found_as_it_was_created,
                creating_twice_is_one_key,
                an_id_stands_for_one_key,
                a_key_nobody_may_have_is_refused_by_its_field,
                of_two_who_create_one_id_at_once_one_succeeds,
            }
            revoking {
                a_key_is_taken_back_once_and_for_good,
                a_key_that_is_not_there_cannot_be_taken_back,
                a_key_taken_back_cannot_be_created_anew,
            }
            listing {
                keys_are_listed_by_id_page_by_page,
                a_list_of_keys_tells_everything_but_secrets,
                a_page_of_keys_has_at_most_a_thousand,
            }
        }
    } };
}

use ff_core::contracts::{CreateKeyArgs, ListKeysArgs};
use ff_core::key::{KeyHash, Role};
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
