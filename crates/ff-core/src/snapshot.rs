//! Everything a partition holds, as a value: what tests compare between stores and what the doctor examines.

use std::collections::BTreeMap;

use crate::change::KeyEntry;
use crate::execution::{Attempt, Execution};
use crate::index::{Index, Score};
use crate::lease::LeaseEvent;
use crate::payload::Payload;
use crate::types::ExecutionId;

/// The contents of one partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    pub executions: BTreeMap<ExecutionId, Execution>,
    /// Archived attempts, in the order of their index.
    pub attempts: BTreeMap<ExecutionId, Vec<Attempt>>,
    /// Lease history, oldest first.
    pub leases: BTreeMap<ExecutionId, Vec<LeaseEvent>>,
    pub payloads: BTreeMap<ExecutionId, Payload>,
    pub results: BTreeMap<ExecutionId, Payload>,
    /// Idempotency keys that are remembered, by namespace and key.
    pub keys: BTreeMap<(String, String), KeyEntry>,
    /// Every index as stored, not as computed.
    pub indexes: BTreeMap<Index, BTreeMap<ExecutionId, Score>>,
    /// What a store keeps of an execution for its own sake and that does not follow from the record. Only the store can
    /// tell; there is nothing of the kind when all is well.
    pub strays: Vec<(ExecutionId, String)>,
}
