//! What operators ask of the secrets behind tokens, and what they are told.

use serde::{Deserialize, Serialize};

use super::{KeyRing, Secret};
use crate::engine_error::{Code, EngineError, Refusal};
use crate::limits;
use crate::types::{Kid, TimestampMs};

/// An operator brings a new secret. It goes to every partition, since each verifies in its own slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RotateSecretArgs {
    pub kid: Kid,
    pub secret: Secret,
    /// How long the secret before goes on verifying.
    pub grace_ms: u64,
}

impl RotateSecretArgs {
    /// Reads a rotation as operators write it.
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
        if self.grace_ms > limits::SPAN_MAX_MS {
            return Err(Refusal::over_limit(Code::InvalidGraceMs, "grace_ms", limits::SPAN_MAX_MS, self.grace_ms));
        }
        Ok(())
    }
}

/// The rotation of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RotatePartitionArgs {
    pub partition: u16,
    pub rotation: RotateSecretArgs,
}

/// What became of a rotation on one partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Rotated {
    /// The new secret is current.
    Rotated {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        previous_kid: Option<Kid>,
        new_kid: Kid,
        /// Retired secrets that were thrown away.
        gc_count: usize,
    },
    /// The kid was there with this secret.
    Noop { kid: Kid },
}

/// What became of a rotation everywhere. Repeating it finishes what did not get through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RotationReport {
    pub rotated: Vec<(u16, Rotated)>,
    pub failed: Vec<(u16, EngineError)>,
}

impl RotationReport {
    /// Enters what one partition answered.
    pub fn enter(&mut self, partition: u16, answer: Result<Rotated, EngineError>) {
        match answer {
            Ok(rotated) => self.rotated.push((partition, rotated)),
            Err(error) => self.failed.push((partition, error)),
        }
    }

    /// Whether every partition has the new secret.
    pub fn is_complete(&self) -> bool {
        self.failed.is_empty()
    }
}

/// The names of the secrets of a partition: the one that signs, and those that only verify.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Kids {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_kid: Option<Kid>,
    pub verifying: Vec<RetiredKid>,
}

/// A secret that only verifies, and until when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetiredKid {
    pub kid: Kid,
    pub expires_at: TimestampMs,
}

/// The names of the secrets of one partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartitionKids {
    pub partition: u16,
    #[serde(flatten)]
    pub kids: Kids,
}

impl KeyRing {
    /// The names of the secrets that verify now.
    pub fn kids(&self, now: TimestampMs) -> Kids {
        let retired = self.keys.iter().filter(|(_, key)| key.is_live(now));
        let retired =
            retired.filter_map(|(kid, key)| Some(RetiredKid { kid: kid.clone(), expires_at: key.expires_at? }));
        Kids { current_kid: self.current.clone(), verifying: retired.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
