//! What the doctor found, as it travels.

use ff_engine::Examined;
use serde::{Deserialize, Serialize};

/// What was looked at, and what should not be so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DoctorReport {
    pub partitions: u16,
    pub executions: usize,
    pub findings: Vec<Finding>,
}

/// One thing that should not be so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The invariant it breaks.
    pub invariant: String,
    pub about: String,
    pub what: String,
}

impl DoctorReport {
    /// This report and another, as one.
    pub fn add(&mut self, other: DoctorReport) {
        self.partitions += other.partitions;
        self.executions += other.executions;
        self.findings.extend(other.findings);
    }
}

impl From<Examined> for DoctorReport {
    fn from(examined: Examined) -> Self {
        let findings = examined.findings.into_iter().map(|finding| Finding {
            invariant: finding.invariant.to_owned(),
            about: finding.about,
            what: finding.what,
        });
        Self { partitions: examined.partitions, executions: examined.executions, findings: findings.collect() }
    }
}
