//! The secrets of tokens on the wire. No answer contains a secret.

use ff_core::contracts::{self, PartitionKids, RotateSecretArgs};
use ff_core::engine_error::Refusal;
use ff_core::limits;

use crate::object::{answers, requests};
use crate::{Problem, RedactedText};

requests! {
    /// Installs a new secret.
    pub struct RotateSecret {
        /// Name of the new secret. An invalid name has its own error code.
        pub kid: String,
        pub secret_hex: RedactedText,
        /// How long the previous secret still verifies tokens.
        pub grace_ms: Option<u64>,
    }
}

impl RotateSecret {
    pub fn of(args: &RotateSecretArgs) -> Self {
        let secret_hex = RedactedText(args.secret.expose_hex());
        Self { kid: args.kid.to_string(), secret_hex, grace_ms: Some(args.grace_ms) }
    }

    pub fn into_args(self) -> Result<RotateSecretArgs, Refusal> {
        RotateSecretArgs::parse(&self.kid, &self.secret_hex.0, self.grace_ms.unwrap_or(limits::SECRET_GRACE_MS))
    }
}

answers! {
    /// Result of a rotation, per partition. Repeat the call to finish failed partitions.
    pub struct RotationReport {
        pub rotated: Vec<RotatedPartition>,
        pub failed: Vec<FailedPartition>,
    }

    /// A partition that has the new secret.
    pub struct RotatedPartition {
        pub partition: u16,
        #[serde(flatten)]
        pub rotated: contracts::RotatedSecret,
    }

    /// A partition without the new secret, and why.
    pub struct FailedPartition {
        pub partition: u16,
        pub error: Problem,
    }
}

impl From<contracts::RotationReport> for RotationReport {
    fn from(report: contracts::RotationReport) -> Self {
        let rotated = report.rotated.into_iter().map(|(partition, rotated)| RotatedPartition { partition, rotated });
        let failed =
            report.failed.into_iter().map(|(partition, error)| FailedPartition { partition, error: error.into() });
        Self { rotated: rotated.collect(), failed: failed.collect() }
    }
}

impl From<RotationReport> for contracts::RotationReport {
    fn from(report: RotationReport) -> Self {
        Self {
            rotated: report.rotated.into_iter().map(|one| (one.partition, one.rotated)).collect(),
            failed: report.failed.into_iter().map(|one| (one.partition, one.error.into_error())).collect(),
        }
    }
}

answers! {
    /// The names of the secrets of every partition.
    pub struct Secrets {
        pub partitions: Vec<PartitionKids>,
    }
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::RotatedSecret;
    use ff_core::engine_error::{Code, EngineError};
    use ff_core::json;
    use ff_core::types::Kid;

    use super::*;

    #[test]
    fn a_rotation_arrives_as_it_was_sent() {
        let args = RotateSecretArgs::parse("k2", "c0ffee5ec4e7c0ffee5ec4e7c0ffee5e", 5).unwrap();
        let text = serde_json::to_vec(&RotateSecret::of(&args)).unwrap();
        assert_eq!(json::read::<RotateSecret>(&text).and_then(RotateSecret::into_args), Ok(args));
        let rotation = json::read::<RotateSecret>(br#"{"kid":"k2","secret_hex":"c0ffee5ec4e7c0ffee5ec4e7c0ffee5e"}"#)
            .unwrap()
            .into_args()
            .unwrap();
        assert_eq!(rotation.grace_ms, limits::SECRET_GRACE_MS);
    }

    #[test]
    fn a_report_arrives_as_it_was_sent() {
        let kid = |text| Kid::parse(text).unwrap();
        let mut report = contracts::RotationReport::default();
        report.enter(0, Ok(RotatedSecret::Rotated { previous_kid: Some(kid("k1")), new_kid: kid("k2"), gc_count: 1 }));
        report.enter(1, Ok(RotatedSecret::Noop { kid: kid("k2") }));
        report.enter(2, Err(EngineError::Unknown("no answer".into())));
        report.enter(3, Err(Code::RotationConflict.into()));
        let text = serde_json::to_string(&RotationReport::from(report.clone())).unwrap();
        let back = serde_json::from_str::<RotationReport>(&text).unwrap();
        assert_eq!(contracts::RotationReport::from(back), report, "{text}");
    }
}
