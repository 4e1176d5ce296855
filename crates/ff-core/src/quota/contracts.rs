//! Arguments and replies about quotas, from callers and between partitions.

use serde::{Deserialize, Serialize};

use super::{QuotaPolicy, QuotaUse};
use crate::limits;
use crate::types::{ExecutionId, LeaseEpoch, Namespace, QuotaName, QuotaPolicyId, TimestampMs};

pub use super::admit::{AdmissionVerdict, AdmissionVerdicts, AdmitArgs, SlotRequest};
pub use super::copy::{CopyQuotasArgs, QuotasCopied};
pub use super::define::{DefineQuotaArgs, QuotaDefined};
pub use super::put::{PutQuotaArgs, QuotaDefinition};
pub use super::settle::{AdmissionRelease, AdmissionsSettled, ReleaseGuard, SettleAdmissionsArgs, WokenExecution};

/// Quota policies of a namespace, ordered by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Quotas {
    pub quotas: Vec<QuotaPolicy>,
}

/// A quota policy and its usage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct QuotaInfo {
    #[serde(flatten)]
    pub policy: QuotaPolicy,
    /// At most 100 key values in use, those with most executions waiting and then most slots in use first.
    pub keys: Vec<KeyUse>,
    /// True when more values are in use.
    pub more: bool,
}

/// Usage of a quota under one value of its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct KeyUse {
    /// Empty for a policy without `per`.
    pub key: String,
    /// Admissions in the window. Expired ones may be counted until the key is used again.
    pub in_window: u64,
    /// Slots in use.
    pub held: u64,
    /// Upper bound of the executions waiting for a slot; cancelled ones count until their turn.
    pub waiting: u64,
}

impl KeyUse {
    pub fn of(key: &str, usage: &QuotaUse) -> Self {
        Self { key: key.to_owned(), in_window: usage.in_window, held: usage.slots, waiting: usage.waiting() }
    }

    /// Returns the values that are listed first, and whether there are more.
    pub fn foremost(mut keys: Vec<KeyUse>) -> (Vec<KeyUse>, bool) {
        keys.sort_by(|a, b| (b.waiting, b.held, b.in_window, &a.key).cmp(&(a.waiting, a.held, a.in_window, &b.key)));
        let more = keys.len() > limits::QUOTA_KEYS_LISTED;
        keys.truncate(limits::QUOTA_KEYS_LISTED);
        (keys, more)
    }
}

/// A request for values of a policy's key that are in use, after a given value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaKeysArgs {
    pub policy_id: QuotaPolicyId,
    pub after: Option<String>,
    pub limit: usize,
}

/// The next values of a policy's key that are in use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotaKeysPage {
    pub keys: Vec<KeyUse>,
    /// Start of the next page; `None` at the end.
    pub next: Option<String>,
}

/// A request for executions that hold a slot of a policy, after a given place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaSlotsArgs {
    pub policy_id: QuotaPolicyId,
    pub after: Option<String>,
    pub limit: usize,
}

/// A page of held slots, and the start of the next page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotaSlotsPage {
    pub slots: Vec<HeldSlot>,
    pub next: Option<String>,
}

/// A held slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldSlot {
    pub key: String,
    pub execution_id: ExecutionId,
    pub epoch: LeaseEpoch,
    /// Time of the reservation.
    pub at: TimestampMs,
}

/// The reply to a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct QuotaDeleted {
    /// True when it did not exist.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub already: bool,
}

/// A reference to a policy by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaRef {
    pub namespace: Namespace,
    pub name: QuotaName,
}
