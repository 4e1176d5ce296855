//! The secrets that sign tokens. Every partition has a copy of the same secrets from the first boot on. This process
//! caches them, and the functions report when the cache is out of date.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ff_core::backend::entropy::Entropy;
use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{ListWaitpointHmacKidsArgs, PartitionKids, RotatePartitionArgs, RotatedSecret};
use ff_core::partition::PartitionConfig;
use ff_core::token::{KeyRing, Secret};
use ff_core::types::{BadText, Kid};
use ff_script::ScriptError;
use ff_script::execution::index_keys;
use ff_script::suspension::{
    SigningRing, ff_list_waitpoint_hmac_kids, ff_read_waitpoint_hmac_secrets, ff_rotate_waitpoint_hmac_secret,
    ff_seed_waitpoint_hmac_secrets,
};
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::ValkeyBackend;
use crate::call::Calls;

/// Maximum number of partitions asked at the same time.
const AT_ONCE: usize = 64;

/// Maximum number of times that one call is signed again because a secret has changed since it was read.
const SIGNED_AGAIN: usize = 3;

/// The cached secrets of each partition.
#[derive(Default)]
pub(crate) struct Secrets(Mutex<HashMap<u16, Arc<SigningRing>>>);

impl Secrets {
    /// Returns the ring of a partition, as last read. Without secrets it is empty and signs nothing.
    async fn ring(&self, calls: &Calls, partition: u16) -> Result<Arc<SigningRing>, ScriptError> {
        let known = self.cache().get(&partition).cloned();
        if let Some(ring) = known {
            return Ok(ring);
        }
        let ring = Arc::new(ff_read_waitpoint_hmac_secrets(calls, partition).await?.unwrap_or_default());
        self.cache().insert(partition, ring.clone());
        Ok(ring)
    }

    /// Drops the cached secrets of a partition.
    fn forget(&self, partition: u16) {
        self.cache().remove(&partition);
    }

    fn cache(&self) -> MutexGuard<'_, HashMap<u16, Arc<SigningRing>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes sure that every partition has secrets. A partition without secrets gets those of the others. A new store gets
/// its first secret, and programs that start at the same time agree on it.
pub(crate) async fn ensure(
    calls: &Calls,
    partitions: &PartitionConfig,
    entropy: &dyn Entropy,
) -> Result<(), ScriptError> {
    let (mut missing, mut source) = (Vec::new(), None);
    for PartitionKids { partition, kids } in kids(calls, partitions).await? {
        match kids.current_kid {
            None => missing.push(partition),
            Some(_) => source = source.or(Some(partition)),
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let found = match source {
        Some(partition) => ff_read_waitpoint_hmac_secrets(calls, partition).await?.map(|signing| signing.ring),
        None => None,
    };
    let ring = match found {
        Some(ring) => ring,
        None => {
            let first = KeyRing::of(Kid::first(), Secret::drawn(entropy.secret()));
            ff_seed_waitpoint_hmac_secrets(calls, 0, &first).await?
        }
    };
    let given = missing.into_iter().map(|partition| ff_seed_waitpoint_hmac_secrets(calls, partition, &ring));
    stream::iter(given).buffer_unordered(AT_ONCE).try_for_each(|_| async { Ok(()) }).await
}

/// Lists the kids of the secrets of every partition.
async fn kids(calls: &Calls, partitions: &PartitionConfig) -> Result<Vec<PartitionKids>, ScriptError> {
    let reads = (0..partitions.num_flow_partitions).map(|partition| async move {
        let kids = ff_list_waitpoint_hmac_kids(calls, &index_keys(partition), &ListWaitpointHmacKidsArgs).await?;
        Ok(PartitionKids { partition, kids: kids.try_into().map_err(unreadable)? })
    });
    stream::iter(reads).buffered(AT_ONCE).try_collect().await
}

/// Returns the error for a reply with an invalid kid.
fn unreadable(error: BadText) -> ScriptError {
    ScriptError::Parse(format!("the name of a secret {error}"))
}

impl ValkeyBackend {
    /// Makes a call with tokens that are signed for a partition. When the secrets have changed, signs and calls again.
    /// When the secrets were lost, stores them again first.
    pub(crate) async fn signing<T, Fut>(&self, partition: u16, ask: impl Fn(Arc<SigningRing>) -> Fut) -> Answer<T>
    where
        Fut: Future<Output = Result<T, ScriptError>>,
    {
        let mut answer = ask(self.secrets.ring(&self.calls, partition).await?).await;
        for _ in 0..SIGNED_AGAIN {
            match &answer {
                Err(ScriptError::WaitpointTokenRequired(_)) => {}
                Err(ScriptError::HmacSecretNotInitialized(_)) => {
                    tracing::warn!(partition, "the server had lost the token secrets; writing them again");
                    ensure(&self.calls, &self.partitions, &*self.entropy).await?;
                }
                _ => break,
            }
            self.secrets.forget(partition);
            answer = ask(self.secrets.ring(&self.calls, partition).await?).await;
        }
        Ok(answer?)
    }

    pub(crate) async fn all_kids(&self) -> Answer<Vec<PartitionKids>> {
        Ok(kids(&self.calls, &self.partitions).await?)
    }
}

impl Handle<RotatePartitionArgs, RotatedSecret> for ValkeyBackend {
    async fn handle(&self, RotatePartitionArgs { partition, rotation }: RotatePartitionArgs) -> Answer<RotatedSecret> {
        let keys = index_keys(partition);
        let rotated = ff_rotate_waitpoint_hmac_secret(&*self.calls, &keys, &(&rotation).into()).await;
        self.secrets.forget(partition);
        Ok(rotated?.try_into().map_err(unreadable)?)
    }
}
