//! The key ring: the secrets of one partition. One of them is current; the others are retired and expire.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Mac, PresentedToken, Secret, WaitpointToken};
use crate::engine_error::{Code, Refusal};
use crate::types::{ExecutionId, Kid, TimestampMs, WaitpointId, WaitpointKey};

/// The secrets under which tokens are signed and verified. Every partition has a
/// copy; all copies are the same, except during a rotation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRing {
    /// Name of the secret under which new tokens are signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<Kid>,
    pub keys: BTreeMap<Kid, RingKey>,
}

/// One secret of a ring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingKey {
    pub secret: Secret,
    /// Time from which the secret no longer verifies; `None` for the current secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<TimestampMs>,
}

impl RingKey {
    pub(super) fn is_live(&self, now: TimestampMs) -> bool {
        self.expires_at.is_none_or(|at| now < at)
    }
}

impl KeyRing {
    /// Creates a ring with one secret.
    pub fn of(kid: Kid, secret: Secret) -> Self {
        let key = RingKey { secret, expires_at: None };
        Self { current: Some(kid.clone()), keys: BTreeMap::from([(kid, key)]) }
    }

    /// Returns the secret under which new tokens are signed, and its name.
    pub fn current(&self) -> Option<(&Kid, &Secret)> {
        let kid = self.current.as_ref()?;
        Some((kid, &self.keys.get(kid)?.secret))
    }

    /// Returns the secret of this name, if it verifies now.
    pub fn verifying(&self, kid: &Kid, now: TimestampMs) -> Option<&Secret> {
        self.keys.get(kid).filter(|key| key.is_live(now)).map(|key| &key.secret)
    }

    /// Signs a token for a waitpoint under the current secret.
    pub fn mint(
        &self,
        execution: &ExecutionId,
        waitpoint: &WaitpointId,
        key: &WaitpointKey,
    ) -> Result<WaitpointToken, Refusal> {
        let (kid, secret) = self.current().ok_or(Code::HmacSecretNotInitialized)?;
        Ok(WaitpointToken { kid: kid.clone(), mac: Mac::of(secret, execution, waitpoint, key) })
    }

    /// Verifies that a presented token was minted for this waitpoint, under a secret that is still valid.
    ///
    /// Only the bearer of a genuine token learns that its secret was retired; any other token is simply invalid.
    pub fn verify(
        &self,
        presented: &PresentedToken,
        execution: &ExecutionId,
        waitpoint: &WaitpointId,
        key: &WaitpointKey,
        now: TimestampMs,
    ) -> Result<WaitpointToken, Code> {
        if presented.is_missing() {
            return Err(Code::MissingToken);
        }
        let token = WaitpointToken::parse(presented.expose()).map_err(|_| Code::InvalidToken)?;
        let signing = self.keys.get(&token.kid).ok_or(Code::InvalidToken)?;
        if Mac::of(&signing.secret, execution, waitpoint, key) != token.mac {
            return Err(Code::InvalidToken);
        }
        if !signing.is_live(now) {
            return Err(Code::TokenExpired);
        }
        Ok(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::samples::at;
    use uuid::Uuid;

    fn ring() -> KeyRing {
        let mut ring = KeyRing::of(Kid::first(), Secret::from_hex("c0ffee").unwrap());
        let retired = RingKey { secret: Secret::from_hex("facade").unwrap(), expires_at: Some(at(100)) };
        ring.keys.insert(Kid::parse("k0").unwrap(), retired);
        ring
    }

    fn opened() -> (ExecutionId, WaitpointId, WaitpointKey) {
        let id = Uuid::from_u128(1);
        (ExecutionId::new(3, id), WaitpointId::from_uuid(id), WaitpointKey::parse("approval").unwrap())
    }

    #[test]
    fn a_token_opens_what_it_was_minted_for() {
        let (execution, waitpoint, key) = opened();
        let token = ring().mint(&execution, &waitpoint, &key).unwrap();
        assert_eq!(ring().verify(&(&token).into(), &execution, &waitpoint, &key, at(0)), Ok(token));
    }

    #[test]
    fn a_retired_secret_verifies_until_its_expiry_and_reports_it_after() {
        let (execution, waitpoint, key) = opened();
        let retired = ring().keys[&Kid::parse("k0").unwrap()].secret.clone();
        let old =
            WaitpointToken { kid: Kid::parse("k0").unwrap(), mac: Mac::of(&retired, &execution, &waitpoint, &key) };
        let verify = |now| ring().verify(&(&old).into(), &execution, &waitpoint, &key, now);
        assert_eq!(verify(at(99)), Ok(old.clone()));
        assert_eq!(verify(at(100)), Err(Code::TokenExpired));
        let forged = PresentedToken::new(format!("k0:{}", "00".repeat(32)));
        assert_eq!(ring().verify(&forged, &execution, &waitpoint, &key, at(100)), Err(Code::InvalidToken));
    }

    #[test]
    fn without_a_secret_nothing_is_minted_and_nothing_opens() {
        let (execution, waitpoint, key) = opened();
        let empty = KeyRing::default();
        let refused = empty.mint(&execution, &waitpoint, &key).unwrap_err();
        assert_eq!(refused.code, Code::HmacSecretNotInitialized);
        let token = ring().mint(&execution, &waitpoint, &key).unwrap();
        assert_eq!(empty.verify(&(&token).into(), &execution, &waitpoint, &key, at(0)), Err(Code::InvalidToken));
        let nothing = PresentedToken::default();
        assert_eq!(ring().verify(&nothing, &execution, &waitpoint, &key, at(0)), Err(Code::MissingToken));
    }

    #[test]
    fn a_ring_shows_no_secret() {
        assert!(!format!("{:?}", ring()).contains("c0ffee"));
    }

    #[test]
    fn a_ring_survives_being_written_and_read() {
        let text = serde_json::to_string(&ring()).unwrap();
        assert_eq!(serde_json::from_str::<KeyRing>(&text).unwrap(), ring());
    }

    /// Forged tokens of every kind, none of which may open anything.
    #[test]
    fn a_hundred_thousand_forged_tokens_open_nothing() {
        let (execution, waitpoint, key) = opened();
        let ring = ring();
        let genuine = ring.mint(&execution, &waitpoint, &key).unwrap().expose();
        let retired = Mac::of(&ring.keys[&Kid::parse("k0").unwrap()].secret, &execution, &waitpoint, &key);
        let now = at(100);
        let mut accepted = 0;
        let mut verify = |text: String, execution: &ExecutionId, waitpoint: &WaitpointId, key: &WaitpointKey| {
            accepted += usize::from(ring.verify(&PresentedToken::new(text), execution, waitpoint, key, now).is_ok());
        };
        for nth in 0..100_000_usize {
            let other = Uuid::from_u128(nth as u128 + 2);
            match nth % 8 {
                0 => verify(flipped(&genuine, nth / 8), &execution, &waitpoint, &key),
                1 => verify(genuine.clone(), &ExecutionId::new(3, other), &waitpoint, &key),
                2 => verify(genuine.clone(), &execution, &WaitpointId::from_uuid(other), &key),
                3 => {
                    let other = WaitpointKey::parse(&format!("approval{nth}")).unwrap();
                    verify(genuine.clone(), &execution, &waitpoint, &other);
                }
                4 => verify(format!("k0:{}", retired.expose_hex()), &execution, &waitpoint, &key),
                5 => verify(genuine.replace("k1", &format!("k{}", nth + 2)), &execution, &waitpoint, &key),
                6 => verify(genuine[..nth / 8 % genuine.len()].into(), &execution, &waitpoint, &key),
                _ => verify(format!("{genuine}{nth:x}"), &execution, &waitpoint, &key),
            }
        }
        assert_eq!(accepted, 0);
        assert!(ring.verify(&PresentedToken::new(genuine), &execution, &waitpoint, &key, now).is_ok());
    }

    /// Returns the token with one bit of its MAC flipped.
    fn flipped(genuine: &str, nth: usize) -> String {
        let (kid, digits) = genuine.split_once(':').unwrap();
        let mut bytes = Mac::from_hex(digits).unwrap().bytes().to_vec();
        let bit = nth % (bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        format!("{kid}:{}", super::super::hex::to_hex(&bytes))
    }
}
