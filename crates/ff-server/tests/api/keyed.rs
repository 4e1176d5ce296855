//! A server that asks for keys, and callers with keys of every kind.

use std::sync::Arc;

use ff_backend_memory::MemoryBackend;
use ff_core::api_key::{Role, SecretKey};
use ff_core::backend::{EngineStore, Perform};
use ff_core::clock::ManualClock;
use ff_core::contracts::{CreateKeyArgs, RevokeKeyArgs};
use ff_core::entropy::SystemEntropy;
use ff_core::partition::PartitionConfig;
use ff_core::types::{KeyId, KeyName, Namespace, TimestampMs};

use crate::world::{PARTITIONS, World};

/// A store that has keys, with a clock of its own.
pub(crate) struct KeyedStore {
    pub(crate) store: Arc<MemoryBackend>,
    pub(crate) clock: Arc<ManualClock>,
}

impl KeyedStore {
    /// A store with one key, an administrator's, which is told as well.
    pub(crate) async fn new() -> (Self, String) {
        let clock = Arc::new(ManualClock::at(TimestampMs(1_000_000)));
        let partitions = PartitionConfig { num_flow_partitions: PARTITIONS, ..PartitionConfig::default() };
        let store = Arc::new(MemoryBackend::new(partitions, clock.clone(), Arc::new(SystemEntropy)));
        let keyed = Self { store, clock };
        let admin = keyed.key(&[Role::Admin], None).await;
        (keyed, admin)
    }

    pub(crate) async fn key(&self, roles: &[Role], namespace: Option<&str>) -> String {
        self.key_for(roles, namespace, None).await.expose()
    }

    /// A key that is valid for so long.
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

    /// Everything a tenant may do.
    pub(crate) async fn tenant(&self, namespace: &str) -> String {
        self.key(&[Role::Submit, Role::Work, Role::Signal, Role::Operate], Some(namespace)).await
    }

    /// A server of its own over the store, asked with a key.
    pub(crate) async fn asked_with(&self, key: &str) -> World {
        let store: Arc<dyn EngineStore> = self.store.clone();
        let mut world = World::over(store).await;
        world.key = Some(key.to_owned());
        world
    }
}
