//! A server that requires API keys, and callers with keys of every kind.

use std::sync::Arc;

use ff_backend_memory::MemoryBackend;
use ff_core::api_key::{Role, SecretKey};
use ff_core::backend::clock::ManualClock;
use ff_core::backend::entropy::SystemEntropy;
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{CreateKeyArgs, RevokeKeyArgs};
use ff_core::types::{KeyId, KeyName, Namespace, TimestampMs};

use crate::world::{World, memory};

/// A store with API keys and a clock that the test controls.
pub(crate) struct KeyedStore {
    pub(crate) store: Arc<MemoryBackend>,
    pub(crate) clock: Arc<ManualClock>,
}

impl KeyedStore {
    /// Creates a store with one administrator key, and returns both.
    pub(crate) async fn new() -> (Self, String) {
        let clock = Arc::new(ManualClock::at(TimestampMs(1_000_000)));
        let store = Arc::new(memory(clock.clone()));
        let keyed = Self { store, clock };
        let admin = keyed.key(&[Role::Admin], None).await;
        (keyed, admin)
    }

    pub(crate) async fn key(&self, roles: &[Role], namespace: Option<&str>) -> String {
        self.key_for(roles, namespace, None).await.expose()
    }

    /// Creates a key with an optional time to live.
    pub(crate) async fn key_for(&self, roles: &[Role], namespace: Option<&str>, ttl_ms: Option<u64>) -> SecretKey {
        let key = SecretKey::draw(&SystemEntropy);
        let args = CreateKeyArgs {
            key_id: key.id().clone(),
            name: KeyName::parse("a test").unwrap(),
            secret_hash: key.hash(),
            roles: roles.iter().copied().collect(),
            namespace: namespace.map(|name| Namespace::parse(name).unwrap()),
            ttl_ms,
        };
        self.store.create_key(args).await.unwrap();
        key
    }

    pub(crate) async fn revoke(&self, id: &KeyId) {
        self.store.revoke_key(RevokeKeyArgs { key_id: id.clone() }).await.unwrap();
    }

    /// Creates a key of one namespace with all roles of a tenant.
    pub(crate) async fn tenant(&self, namespace: &str) -> String {
        self.key(&[Role::Submit, Role::Work, Role::Signal, Role::Operate], Some(namespace)).await
    }

    /// Starts a server over the store, whose client sends this key.
    pub(crate) async fn asked_with(&self, key: &str) -> World {
        let store: Arc<dyn EngineStore> = self.store.clone();
        let mut world = World::over(store).await;
        world.key = Some(key.to_owned());
        world
    }
}
