//! The doctor's findings, on the wire.

use ff_core::partition::PartitionConfig;
use ff_core::types::Namespace;
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
    /// The findings of one partition.
    pub fn of_partition(executions: usize, findings: Vec<ff_core::doctor::Finding>) -> Self {
        Self { partitions: 1, executions, findings: findings.into_iter().map(Finding::from).collect() }
    }

    /// This report and another, as one.
    pub fn add(&mut self, other: DoctorReport) {
        self.partitions += other.partitions;
        self.executions += other.executions;
        self.findings.extend(other.findings);
    }
}

impl From<ff_core::doctor::Finding> for Finding {
    fn from(found: ff_core::doctor::Finding) -> Self {
        Self { invariant: found.invariant.to_owned(), about: found.about, what: found.what }
    }
}

/// How many partitions the store was made with, by which a client places what it submits, where links lead, and whose work the
/// caller's key is for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Deployment {
    #[serde(flatten)]
    pub partitions: PartitionConfig,
    /// The address outsiders reach the server by; absent where it was told none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// The one namespace the caller's key is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
}
