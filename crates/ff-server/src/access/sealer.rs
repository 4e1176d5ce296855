//! Encrypts data that clients keep for the server. The key comes from the store's current secret, so that every server of the
//! store can read the data.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ff_core::backend::{Answer, EngineStore};
use ff_core::engine_error::{Code, EngineError};
use ff_core::token::{KeyRing, Secret};
use ff_core::types::{Kid, TimestampMs};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};

/// Maximum age of the cached secrets. They are read again at once for a text under an unknown secret name.
const FRESH: Duration = Duration::from_secs(10);

/// Encryption and decryption of client data. Text that was sealed for one purpose cannot be opened for another.
pub(crate) struct Sealer {
    store: Arc<dyn EngineStore>,
    random: SystemRandom,
    secrets: Mutex<Option<Secrets>>,
}

/// The content of a sealed text.
pub(crate) enum SealedContent {
    Bytes {
        bytes: Vec<u8>,
        /// The store's time.
        now: TimestampMs,
    },
    /// Its secret is retired or unknown.
    Retired,
    /// It was not sealed by this store, or not for this purpose.
    Invalid,
}

/// The store's secrets, as they were read.
#[derive(Clone)]
struct Secrets {
    ring: Arc<KeyRing>,
    read_at: Instant,
    /// The store's time at the read.
    now: TimestampMs,
}

impl Sealer {
    pub(crate) fn new(store: Arc<dyn EngineStore>) -> Self {
        Self { store, random: SystemRandom::new(), secrets: Mutex::default() }
    }

    /// Returns the store's time.
    pub(crate) async fn now(&self) -> Answer<TimestampMs> {
        Ok(self.secrets(|_| true).await?.time())
    }

    pub(crate) async fn seal(&self, purpose: &str, mut bytes: Vec<u8>) -> Answer<String> {
        let secrets = self.secrets(|_| true).await?;
        let (kid, secret) = secrets.ring.current().ok_or(Code::HmacSecretNotInitialized)?;
        let failed = || EngineError::Unavailable("what a caller keeps cannot be encrypted".into());
        let mut nonce = [0; NONCE_LEN];
        self.random.fill(&mut nonce).map_err(|_| failed())?;
        let sealing = key(secret, purpose).ok_or_else(failed)?;
        sealing
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut bytes)
            .map_err(|_| failed())?;
        let name = kid.as_str().as_bytes();
        let length = u8::try_from(name.len()).map_err(|_| failed())?;
        Ok(BASE64_URL_SAFE_NO_PAD.encode([&[length], name, &nonce, &bytes].concat()))
    }

    pub(crate) async fn open(&self, purpose: &str, text: &str) -> Answer<SealedContent> {
        let Ok(bytes) = BASE64_URL_SAFE_NO_PAD.decode(text) else { return Ok(SealedContent::Invalid) };
        let Some((kid, nonce, sealed)) = parts(&bytes) else { return Ok(SealedContent::Invalid) };
        let secrets = self.secrets(|ring| ring.keys.contains_key(&kid)).await?;
        let Some(secret) = secrets.ring.verifying(&kid, secrets.time()) else { return Ok(SealedContent::Retired) };
        let mut sealed = sealed.to_vec();
        let opened = key(secret, purpose).map(|key| key.open_in_place(nonce, Aad::empty(), &mut sealed));
        let Some(Ok(bytes)) = opened else { return Ok(SealedContent::Invalid) };
        Ok(SealedContent::Bytes { bytes: bytes.to_vec(), now: secrets.time() })
    }

    /// Returns the store's secrets. Reads them again if they are too old or do not satisfy `fits`.
    async fn secrets(&self, fits: impl Fn(&KeyRing) -> bool) -> Answer<Secrets> {
        let known = self.secrets.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = known.filter(|known| known.read_at.elapsed() < FRESH && fits(&known.ring)) {
            return Ok(known);
        }
        let now = self.store.now().await?;
        let read = Secrets { ring: Arc::new(self.store.key_ring(0).await?), read_at: Instant::now(), now };
        *self.secrets.lock().unwrap_or_else(PoisonError::into_inner) = Some(read.clone());
        Ok(read)
    }
}

impl Secrets {
    /// Returns the store's current time.
    fn time(&self) -> TimestampMs {
        self.now + u64::try_from(self.read_at.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

fn key(secret: &Secret, purpose: &str) -> Option<LessSafeKey> {
    let bytes = secret.derive_key(purpose);
    UnboundKey::new(&CHACHA20_POLY1305, &bytes).ok().map(LessSafeKey::new)
}

/// Splits sealed bytes into the name of the secret, the nonce, and the ciphertext.
fn parts(bytes: &[u8]) -> Option<(Kid, Nonce, &[u8])> {
    let (length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(*length))?;
    let (nonce, sealed) = rest.split_at_checked(NONCE_LEN)?;
    let kid = Kid::parse(std::str::from_utf8(name).ok()?).ok()?;
    Some((kid, Nonce::try_assume_unique_for_key(nonce).ok()?, sealed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_another_shape_are_not_read() {
        assert!(parts(&[]).is_none() && parts(&[9, 1]).is_none() && parts(&[1, b'k', 0]).is_none());
    }
}
