//! The keys of a server: read from the store, and cached for a short time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ff_core::api_key::{ApiKey, SecretKey, check_validity, judge, unknown_key};
use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::ListKeysArgs;
use ff_core::engine_error::{EngineError, Refusal};
use ff_core::types::{KeyId, TimestampMs};
use tokio::sync::Semaphore;

/// For how long a key is known without asking the store again: within it, a revocation takes effect everywhere.
const FRESH: Duration = Duration::from_secs(2);

/// How many keys are cached. Past it all are dropped, and read again.
const KNOWN: usize = 10_000;

/// How many keys are looked up at once. Anyone may name a key, so this bounds the store's load from strangers.
const LOOKUPS: usize = 32;

/// The keys of a store, as a server asks for them.
pub(crate) struct Keyring {
    store: Arc<dyn EngineStore>,
    lookups: Semaphore,
    cache: Mutex<HashMap<KeyId, CachedKey>>,
}

/// A key as it was found.
#[derive(Clone)]
struct CachedKey {
    key: Arc<ApiKey>,
    /// The time of the lookup, by this machine and by the store.
    at: Instant,
    now: TimestampMs,
}

impl Keyring {
    /// The keys of a store, if it has any: one that never had a key asks for none.
    pub(crate) async fn of(store: &Arc<dyn EngineStore>) -> Answer<Option<Self>> {
        let first = store.list_keys(ListKeysArgs { after: None, limit: 1 }).await?;
        let ring = Self { store: store.clone(), lookups: Semaphore::new(LOOKUPS), cache: Mutex::default() };
        Ok(Some(ring).filter(|_| !first.keys.is_empty()))
    }

    /// The key that is shown, if it is known, proven and valid.
    pub(crate) async fn judge(&self, presented: &SecretKey) -> Answer<Arc<ApiKey>> {
        let found = self.find(presented.id()).await?.ok_or_else(unknown_key)?;
        judge(Some(&found.key), presented, found.time())?;
        Ok(found.key)
    }

    /// Whether there is a key of this id, as far as is in mind.
    pub(crate) fn knows(&self, id: &KeyId) -> bool {
        self.fresh(id).is_some()
    }

    /// Judges a key again that was accepted before.
    async fn judge_again(&self, accepted: &ApiKey) -> Answer<()> {
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

    /// Asks the store. Only existing keys are cached: ids are easily made up.
    async fn look(&self, id: &KeyId) -> Answer<Option<CachedKey>> {
        // Never closed, so a permit always comes.
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

/// A key that was accepted for something that lasts.
#[derive(Clone)]
pub(crate) struct AcceptedKey {
    keyring: Arc<Keyring>,
    key: Arc<ApiKey>,
}

impl AcceptedKey {
    pub(crate) fn new(keyring: Arc<Keyring>, key: Arc<ApiKey>) -> Self {
        Self { keyring, key }
    }

    /// Why it is not accepted any more. While the store does not answer it stays accepted: the stream has no data then
    /// either.
    pub(crate) async fn refused(&self) -> Option<Refusal> {
        match self.keyring.judge_again(&self.key).await {
            Err(EngineError::Refused(refusal)) => Some(refusal),
            Ok(()) | Err(_) => None,
        }
    }
}

impl CachedKey {
    /// The store's current time.
    fn time(&self) -> TimestampMs {
        self.now + u64::try_from(self.at.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
