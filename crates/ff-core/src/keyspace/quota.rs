//! The keys of a quota policy and of the policies on a partition.

use super::{key_functions, keys};
use crate::types::{ExecutionId, QuotaPolicyId};

keys! {
    /// A builder of the keys of one quota policy.
    QuotaKeyContext { tag, qid: QuotaPolicyId }

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

key_functions! {
    /// Returns the key of the policies of a partition.
    quota_policies_index(tag: &str) => "ff:idx:{tag}:quota_policies";
    /// Returns the key of the policies attached to a scope. It is reserved and not written.
    quota_attach_key(tag: &str, scope_type: &str, scope_id: &str) => "ff:quota_attach:{tag}:{scope_type}:{scope_id}";
}
