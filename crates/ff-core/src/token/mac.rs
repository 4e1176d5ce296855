//! The MAC of a token: HMAC-SHA256 over the names of the object that the token opens.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::hex::{from_hex, to_hex};
use super::secret::Secret;
use crate::types::{ExecutionId, TimestampMs, WaitpointId, WaitpointKey};

/// The version of the message, so that a message of another format is never read as this one.
const VERSION: &str = "1";

/// The first part of the message of a stream token.
const STREAM: &str = "read stream";

/// The proof that a token was minted by this store. Compared in constant time, never shown.
#[derive(Clone, Copy)]
pub struct Mac([u8; 32]);

impl Mac {
    /// Computes the MAC that opens a waitpoint.
    ///
    /// Each part of the message is preceded by its length, so two waitpoints never have the same message.
    pub fn of(secret: &Secret, execution: &ExecutionId, waitpoint: &WaitpointId, key: &WaitpointKey) -> Self {
        Self::over(secret, &[VERSION, &execution.to_string(), &waitpoint.to_string(), key.as_str()])
    }

    /// Computes the MAC that opens the stream of an execution until a given time. Its message begins with its purpose,
    /// which is not a version of the other message, so neither token is accepted as the other.
    pub fn of_stream(secret: &Secret, execution: &ExecutionId, expires_at: TimestampMs) -> Self {
        Self::over(secret, &[STREAM, VERSION, &execution.to_string(), &expires_at.0.to_string()])
    }

    fn over(secret: &Secret, parts: &[&str]) -> Self {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.bytes()) else {
            unreachable!("an HMAC takes a key of any length")
        };
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        Self(mac.finalize().into_bytes().into())
    }

    /// Parses the only spelling of a MAC: 64 lower-case digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        from_hex(text)?.try_into().ok().map(Self)
    }

    /// Returns the MAC as text, for the store and for the token.
    pub fn expose_hex(&self) -> String {
        to_hex(&self.0)
    }

    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Takes the same time, wherever two MACs differ.
impl PartialEq for Mac {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Mac {}

impl fmt::Debug for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a MAC")
    }
}

impl Serialize for Mac {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.expose_hex())
    }
}

impl<'de> Deserialize<'de> for Mac {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::from_hex(&text).ok_or_else(|| serde::de::Error::custom("a MAC is 64 lower-case hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn mac(secret: &str, partition: u16, waitpoint: u128, key: &str) -> Mac {
        let execution = ExecutionId::new(partition, Uuid::from_u128(1));
        let waitpoint = WaitpointId::from_uuid(Uuid::from_u128(waitpoint));
        Mac::of(&Secret::from_hex(secret).unwrap(), &execution, &waitpoint, &WaitpointKey::parse(key).unwrap())
    }

    #[test]
    fn a_mac_stands_for_one_waitpoint_under_one_secret() {
        let one = mac("00", 1, 2, "k");
        assert_eq!(one, mac("00", 1, 2, "k"));
        for other in [mac("01", 1, 2, "k"), mac("00", 2, 2, "k"), mac("00", 1, 3, "k"), mac("00", 1, 2, "l")] {
            assert_ne!(one, other);
        }
    }

    /// Other programs also verify tokens, so these bytes must never change. The value was computed with another
    /// implementation of HMAC.
    #[test]
    fn the_bytes_are_the_published_ones() {
        assert_eq!(mac("000102030405060708090a0b0c0d0e0f", 7, 2, "approval").expose_hex(), PUBLISHED);
    }

    const PUBLISHED: &str = "50e06611d4a2d5297b10f4bbd2d33057b4be7bfee662304a3213f5cf697e98db";

    #[test]
    fn a_mac_is_never_shown_and_has_one_spelling() {
        let one = mac("00", 1, 2, "k");
        assert_eq!(format!("{one:?}"), "a MAC");
        assert_eq!(Mac::from_hex(&one.expose_hex()), Some(one));
        assert_eq!(Mac::from_hex(&one.expose_hex().to_uppercase()), None);
        assert_eq!(Mac::from_hex(&one.expose_hex()[2..]), None);
    }
}
