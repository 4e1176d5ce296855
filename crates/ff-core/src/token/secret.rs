//! The secret of tokens: bytes that are never shown.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac as _};
use secrecy::{ExposeSecret, SecretSlice};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::hex::{from_hex, to_hex};
use crate::limits;

/// The key under which tokens are signed. `Debug` never shows it; it is written out only for the store.
#[derive(Clone)]
pub struct Secret(SecretSlice<u8>);

/// The error of a text that is not a secret. It does not contain the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be hexadecimal text of {} to {} bytes", limits::SECRET_MIN_BYTES, limits::SECRET_BYTES)]
pub struct BadSecret;

impl Secret {
    /// Creates a secret from bytes. A stored secret may be shorter than the lower limit; [`check_strength`] enforces
    /// the limit for new secrets.
    ///
    /// [`check_strength`]: Secret::check_strength
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Self, BadSecret> {
        let bytes = bytes.into();
        if bytes.is_empty() || bytes.len() > limits::SECRET_BYTES {
            return Err(BadSecret);
        }
        Ok(Self(bytes.into()))
    }

    /// Parses a secret as operators write it, in hexadecimal digits of either case.
    pub fn from_hex(text: &str) -> Result<Self, BadSecret> {
        from_hex(&text.to_ascii_lowercase()).ok_or(BadSecret).and_then(Self::new)
    }

    /// Refuses a secret that is short enough to be guessed.
    pub fn check_strength(&self) -> Result<(), BadSecret> {
        if self.bytes().len() < limits::SECRET_MIN_BYTES { Err(BadSecret) } else { Ok(()) }
    }

    /// Creates a secret from random bytes.
    pub fn drawn(bytes: [u8; 32]) -> Self {
        Self(bytes.to_vec().into())
    }

    /// Derives a key for another purpose. Neither this secret nor the key of a third purpose can be computed from the result.
    pub fn derive_key(&self, purpose: &str) -> [u8; 32] {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(self.bytes()) else {
            unreachable!("an HMAC takes a key of any length")
        };
        mac.update(purpose.as_bytes());
        mac.finalize().into_bytes().into()
    }

    /// Returns the secret as text, for the store.
    pub fn expose_hex(&self) -> String {
        to_hex(self.bytes())
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.0.expose_secret()
    }
}

/// Takes the same time, wherever two secrets of the same length differ.
impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.bytes().ct_eq(other.bytes()).into()
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a secret")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.expose_hex())
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::from_hex(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_shown() {
        let secret = Secret::from_hex("c0ffee").unwrap();
        assert_eq!(format!("{secret:?}"), "a secret");
        assert_eq!(secret.expose_hex(), "c0ffee");
        let error = serde_json::from_str::<Secret>("\"c0ffeex\"").unwrap_err().to_string();
        assert!(!error.contains("c0ffee"), "{error}");
    }

    #[test]
    fn a_secret_is_taken_at_its_limit_and_refused_one_past_it() {
        assert!(Secret::new(vec![7; limits::SECRET_BYTES]).is_ok());
        assert_eq!(Secret::new(vec![7; limits::SECRET_BYTES + 1]), Err(BadSecret));
        for text in ["", "0", "xy", "00 11"] {
            assert_eq!(Secret::from_hex(text), Err(BadSecret), "{text:?}");
        }
        assert_eq!(Secret::from_hex("C0FFEE"), Secret::from_hex("c0ffee"));
        let strength = |bytes| Secret::new(vec![7; bytes]).unwrap().check_strength();
        assert_eq!(strength(limits::SECRET_MIN_BYTES), Ok(()));
        assert_eq!(strength(limits::SECRET_MIN_BYTES - 1), Err(BadSecret));
    }
}
