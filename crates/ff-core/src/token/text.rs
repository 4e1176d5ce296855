//! The token as text: the name of the secret, a colon, the MAC.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::hex::to_hex;
use super::mac::Mac;
use crate::types::Kid;

/// A token that opens a waitpoint. Its text is enough to signal the waitpoint, so only [`expose`] shows it.
///
/// [`expose`]: WaitpointToken::expose
#[derive(Clone, PartialEq, Eq)]
pub struct WaitpointToken {
    pub kid: Kid,
    pub mac: Mac,
}

/// The error of a text that is not a token. It does not contain the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token is a kid, a colon and 64 lower-case hexadecimal digits")]
pub struct BadToken;

impl WaitpointToken {
    /// Parses a token.
    pub fn parse(text: &str) -> Result<Self, BadToken> {
        let (kid, mac) = text.split_once(':').ok_or(BadToken)?;
        let mac = Mac::from_hex(mac).ok_or(BadToken)?;
        Ok(Self { kid: Kid::parse(kid).map_err(|_| BadToken)?, mac })
    }

    /// Returns the text that opens the waitpoint, for the recipient of the token.
    pub fn expose(&self) -> String {
        format!("{}:{}", self.kid, self.mac.expose_hex())
    }

    /// Returns a fingerprint of the token, for comparing tokens without showing them.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.kid.as_str());
        hash.update([b':']);
        hash.update(self.mac.bytes());
        to_hex(&hash.finalize()[..8])
    }
}

impl fmt::Debug for WaitpointToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a token under {}", self.kid)
    }
}

impl Serialize for WaitpointToken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.expose())
    }
}

impl<'de> Deserialize<'de> for WaitpointToken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// A token as a caller presents it: any text, until it is verified.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PresentedToken(String);

impl PresentedToken {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns whether no token was presented.
    pub fn is_missing(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text as presented, to pass it on for verification.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&WaitpointToken> for PresentedToken {
    fn from(token: &WaitpointToken) -> Self {
        Self(token.expose())
    }
}

impl fmt::Debug for PresentedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes shown as a token", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> String {
        format!("k1:{}", "0f".repeat(32))
    }

    #[test]
    fn a_token_survives_being_written_and_read() {
        let token = WaitpointToken::parse(&text()).unwrap();
        assert_eq!(token.expose(), text());
        assert_eq!(token.fingerprint().len(), 16);
    }

    #[test]
    fn nothing_shows_a_token() {
        let token = WaitpointToken::parse(&text()).unwrap();
        assert_eq!(
            format!("{token:?} {:?}", PresentedToken::new(text())),
            "a token under k1 67 bytes shown as a token"
        );
        let error = serde_json::from_str::<WaitpointToken>("\"k1:c0ffee\"").unwrap_err().to_string();
        assert!(!error.contains("c0ffee"), "{error}");
    }

    #[test]
    fn other_texts_are_no_tokens() {
        let digits = "0f".repeat(32);
        for bad in [
            String::new(),
            "k1".into(),
            "k1:".into(),
            format!(":{digits}"),
            format!("k1:{}", digits.to_uppercase()),
            format!("k1:{digits}0f"),
            format!("k1:{}", &digits[1..]),
            format!("k1:{}", &digits[2..]),
            format!("k1::{digits}"),
            format!("k1:{digits} "),
            format!("{}:{digits}", "k".repeat(129)),
        ] {
            assert_eq!(WaitpointToken::parse(&bad), Err(BadToken), "{bad:?}");
        }
    }
}
