//! The part of an execution that seldom changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

use crate::payload::Fingerprint;
use crate::policy::{self, Policy};
use crate::step::ForkOrigin;
use crate::trace::TraceContext;
use crate::types::{
    ExecutionId, FairKey, IdempotencyKey, Kind, LaneId, Namespace, Priority, TagKey, TagValue, TimestampMs,
};

/// Tags of an execution, by which it can be found.
pub type Tags = BTreeMap<TagKey, TagValue>;

/// The part of an execution that seldom changes: the submitted values, and those that are fixed at submission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionDefinition {
    pub id: ExecutionId,
    // Default values are not written.
    #[serde(default = "Namespace::default_name", skip_serializing_if = "Namespace::is_default")]
    pub namespace: Namespace,
    #[serde(default = "LaneId::default_name", skip_serializing_if = "LaneId::is_default")]
    pub lane: LaneId,
    pub kind: Kind,
    pub priority: Priority,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: Tags,
    #[serde(default, skip_serializing_if = "Policy::is_default", serialize_with = "policy::serialize_compact")]
    pub policy: Policy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<IdempotencyKey>,
    /// Represents the payload in rules, which never load it.
    pub fingerprint: Fingerprint,
    pub payload_bytes: u64,
    pub created_at: TimestampMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<TimestampMs>,
    /// Retention of its lane at submission, if the lane had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane_retention_ms: Option<u64>,
    /// Its key for fair queueing, if its lane was fair at submission.
    #[serde(default, skip_serializing_if = "FairKey::is_empty")]
    pub fair_key: FairKey,
    /// The trace it was submitted in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<TraceContext>>,
    /// The execution it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<Box<ForkOrigin>>,
}

pub(super) fn shared<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<ExecutionDefinition>, D::Error> {
    ExecutionDefinition::deserialize(deserializer).map(Arc::new)
}
