//! The hash of a key's secret, which stores keep.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::token::hex::{from_hex, to_hex};

/// The SHA-256 of a secret. The secret is 32 random bytes and cannot be guessed, so a slower hash is not needed.
#[derive(Clone, Copy)]
pub struct KeyHash([u8; 32]);

/// Error for a text that is not a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 64 lower-case hexadecimal digits")]
pub struct BadHash;

impl KeyHash {
    /// Hashes a secret.
    pub fn of(secret: &[u8]) -> Self {
        Self(Sha256::digest(secret).into())
    }

    /// Reads a hash as stores write it.
    pub fn from_hex(text: &str) -> Result<Self, BadHash> {
        let bytes = from_hex(text).ok_or(BadHash)?;
        bytes.try_into().map(Self).map_err(|_| BadHash)
    }

    pub fn to_hex(self) -> String {
        to_hex(&self.0)
    }
}

/// Compares in constant time.
impl PartialEq for KeyHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for KeyHash {}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the hash of a secret")
    }
}

impl Serialize for KeyHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_hex())
    }
}

impl<'de> Deserialize<'de> for KeyHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::from_hex(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_survives_being_written_and_read() {
        let hash = KeyHash::of(b"secret");
        assert_eq!(KeyHash::from_hex(&hash.to_hex()), Ok(hash));
        assert_ne!(hash, KeyHash::of(b"secres"));
        assert_eq!(hash.to_hex(), "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b");
    }

    #[test]
    fn other_texts_are_no_hashes() {
        let digits = KeyHash::of(b"secret").to_hex();
        for bad in ["", &digits[2..], &digits.to_uppercase(), &format!("{digits}00")] {
            assert_eq!(KeyHash::from_hex(bad), Err(BadHash), "{bad:?}");
        }
    }

    #[test]
    fn a_hash_is_not_shown() {
        assert_eq!(format!("{:?}", KeyHash::of(b"secret")), "the hash of a secret");
    }
}
