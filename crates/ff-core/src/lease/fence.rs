//! The fence: a holder's proof that its lease is current.

use serde::{Deserialize, Serialize, Serializer};

use crate::engine_error::{Code, Refusal};
use crate::types::{AttemptId, LeaseEpoch, LeaseId};

/// Lease, epoch and attempt together. All three must be the current ones for a write to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Fence {
    pub lease_id: LeaseId,
    pub lease_epoch: LeaseEpoch,
    pub attempt_id: AttemptId,
}

impl Fence {
    /// Builds a fence from the fields that a caller sent. Refuses a call that omits all of them or some of them.
    pub fn from_parts(
        lease_id: Option<LeaseId>,
        lease_epoch: Option<LeaseEpoch>,
        attempt_id: Option<AttemptId>,
    ) -> Result<Self, Refusal> {
        match (lease_id, lease_epoch, attempt_id) {
            (Some(lease_id), Some(lease_epoch), Some(attempt_id)) => Ok(Self { lease_id, lease_epoch, attempt_id }),
            (None, None, None) => Err(Code::FenceRequired.refusal()),
            _ => Err(Code::PartialFenceTriple.refusal()),
        }
    }
}

/// Serializes a fence without field names, as in stored records, because every execution has one. Deserialization
/// accepts both forms.
pub(super) fn without_names<S: Serializer>(fence: &Fence, serializer: S) -> Result<S::Ok, S::Error> {
    (fence.lease_id, fence.lease_epoch, fence.attempt_id).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_all_three_or_none() {
        let (lease, attempt) = (LeaseId::new(), AttemptId::new());
        assert!(Fence::from_parts(Some(lease), Some(LeaseEpoch(1)), Some(attempt)).is_ok());
        let none = Fence::from_parts(None, None, None).unwrap_err();
        assert_eq!(none.code, Code::FenceRequired);
        let some = Fence::from_parts(Some(lease), None, Some(attempt)).unwrap_err();
        assert_eq!(some.code, Code::PartialFenceTriple);
    }
}
