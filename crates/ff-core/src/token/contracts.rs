//! Arguments and replies about the secrets of tokens, for operators.

use serde::{Deserialize, Serialize};

use super::KeyRing;
use crate::engine_error::EngineError;
use crate::types::{Kid, TimestampMs};

pub use super::rotate::{RotatePartitionArgs, RotateSecretArgs, RotatedSecret};
pub use super::stream_token::StreamTokenArgs;

/// The result of a rotation on all partitions. Repeating the rotation completes it on the partitions that failed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RotationReport {
    pub rotated: Vec<(u16, RotatedSecret)>,
    pub failed: Vec<(u16, EngineError)>,
}

impl RotationReport {
    /// Adds the reply of one partition.
    pub fn enter(&mut self, partition: u16, answer: Result<RotatedSecret, EngineError>) {
        match answer {
            Ok(rotated) => self.rotated.push((partition, rotated)),
            Err(error) => self.failed.push((partition, error)),
        }
    }

    /// Returns whether every partition has the new secret.
    pub fn is_complete(&self) -> bool {
        self.failed.is_empty()
    }
}

/// The names of the secrets of a partition: the one that signs, and those that only verify.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Kids {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_kid: Option<Kid>,
    pub verifying: Vec<RetiredKid>,
}

/// A previous secret that still verifies tokens, and until when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RetiredKid {
    pub kid: Kid,
    pub expires_at: TimestampMs,
}

/// The names of the secrets of one partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PartitionKids {
    pub partition: u16,
    #[serde(flatten)]
    pub kids: Kids,
}

impl KeyRing {
    /// Returns the names of the secrets that verify now.
    pub fn kids(&self, now: TimestampMs) -> Kids {
        let retired = self.keys.iter().filter(|(_, key)| key.is_live(now));
        let retired =
            retired.filter_map(|(kid, key)| Some(RetiredKid { kid: kid.clone(), expires_at: key.expires_at? }));
        Kids { current_kid: self.current.clone(), verifying: retired.collect() }
    }
}
