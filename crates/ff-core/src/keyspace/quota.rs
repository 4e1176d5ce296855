//! The keys of a quota policy and of the policies on a partition.

use super::keys;
use crate::partition::Partition;
use crate::types::{ExecutionId, QuotaPolicyId};

/// A builder of the keys of one quota policy.
#[derive(Clone, Debug)]
pub struct QuotaKeyContext {
    tag: String,
    qid: String,
}

impl QuotaKeyContext {
    /// Returns the builder for the policy `qid`, which is on `partition`.
    pub fn new(partition: &Partition, qid: &QuotaPolicyId) -> Self {
        Self { tag: partition.hash_tag(), qid: qid.to_string() }
    }

    /// Returns the hash tag that all these keys share, with its braces.
    pub fn hash_tag(&self) -> &str {
        &self.tag
    }
}

keys! { QuotaKeyContext { tag, qid }
    /// Its windows and caps.
    definition() => "ff:quota:{tag}:{qid}";
    /// The admissions within the sliding window of one dimension, by time.
    window(dimension: &str) => "ff:quota:{tag}:{qid}:window:{dimension}";
    /// The number of held slots.
    concurrency() => "ff:quota:{tag}:{qid}:concurrency";
    /// The slot of one execution, or its place in the queue for one.
    admitted(eid: &ExecutionId) => "ff:quota:{tag}:{qid}:admitted:{eid}";
    /// Every execution that has a slot, for iteration.
    admitted_set() => "ff:quota:{tag}:{qid}:admitted_set";
    /// The usage, by value of the policy's key.
    usage() => "ff:quota:{tag}:{qid}:use";
    /// The executions that wait for a slot, by their place in the queue.
    waiters(dimension: &str) => "ff:quota:{tag}:{qid}:waiters:{dimension}";
}

/// Returns the key of the policies of a partition.
pub fn quota_policies_index(tag: &str) -> String {
    format!("ff:idx:{tag}:quota_policies")
}

/// Returns the key of the policies attached to a scope. It is reserved and not written.
pub fn quota_attach_key(tag: &str, scope_type: &str, scope_id: &str) -> String {
    format!("ff:quota_attach:{tag}:{scope_type}:{scope_id}")
}
