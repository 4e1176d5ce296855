//! The API keys of a server: read from the store, and cached for a short time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ff_core::api_key::{ApiKey, SecretKey, check_validity, unknown_key, verify};
use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::ListKeysArgs;
use ff_core::engine_error::{EngineError, Refusal};
use ff_core::types::{KeyId, TimestampMs};
use tokio::sync::Semaphore;

/// Maximum age of a cached key. A revocation takes effect on every server within this time.
const FRESH: Duration = Duration::from_secs(2);

/// Maximum number of cached keys. At the limit the cache is cleared.
const KNOWN: usize = 10_000;

/// Maximum number of concurrent lookups. Any caller can name any key, so this bounds the load of invented keys on the store.
const LOOKUPS: usize = 32;

/// The API keys of a store, with a cache.
pub(crate) struct Keyring {
    store: Arc<dyn EngineStore>,
    lookups: Semaphore,
    cache: Mutex<HashMap<KeyId, CachedKey>>,
}

/// A key, as the store returned it.
#[derive(Clone)]
struct CachedKey {
    key: Arc<ApiKey>,
    /// The time of the lookup, by the clock of this machine and by the store's.
    at: Instant,
    now: TimestampMs,
}

impl Keyring {
    /// Returns the keyring of a store; `None` if the store never had a key, because then the server requires none.
    pub(crate) async fn of(store: &Arc<dyn EngineStore>) -> Answer<Option<Self>> {
        let first = store.list_keys(ListKeysArgs { after: None, limit: 1 }).await?;
        let ring = Self { store: store.clone(), lookups: Semaphore::new(LOOKUPS), cache: Mutex::default() };
        Ok(Some(ring).filter(|_| !first.keys.is_empty()))
    }

    /// Returns the presented key if it exists, its secret matches and it is valid.
    pub(crate) async fn verify(&self, presented: &SecretKey) -> Answer<Arc<ApiKey>> {
        let found = self.find(presented.id()).await?.ok_or_else(unknown_key)?;
        verify(Some(&found.key), presented, found.time())?;
        Ok(found.key)
    }

    /// Returns whether the cache has a key with this id.
    pub(crate) fn knows(&self, id: &KeyId) -> bool {
        self.fresh(id).is_some()
    }

    /// Checks again a key that was accepted before.
    async fn verify_again(&self, accepted: &ApiKey) -> Answer<()> {
        let found = self.find(&accepted.info.key_id).await?.ok_or_else(unknown_key)?;
        if found.key.secret_hash != accepted.secret_hash {
            return Err(unknown_key().into());
        }
        Ok(check_validity(&found.key.info, found.time())?)
    }

    async fn find(&self, id: &KeyId) -> Answer<Option<CachedKey>> {
        match self.fresh(id) {
            Some(found) => Ok(Some(found)),
            None => self.look(id).await,
        }
    }

    fn fresh(&self, id: &KeyId) -> Option<CachedKey> {
        self.cache().get(id).filter(|found| found.at.elapsed() < FRESH).cloned()
    }

    /// Reads a key from the store. Only existing keys are cached, because callers can invent ids.
    async fn look(&self, id: &KeyId) -> Answer<Option<CachedKey>> {
        // The semaphore is never closed, so a permit always comes.
        let _lookup = self.lookups.acquire().await;
        let Some(key) = self.store.find_key(id).await? else {
            self.cache().remove(id);
            return Ok(None);
        };
        let found = CachedKey { key: Arc::new(key), at: Instant::now(), now: self.store.now().await? };
        let mut known = self.cache();
        if known.len() >= KNOWN {
            known.clear();
        }
        known.insert(id.clone(), found.clone());
        Ok(Some(found))
    }

    fn cache(&self) -> MutexGuard<'_, HashMap<KeyId, CachedKey>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A key that was accepted for a long-lived request, such as a stream.
#[derive(Clone)]
pub(crate) struct AcceptedKey {
    keyring: Arc<Keyring>,
    key: Arc<ApiKey>,
}

impl AcceptedKey {
    pub(crate) fn new(keyring: Arc<Keyring>, key: Arc<ApiKey>) -> Self {
        Self { keyring, key }
    }

    /// Returns the reason why the key is no longer accepted, if any. If the store does not answer, the key stays accepted: the
    /// stream has no data then either.
    pub(crate) async fn refused(&self) -> Option<Refusal> {
        match self.keyring.verify_again(&self.key).await {
            Err(EngineError::Refused(refusal)) => Some(refusal),
            Ok(()) | Err(_) => None,
        }
    }
}

impl CachedKey {
    /// Returns the store's current time.
    fn time(&self) -> TimestampMs {
        self.now + u64::try_from(self.at.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
