//! The token that reads the stream of one execution until a given time: the name of the secret, the time and the MAC,
//! separated by colons. It is meant for readers without an API key, such as a page in a browser.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{KeyRing, Mac, PresentedToken};
use crate::engine_error::{Code, Refusal};
use crate::limits;
use crate::partition::{PartitionConfig, check_id};
use crate::types::{ExecutionId, Kid, TimestampMs};

/// A token that reads a stream. Its text is enough to read, so only [`expose`] shows it.
///
/// [`expose`]: StreamToken::expose
#[derive(Clone, PartialEq, Eq)]
pub struct StreamToken {
    pub kid: Kid,
    /// Time from which the token is no longer valid.
    pub expires_at: TimestampMs,
    pub mac: Mac,
}

/// A request for a token that reads the stream of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamTokenArgs {
    pub execution_id: ExecutionId,
    /// Lifetime of the token.
    pub expires_in_ms: u64,
}

impl StreamTokenArgs {
    pub fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        check_id(&self.execution_id, partitions)?;
        if (1..=limits::STREAM_TOKEN_MS).contains(&self.expires_in_ms) {
            return Ok(());
        }
        let why = format!("is {}, must be from 1 to {}", self.expires_in_ms, limits::STREAM_TOKEN_MS);
        Err(Refusal::invalid("expires_in_ms", why))
    }
}

impl StreamToken {
    /// Parses a token.
    pub fn parse(text: &str) -> Option<Self> {
        let (kid, rest) = text.split_once(':')?;
        let (moment, mac) = rest.split_once(':')?;
        // Only one spelling is valid: digits without a sign or leading zeros.
        let expires_at = moment.parse::<i64>().ok().filter(|ms| ms.to_string() == moment)?;
        Some(Self { kid: Kid::parse(kid).ok()?, expires_at: TimestampMs(expires_at), mac: Mac::from_hex(mac)? })
    }

    /// Returns the text that reads the stream, for the recipient of the token.
    pub fn expose(&self) -> String {
        format!("{}:{}:{}", self.kid, self.expires_at.0, self.mac.expose_hex())
    }
}

impl fmt::Debug for StreamToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a token for a stream under {}", self.kid)
    }
}

impl Serialize for StreamToken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.expose())
    }
}

impl<'de> Deserialize<'de> for StreamToken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let wrong = "a token for a stream is a kid, a moment and 64 lower-case hexadecimal digits";
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(wrong))
    }
}

impl KeyRing {
    /// Signs a token for the stream of an execution under the current secret.
    pub fn mint_for_stream(&self, execution: &ExecutionId, expires_at: TimestampMs) -> Result<StreamToken, Refusal> {
        let (kid, secret) = self.current().ok_or(Code::HmacSecretNotInitialized)?;
        Ok(StreamToken { kid: kid.clone(), expires_at, mac: Mac::of_stream(secret, execution, expires_at) })
    }

    /// Verifies a token that reads the stream of an execution: it was minted for this execution, it has not expired, and its
    /// secret still verifies. A forged token, a token of another execution and a waitpoint token are refused alike.
    pub fn verify_for_stream(
        &self,
        presented: &PresentedToken,
        execution: &ExecutionId,
        now: TimestampMs,
    ) -> Result<(), Code> {
        let token = StreamToken::parse(presented.expose()).ok_or(Code::InvalidToken)?;
        let signing = self.keys.get(&token.kid).ok_or(Code::InvalidToken)?;
        if Mac::of_stream(&signing.secret, execution, token.expires_at) != token.mac {
            return Err(Code::InvalidToken);
        }
        if now >= token.expires_at || !signing.is_live(now) {
            return Err(Code::TokenExpired);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::rule::samples::at;
    use crate::token::{RingKey, Secret};
    use crate::types::{WaitpointId, WaitpointKey};

    fn ring() -> KeyRing {
        let mut ring = KeyRing::of(Kid::first(), Secret::from_hex("c0ffee").unwrap());
        let retired = RingKey { secret: Secret::from_hex("facade").unwrap(), expires_at: Some(at(100)) };
        ring.keys.insert(Kid::parse("k0").unwrap(), retired);
        ring
    }

    fn id() -> ExecutionId {
        ExecutionId::new(3, Uuid::from_u128(1))
    }

    fn verify(text: &str, now: u64) -> Result<(), Code> {
        ring().verify_for_stream(&PresentedToken::new(text), &id(), at(now))
    }

    #[test]
    fn a_stream_token_is_valid_until_its_expiry() {
        let token = ring().mint_for_stream(&id(), at(50)).unwrap();
        assert_eq!(StreamToken::parse(&token.expose()), Some(token.clone()));
        assert_eq!(verify(&token.expose(), 49), Ok(()));
        assert_eq!(verify(&token.expose(), 50), Err(Code::TokenExpired));
        let other = ExecutionId::new(3, Uuid::from_u128(2));
        let presented = PresentedToken::new(token.expose());
        assert_eq!(ring().verify_for_stream(&presented, &other, at(0)), Err(Code::InvalidToken));
        let refused = KeyRing::default().mint_for_stream(&id(), at(50)).unwrap_err();
        assert_eq!(refused.code, Code::HmacSecretNotInitialized);
    }

    #[test]
    fn a_retired_secret_verifies_stream_tokens_until_its_own_expiry() {
        let kid = Kid::parse("k0").unwrap();
        let mac = Mac::of_stream(&ring().keys[&kid].secret, &id(), at(500));
        let old = StreamToken { kid, expires_at: at(500), mac }.expose();
        assert_eq!((verify(&old, 99), verify(&old, 100)), (Ok(()), Err(Code::TokenExpired)));
    }

    #[test]
    fn no_token_is_taken_for_one_of_the_other_kind() {
        let (waitpoint, key) = (WaitpointId::from_uuid(Uuid::from_u128(1)), WaitpointKey::parse("50").unwrap());
        let signal = ring().mint(&id(), &waitpoint, &key).unwrap();
        let read = ring().mint_for_stream(&id(), at(50)).unwrap();
        assert_eq!(verify(&signal.expose(), 0), Err(Code::InvalidToken));
        let dressed = StreamToken { kid: signal.kid.clone(), expires_at: at(50), mac: signal.mac };
        assert_eq!(verify(&dressed.expose(), 0), Err(Code::InvalidToken));
        let stripped = format!("{}:{}", read.kid, read.mac.expose_hex());
        for text in [read.expose(), stripped] {
            let presented = PresentedToken::new(text);
            assert_eq!(ring().verify(&presented, &id(), &waitpoint, &key, at(0)), Err(Code::InvalidToken));
        }
    }

    #[test]
    fn whatever_is_changed_in_a_token_it_reads_nothing() {
        let genuine = ring().mint_for_stream(&id(), at(50)).unwrap();
        let text = genuine.expose();
        let (moment, digits) = (genuine.expires_at.0.to_string(), genuine.mac.expose_hex());
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
            assert_eq!(verify(std::str::from_utf8(&changed).unwrap(), 0), Err(Code::InvalidToken), "at {at}");
            assert_eq!(verify(&text[..at], 0), Err(Code::InvalidToken), "cut at {at}");
        }
        for other in [
            format!("k1:{}:{digits}", genuine.expires_at.0 + 1),
            format!("k1:0{moment}:{digits}"),
            format!("k1:+{moment}:{digits}"),
            format!("k1:{moment}:{}", digits.to_uppercase()),
            format!("{text} "),
            format!("{text}00"),
        ] {
            assert_eq!(verify(&other, 0), Err(Code::InvalidToken), "{other}");
        }
    }

    #[test]
    fn nothing_shows_a_token() {
        let token = ring().mint_for_stream(&id(), at(50)).unwrap();
        assert_eq!(format!("{token:?}"), "a token for a stream under k1");
        let error = serde_json::from_str::<StreamToken>("\"k1:5:c0ffee\"").unwrap_err().to_string();
        assert!(!error.contains("c0ffee"), "{error}");
    }

    #[test]
    fn a_token_lasts_a_day_at_most() {
        let args = |expires_in_ms| StreamTokenArgs { execution_id: id(), expires_in_ms };
        let partitions = PartitionConfig::default();
        for allowed in [1, limits::STREAM_TOKEN_MS] {
            assert_eq!(args(allowed).check(&partitions), Ok(()));
        }
        for refused in [0, limits::STREAM_TOKEN_MS + 1] {
            let refusal = args(refused).check(&partitions).unwrap_err();
            assert_eq!(refusal.field.as_deref(), Some("expires_in_ms"));
        }
    }
}
