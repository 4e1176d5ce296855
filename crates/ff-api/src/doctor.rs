//! The doctor's findings, on the wire.

use ff_core::partition::PartitionConfig;
use ff_core::types::Namespace;

use crate::object::answers;
use crate::query::query;

answers! {
    /// What was checked, and the violations found.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct DoctorReport {
        pub partitions: u16,
        pub executions: usize,
        pub findings: Vec<Finding>,
    }

    /// A violated invariant.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Finding {
        /// Name of the invariant.
        pub invariant: String,
        pub about: String,
        pub what: String,
    }
}

impl DoctorReport {
    /// Makes the report of one partition.
    pub fn of_partition(executions: usize, findings: Vec<ff_core::doctor::Finding>) -> Self {
        Self { partitions: 1, executions, findings: findings.into_iter().map(Finding::from).collect() }
    }

    /// Adds the counts and findings of another report.
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

answers! {
    /// Number of partitions of the store, by which clients place submissions, the public address for links, and the
    /// namespace of the caller's key.
    #[derive(Clone, Debug)]
    pub struct Deployment {
        #[serde(flatten)]
        pub partitions: PartitionConfig,
        /// Public address of the server; absent when not configured.
        pub public_url: Option<String>,
        /// Namespace the caller's key is limited to, if any.
        pub namespace: Option<Namespace>,
    }
}

query! {
    /// Parameters of an examination.
    DoctorQuery {
        /// Only this partition (default: all).
        partition: u16,
    }
}
