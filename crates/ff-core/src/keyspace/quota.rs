//! The keys of a quota policy and of the policies on a partition.

use super::keys;
use crate::partition::Partition;
use crate::types::{ExecutionId, QuotaPolicyId};

/// Builds the keys of one quota policy.
#[derive(Clone, Debug)]
pub struct QuotaKeyContext {
    tag: String,
    qid: String,
}

impl QuotaKeyContext {
    /// The keys of the policy `qid`, which lives on `partition`.
    pub fn new(partition: &Partition, qid: &QuotaPolicyId) -> Self {
        Self { tag: partition.hash_tag(), qid: qid.to_string() }
    }

    /// The tag all these keys share, with its braces.
    pub fn hash_tag(&self) -> &str {
        &self.tag
    }
}

keys! { QuotaKeyContext { tag, qid }
    /// Its windows and caps.
    definition() => "ff:quota:{tag}:{qid}";
    /// The admissions within the sliding window of one dimension, by time.
    window(dimension: &str) => "ff:quota:{tag}:{qid}:window:{dimension}";
    /// How many slots are held.
    concurrency() => "ff:quota:{tag}:{qid}:concurrency";
    /// That one execution was admitted.
    admitted(eid: &ExecutionId) => "ff:quota:{tag}:{qid}:admitted:{eid}";
    /// Every execution admitted, so that they can be walked.
    admitted_set() => "ff:quota:{tag}:{qid}:admitted_set";
    /// Its usage, by value of its key.
    usage() => "ff:quota:{tag}:{qid}:use";
    /// The executions that wait for a slot, by their place.
    waiters(dimension: &str) => "ff:quota:{tag}:{qid}:waiters:{dimension}";
}

/// The policies that live on a partition.
pub fn quota_policies_index(tag: &str) -> String {
    format!("ff:idx:{tag}:quota_policies")
}

/// The policies attached to a scope.
pub fn quota_attach_key(tag: &str, scope_type: &str, scope_id: &str) -> String {
    format!("ff:quota_attach:{tag}:{scope_type}:{scope_id}")
}
