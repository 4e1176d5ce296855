//! Copies of policies: every partition receives the policies of a namespace.

use serde::{Deserialize, Serialize};

use super::{QuotaSet, QuotaWrites};
use crate::engine_error::Refusal;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, check_partition};
use crate::rule::view::{Stop, View};

/// Copies the policies of a namespace to a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyQuotasArgs {
    pub partition: u16,
    pub set: QuotaSet,
}

/// The revision that the partition knows afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotasCopied {
    pub revision: u64,
}

impl Command for CopyQuotasArgs {
    type Reply = QuotasCopied;

    fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        check_partition(self.partition, partitions)
    }

    fn partition(&self, _: &PartitionConfig) -> u16 {
        self.partition
    }

    /// Stores the policies if they are newer than those that the partition knows.
    fn decide(&self, view: &dyn View, _: &Conditions) -> Result<Decision<QuotasCopied>, Stop> {
        let known = view.quotas(self.partition, &self.set.namespace)?.map_or(0, |known| known.revision);
        let is_newer = known < self.set.revision;
        let sets = if is_newer { vec![(self.partition, self.set.clone())] } else { Vec::new() };
        let copied = QuotasCopied { revision: known.max(self.set.revision) };
        Ok(Decision::about_quotas(copied, QuotaWrites { sets, rows: Vec::new() }))
    }
}
