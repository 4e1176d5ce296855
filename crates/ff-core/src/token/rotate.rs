//! Rotation: a new secret becomes current, and the previous one still verifies for a while.

use serde::{Deserialize, Serialize};

use super::{KeyRing, RingKey, Secret};
use crate::engine_error::{Code, Refusal, check_limit};
use crate::limits;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, check_partition};
use crate::rule::view::{Stop, View};
use crate::types::{Kid, TimestampMs};

/// Makes an operator's secret current on every partition. Each partition has its own
/// copy, because it verifies in its own slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RotateSecretArgs {
    pub kid: Kid,
    pub secret: Secret,
    /// How long the previous secret still verifies tokens.
    pub grace_ms: u64,
}

impl RotateSecretArgs {
    /// Parses a rotation as operators write it.
    pub fn parse(kid: &str, secret_hex: &str, grace_ms: u64) -> Result<Self, Refusal> {
        let kid = Kid::parse(kid).map_err(|error| Code::InvalidKid.refusal().at("kid").because(error))?;
        let secret = Secret::from_hex(secret_hex)
            .map_err(|error| Code::InvalidSecretHex.refusal().at("secret_hex").because(error))?;
        let args = Self { kid, secret, grace_ms };
        args.check()?;
        Ok(args)
    }

    pub fn check(&self) -> Result<(), Refusal> {
        let weak = |error| Code::InvalidSecretHex.refusal().at("secret_hex").because(error);
        self.secret.check_strength().map_err(weak)?;
        check_limit(Code::InvalidGraceMs, "grace_ms", limits::SPAN_MAX_MS, self.grace_ms)
    }
}

/// The rotation of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RotatePartitionArgs {
    pub partition: u16,
    pub rotation: RotateSecretArgs,
}

/// Result of a rotation on one partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum RotatedSecret {
    /// The new secret is current.
    Rotated {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        previous_kid: Option<Kid>,
        new_kid: Kid,
        /// Number of expired secrets removed.
        gc_count: usize,
    },
    /// The same secret already existed under this name.
    Noop { kid: Kid },
}

impl Command for RotatePartitionArgs {
    type Reply = RotatedSecret;

    fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        check_partition(self.partition, partitions).and(self.rotation.check())
    }

    fn partition(&self, _: &PartitionConfig) -> u16 {
        self.partition
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<RotatedSecret>, Stop> {
        let before = view.ring(self.partition)?.cloned().unwrap_or_default();
        let (rotated, after) = rotate(&before, &self.rotation, at.now)?;
        Ok(Decision { ring: after.map(|after| (self.partition, after)), ..Decision::of(rotated, None) })
    }
}

/// Makes a secret the current one of a ring. Repeating the call changes nothing, so a rotation that reached only some
/// partitions can be repeated on all of them.
///
/// A kid names one secret for as long as the secret verifies, and cannot be used for another one in that time. A
/// retired secret that still verifies becomes current again, and no longer expires.
fn rotate(
    ring: &KeyRing,
    args: &RotateSecretArgs,
    now: TimestampMs,
) -> Result<(RotatedSecret, Option<KeyRing>), Refusal> {
    if let Some(known) = ring.keys.get(&args.kid).filter(|known| known.is_live(now)) {
        if known.secret != args.secret {
            return Err(Code::RotationConflict.refusal().at("kid"));
        }
        if ring.current.as_ref() == Some(&args.kid) {
            return Ok((RotatedSecret::Noop { kid: args.kid.clone() }, None));
        }
    }
    let mut after = ring.clone();
    after.keys.retain(|_, key| key.is_live(now));
    let gc_count = ring.keys.len() - after.keys.len();
    if after.keys.len() >= limits::RING_KIDS && !after.keys.contains_key(&args.kid) {
        return Err(Refusal::over_limit(Code::LimitExceeded, "kid", limits::RING_KIDS, after.keys.len() + 1));
    }
    let previous_kid = after.current.replace(args.kid.clone());
    if let Some(previous) = previous_kid.as_ref().and_then(|kid| after.keys.get_mut(kid)) {
        previous.expires_at = Some(now + args.grace_ms);
    }
    after.keys.insert(args.kid.clone(), RingKey { secret: args.secret.clone(), expires_at: None });
    Ok((RotatedSecret::Rotated { previous_kid, new_kid: args.kid.clone(), gc_count }, Some(after)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::samples::at;
    use crate::token::contracts::Kids;

    fn args(kid: &str, secret: &str, grace_ms: u64) -> RotateSecretArgs {
        RotateSecretArgs::parse(kid, &secret.repeat(16), grace_ms).unwrap()
    }

    fn rotated(ring: &KeyRing, args: &RotateSecretArgs, now: TimestampMs) -> KeyRing {
        rotate(ring, args, now).unwrap().1.unwrap()
    }

    fn kids(ring: &KeyRing, now: TimestampMs) -> (Option<String>, Vec<String>) {
        let Kids { current_kid, verifying } = ring.kids(now);
        (current_kid.map(|kid| kid.to_string()), verifying.into_iter().map(|retired| retired.kid.to_string()).collect())
    }

    #[test]
    fn several_retired_secrets_are_alive_at_once_each_for_its_own_grace() {
        let a = rotated(&KeyRing::default(), &args("a", "0a", 0), at(0));
        let b = rotated(&a, &args("b", "0b", 1_000), at(10));
        let c = rotated(&b, &args("c", "0c", 500), at(20));
        assert_eq!(kids(&c, at(519)), (Some("c".into()), vec!["a".into(), "b".into()]));
        assert_eq!(kids(&c, at(520)), (Some("c".into()), vec!["a".into()]));
        assert_eq!(kids(&c, at(1_010)), (Some("c".into()), vec![]));
    }

    #[test]
    fn the_same_rotation_again_changes_nothing() {
        let a = rotated(&KeyRing::default(), &args("a", "0a", 0), at(0));
        let b = rotated(&a, &args("b", "0b", 1_000), at(10));
        for repeated in [args("b", "0b", 1_000), args("b", "0b", 5)] {
            let noop = RotatedSecret::Noop { kid: repeated.kid.clone() };
            assert_eq!(rotate(&b, &repeated, at(20)), Ok((noop, None)));
        }
    }

    #[test]
    fn a_kid_that_still_verifies_becomes_current_again() {
        let a = rotated(&KeyRing::default(), &args("a", "0a", 0), at(0));
        let b = rotated(&a, &args("b", "0b", 1_000), at(10));
        let (outcome, back) = rotate(&b, &args("a", "0a", 500), at(20)).unwrap();
        let (previous_kid, new_kid) = (Kid::parse("b").ok(), Kid::parse("a").unwrap());
        assert_eq!(outcome, RotatedSecret::Rotated { previous_kid, new_kid, gc_count: 0 });
        let back = back.unwrap();
        assert_eq!(kids(&back, at(519)), (Some("a".into()), vec!["b".into()]));
        assert_eq!(kids(&back, at(520)), (Some("a".into()), vec![]));
        assert_eq!(kids(&back, at(2_000)), (Some("a".into()), vec![]), "it does not expire any more");
    }

    #[test]
    fn a_kid_that_verifies_stands_for_one_secret() {
        let a = rotated(&KeyRing::default(), &args("a", "0a", 0), at(0));
        let b = rotated(&a, &args("b", "0b", 1_000), at(10));
        for kid in ["a", "b"] {
            assert_eq!(rotate(&b, &args(kid, "ff", 0), at(20)).unwrap_err().code, Code::RotationConflict);
        }
        assert!(rotate(&b, &args("a", "ff", 0), at(1_010)).is_ok(), "a kid that is gone may come again");
    }

    #[test]
    fn the_next_rotation_removes_expired_secrets() {
        let a = rotated(&KeyRing::default(), &args("a", "0a", 0), at(0));
        let b = rotated(&a, &args("b", "0b", 0), at(10));
        assert_eq!(b.keys.len(), 2, "its token can still be told that it expired");
        let (outcome, c) = rotate(&b, &args("c", "0c", 1_000), at(20)).unwrap();
        let (previous_kid, new_kid) = (Kid::parse("b").ok(), Kid::parse("c").unwrap());
        assert_eq!(outcome, RotatedSecret::Rotated { previous_kid, new_kid, gc_count: 1 });
        assert_eq!(c.unwrap().keys.len(), 2);
    }

    #[test]
    fn a_ring_is_bounded() {
        let mut ring = KeyRing::default();
        for nth in 0..limits::RING_KIDS {
            ring = rotated(&ring, &args(&format!("k{nth}"), "0a", 1_000), at(0));
        }
        assert_eq!(rotate(&ring, &args("more", "0a", 0), at(0)).unwrap_err().code, Code::LimitExceeded);
        assert!(rotate(&ring, &args("k0", "0a", 0), at(0)).is_ok(), "one it has takes no room");
    }

    #[test]
    fn a_rotation_says_what_is_wrong_with_it_and_never_the_secret() {
        for (kid, secret, grace_ms, code, field) in [
            ("", "00", 0, Code::InvalidKid, "kid"),
            ("a:b", "00", 0, Code::InvalidKid, "kid"),
            ("a", "", 0, Code::InvalidSecretHex, "secret_hex"),
            ("a", "5ec4e7f", 0, Code::InvalidSecretHex, "secret_hex"),
            ("a", "5ec4e7", 0, Code::InvalidSecretHex, "secret_hex"),
            ("a", &"00".repeat(16), limits::SPAN_MAX_MS + 1, Code::InvalidGraceMs, "grace_ms"),
        ] {
            let refusal = RotateSecretArgs::parse(kid, secret, grace_ms).unwrap_err();
            assert_eq!((refusal.code, refusal.field.as_deref()), (code, Some(field)));
            assert!(!refusal.to_string().contains("5ec4e7"), "{refusal}");
        }
        let args = RotateSecretArgs::parse("a", &"5ec4e7".repeat(6), limits::SPAN_MAX_MS).unwrap();
        assert!(!format!("{args:?}").contains("5ec4e7"));
    }
}
