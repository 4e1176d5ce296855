//! The text of an API key: `ff_<id>_<secret>`.

use std::fmt;
use std::str::FromStr;

use secrecy::{ExposeSecret, SecretSlice};

use super::KeyHash;
use crate::backend::entropy::Entropy;
use crate::token::hex::{from_hex, to_hex};
use crate::types::KeyId;

/// Number of bytes of a secret.
const SECRET_BYTES: usize = 32;

/// Number of random bytes in the id of a key.
const ID_BYTES: usize = 8;

/// A key with its secret. Its text grants all rights of the key, so only [`expose`] returns it.
///
/// [`expose`]: SecretKey::expose
#[derive(Clone)]
pub struct SecretKey {
    id: KeyId,
    secret: SecretSlice<u8>,
}

/// Error for a text that is not a key. The error does not contain the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be ff_, an id of lower-case letters and digits, _ and 64 lower-case hexadecimal digits")]
pub struct BadKey;

impl SecretKey {
    /// Generates a new key.
    pub fn draw(entropy: &impl Entropy) -> Self {
        let id = KeyId::from_random(&to_hex(&entropy.secret()[..ID_BYTES]));
        Self { id, secret: entropy.secret().to_vec().into() }
    }

    /// Combines an id with the secret that was generated for it.
    pub fn of(id: KeyId, secret: [u8; SECRET_BYTES]) -> Self {
        Self { id, secret: secret.to_vec().into() }
    }

    /// Parses a key. Only the spelling in which keys are issued is accepted.
    pub fn parse(text: &str) -> Result<Self, BadKey> {
        let (id, secret) = text.strip_prefix("ff_").and_then(|rest| rest.split_once('_')).ok_or(BadKey)?;
        let id = KeyId::parse(id).map_err(|_| BadKey)?;
        let secret = from_hex(secret).filter(|bytes| bytes.len() == SECRET_BYTES).ok_or(BadKey)?;
        Ok(Self { id, secret: secret.into() })
    }

    /// Returns the id of the key, which is not secret.
    pub fn id(&self) -> &KeyId {
        &self.id
    }

    /// Returns the hash of the secret, for a store to keep.
    pub fn hash(&self) -> KeyHash {
        KeyHash::of(self.secret.expose_secret())
    }

    /// Returns the whole text, to hand out to the owner of the key.
    pub fn expose(&self) -> String {
        format!("ff_{}_{}", self.id, to_hex(self.secret.expose_secret()))
    }
}

impl FromStr for SecretKey {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<Self, BadKey> {
        Self::parse(text)
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the key {}", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::entropy::SystemEntropy;

    #[test]
    fn a_key_survives_being_written_and_read() {
        let key = SecretKey::draw(&SystemEntropy);
        let text = key.expose();
        assert_eq!(text.len(), 3 + 16 + 1 + 64);
        let read = SecretKey::parse(&text).unwrap();
        assert_eq!((read.id(), read.hash(), read.expose()), (key.id(), key.hash(), text));
    }

    #[test]
    fn no_two_keys_are_alike() {
        let (one, other) = (SecretKey::draw(&SystemEntropy), SecretKey::draw(&SystemEntropy));
        assert_ne!(one.id(), other.id());
        assert_ne!(one.hash(), other.hash());
    }

    #[test]
    fn nothing_shows_a_key() {
        let key = SecretKey::parse(&format!("ff_a1_{}", "0f".repeat(32))).unwrap();
        assert_eq!(format!("{key:?}"), "the key a1");
        let error = SecretKey::parse("ff_a1_c0ffee").unwrap_err().to_string();
        assert!(!error.contains("c0ffee"), "{error}");
    }

    #[test]
    fn other_texts_are_no_keys() {
        let digits = "0f".repeat(32);
        for bad in [
            String::new(),
            "ff_".into(),
            "ff_a1".into(),
            format!("a1_{digits}"),
            format!("FF_a1_{digits}"),
            format!("ff__{digits}"),
            format!("ff_A1_{digits}"),
            format!("ff_a-1_{digits}"),
            format!("ff_{}_{digits}", "a".repeat(33)),
            format!("ff_a1_{}", digits.to_uppercase()),
            format!("ff_a1_{}", &digits[2..]),
            format!("ff_a1_{digits}0f"),
            format!("ff_a1_{digits} "),
            format!(" ff_a1_{digits}"),
            format!("ff_a1__{digits}"),
        ] {
            assert_eq!(SecretKey::parse(&bad).unwrap_err(), BadKey, "{bad:?}");
        }
    }
}
