//! The source of randomness. Rules generate none: an operation receives one nonce and derives all its ids and random
//! numbers from it, so that two stores with the same nonce make the same decision.

use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::types::{AttemptId, LeaseId, SignalId, SuspensionId, WaitpointId};

/// The randomness of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nonce(Uuid);

impl Nonce {
    /// Returns the ids of the `nth` lease that an operation grants. The leases of one operation are numbered in the
    /// last four digits of their ids, so a store that knows the ids of the first lease can compute the others.
    pub fn lease(&self, nth: usize) -> (LeaseId, AttemptId) {
        let counted = |purpose| {
            let first = self.derive(purpose, 0).as_u128() & !u128::from(u16::MAX);
            Uuid::from_u128(first | (nth as u128 & u128::from(u16::MAX)))
        };
        (LeaseId::from_uuid(counted(b'l')), AttemptId::from_uuid(counted(b'a')))
    }

    /// Returns the id of the suspension that an operation begins.
    pub fn suspension(&self) -> SuspensionId {
        SuspensionId::from_uuid(self.derive(b's', 0))
    }

    /// Returns the id of the `nth` waitpoint that an operation creates.
    pub fn waitpoint(&self, nth: usize) -> WaitpointId {
        WaitpointId::from_uuid(self.derive(b'w', nth))
    }

    /// Returns the id of the signal that an operation records.
    pub fn signal(&self) -> SignalId {
        SignalId::from_uuid(self.derive(b'g', 0))
    }

    /// Returns a number below [`JITTER_SCALE`].
    pub fn jitter(&self) -> u64 {
        let bits = u64::from_be_bytes(first(&self.digest(b'r', 0)));
        bits % JITTER_SCALE
    }

    fn derive(&self, purpose: u8, nth: usize) -> Uuid {
        let (seconds, nanos) = self.0.get_timestamp().map_or((0, 0), |at| at.to_unix());
        let millis = seconds * 1_000 + u64::from(nanos / 1_000_000);
        uuid::Builder::from_unix_timestamp_millis(millis, &first(&self.digest(purpose, nth))).into_uuid()
    }

    fn digest(&self, purpose: u8, nth: usize) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.0.as_bytes());
        hash.update([purpose]);
        hash.update((nth as u64).to_be_bytes());
        hash.finalize().into()
    }
}

/// The exclusive upper bound of jitter values. They are whole numbers, so that the
/// product with any delay is also exact in a double.
pub const JITTER_SCALE: u64 = 1_000_000;

fn first<const N: usize>(bytes: &[u8; 32]) -> [u8; N] {
    std::array::from_fn(|nth| bytes[nth])
}

/// A source of nonces.
pub trait Entropy: Send + Sync {
    fn nonce(&self) -> Nonce;

    /// Returns unpredictable bytes for a secret.
    fn secret(&self) -> [u8; 32];
}

/// The random number generator of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn nonce(&self) -> Nonce {
        Nonce(Uuid::now_v7())
    }

    fn secret(&self) -> [u8; 32] {
        // Three random uuids have 366 random bits; the digest keeps 256 of them.
        let mut hash = Sha256::new();
        (0..3).for_each(|_| hash.update(Uuid::new_v4().as_bytes()));
        hash.finalize().into()
    }
}

/// Reproducible nonces from a seed, for tests that compare two stores.
#[derive(Debug)]
pub struct SeededEntropy {
    seed: u64,
    count: AtomicU64,
}

impl SeededEntropy {
    pub fn new(seed: u64) -> Self {
        Self { seed, count: AtomicU64::new(0) }
    }
}

impl Entropy for SeededEntropy {
    fn nonce(&self) -> Nonce {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let mut hash = Sha256::new();
        hash.update(self.seed.to_be_bytes());
        hash.update(count.to_be_bytes());
        Nonce(uuid::Builder::from_unix_timestamp_millis(count, &first(&hash.finalize().into())).into_uuid())
    }

    /// Returns the same secret for the same seed, regardless of the number of nonces drawn before.
    fn secret(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(b"secret");
        hash.update(self.seed.to_be_bytes());
        hash.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_sequence() {
        let (a, b) = (SeededEntropy::new(7), SeededEntropy::new(7));
        let (first, second) = (a.nonce(), a.nonce());
        assert_eq!((first, second), (b.nonce(), b.nonce()));
        assert_ne!(first.lease(0), second.lease(0));
        assert_ne!(first.lease(0), first.lease(1));
        let (lease, attempt) = first.lease(0x1f);
        assert!(lease.to_string().ends_with("001f") && attempt.to_string().ends_with("001f"));
        assert_eq!(lease.to_string()[..32], first.lease(0).0.to_string()[..32]);
        assert_ne!(SeededEntropy::new(8).nonce(), first);
    }

    #[test]
    fn new_ids_are_version_seven() {
        let (lease, attempt) = SystemEntropy.nonce().lease(0);
        assert_eq!(lease.as_uuid().get_version_num(), 7);
        assert_eq!(attempt.as_uuid().get_version_num(), 7);
    }

    #[test]
    fn a_seed_gives_one_secret_and_the_system_gives_no_two() {
        assert_eq!(SeededEntropy::new(7).secret(), SeededEntropy::new(7).secret());
        assert_ne!(SeededEntropy::new(7).secret(), SeededEntropy::new(8).secret());
        assert_ne!(SystemEntropy.secret(), SystemEntropy.secret());
    }

    #[test]
    fn rolls_stay_below_their_bound() {
        let entropy = SeededEntropy::new(1);
        assert!((0..10_000).all(|_| entropy.nonce().jitter() < JITTER_SCALE));
    }
}
