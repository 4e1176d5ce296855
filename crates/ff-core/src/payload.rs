//! Payloads: bytes that callers send and get back unchanged.

use std::fmt;

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

use crate::token::hex::{from_hex, to_hex};
use crate::types::ContentType;

/// Input or result of an execution: opaque bytes and their content type.
#[derive(Clone, PartialEq, Eq)]
pub struct Payload {
    pub content_type: ContentType,
    pub bytes: Bytes,
}

impl Payload {
    pub fn new(content_type: ContentType, bytes: impl Into<Bytes>) -> Self {
        Self { content_type, bytes: bytes.into() }
    }

    /// Creates a payload from JSON text, which is stored unchanged.
    pub fn json(text: impl Into<Bytes>) -> Self {
        Self::new(ContentType::json(), text)
    }

    /// Creates a payload of bytes of an unknown type.
    pub fn bytes(bytes: impl Into<Bytes>) -> Self {
        Self::new(ContentType::bytes(), bytes)
    }

    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.bytes)
    }
}

impl Default for Payload {
    fn default() -> Self {
        Self::bytes(Bytes::new())
    }
}

/// Shows the size, never the bytes: payloads do not belong in logs.
impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of {}", self.bytes.len(), self.content_type)
    }
}

/// The stored form of a payload: text as it is, other bytes in hexadecimal digits.
#[derive(Serialize, Deserialize)]
struct KeptPayload {
    content_type: ContentType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = std::str::from_utf8(&self.bytes).ok().map(str::to_owned);
        let hex = text.is_none().then(|| to_hex(&self.bytes));
        KeptPayload { content_type: self.content_type.clone(), text, hex }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let KeptPayload { content_type, text, hex } = KeptPayload::deserialize(deserializer)?;
        let bytes = match (text, hex) {
            (Some(text), _) => text.into_bytes(),
            (None, hex) => from_hex(&hex.unwrap_or_default()).ok_or_else(|| de::Error::custom("is not hexadecimal"))?,
        };
        Ok(Self::new(content_type, bytes))
    }
}

/// A digest of a payload's bytes, for places where only their equality matters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Fingerprint(u128);

impl Fingerprint {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let digest = Sha256::digest(bytes);
        Self(u128::from_be_bytes(std::array::from_fn(|nth| digest[nth])))
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> Self {
        format!("{:032x}", fingerprint.0)
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        u128::from_str_radix(&text, 16).map(Self)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_have_equal_fingerprints_and_others_do_not() {
        assert_eq!(Payload::json("1").fingerprint(), Payload::bytes("1").fingerprint());
        assert_ne!(Payload::json("1").fingerprint(), Payload::json("2").fingerprint());
    }

    #[test]
    fn a_payload_does_not_show_its_bytes() {
        assert_eq!(format!("{:?}", Payload::json("\"secret\"")), "8 bytes of application/json");
    }
}
