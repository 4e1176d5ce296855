//! Settlement: slots whose leases have ended, or that were not used, are given to waiting executions.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::ledger::{Claimant, Ledger};
use super::{QuotaPolicy, QuotaRowName, QuotaUse, SlotRow};
use crate::budget;
use crate::engine_error::{Code, Refusal, check_limit};
use crate::limits;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, quota_home};
use crate::rule::view::{Stop, View};
use crate::types::{ClaimId, ExecutionId, LeaseEpoch, QuotaPolicyId, TimestampMs};

/// Releases slots of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettleAdmissionsArgs {
    pub policy_id: QuotaPolicyId,
    pub releases: Vec<AdmissionRelease>,
    /// Further values of the key to update: old admissions leave the window, and waiting executions get free slots.
    pub keys: Vec<String>,
}

/// A slot to release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmissionRelease {
    pub key: String,
    pub execution_id: ExecutionId,
    pub epoch: LeaseEpoch,
    /// True when no lease used the slot, so that its admission does not count in the window either.
    pub is_unused: bool,
    pub guard: ReleaseGuard,
}

/// The reservation to release. A slot that has been reserved again since then is left alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReleaseGuard {
    /// Any reservation, because a lease under its epoch can no longer exist.
    #[default]
    Any,
    /// The reservation for this claim.
    Claim(ClaimId),
    /// The reservation made at this time.
    Since(TimestampMs),
}

impl ReleaseGuard {
    pub(crate) fn means(self, slot: &SlotRow) -> bool {
        match self {
            Self::Any => true,
            Self::Claim(claim_id) => slot.claim_id == Some(claim_id),
            Self::Since(at) => slot.at == at,
        }
    }
}

/// The result of releasing slots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdmissionsSettled {
    /// Number of slots released. The others had been released before.
    pub released: u32,
    /// Executions that no longer wait in the queue, to be unblocked.
    pub woken: Vec<WokenExecution>,
}

/// An execution that left the queue. It has a slot, unless the window had no room or the policy was deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WokenExecution {
    pub key: String,
    pub execution_id: ExecutionId,
    pub epoch: LeaseEpoch,
}

impl Command for SettleAdmissionsArgs {
    type Reply = AdmissionsSettled;

    fn check(&self, _: &PartitionConfig) -> Result<(), Refusal> {
        check_limit(Code::LimitExceeded, "releases", limits::QUOTA_SETTLE, self.releases.len() + self.keys.len())
    }

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        quota_home(&self.policy_id, partitions)
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<AdmissionsSettled>, Stop> {
        if let Some(budget_id) = self.policy_id.budget() {
            return budget::release(self, budget_id, view, at);
        }
        let mut ledger = Ledger::of(view, self.policy_id);
        let keys: BTreeSet<_> = self.releases.iter().map(|release| &release.key).chain(&self.keys).collect();
        let slots = self.releases.iter().map(|one| QuotaRowName::Slot(one.key.clone(), one.execution_id));
        let uses = keys.iter().map(|key| QuotaRowName::Use((*key).clone()));
        ledger.require(slots.chain(uses).chain([QuotaRowName::Policy]))?;
        // A deleted policy limits nothing, so all waiting executions are woken.
        let policy = ledger.definition()?.and_then(|(_, policy)| policy);
        let mut settled = AdmissionsSettled::default();
        for one in &self.releases {
            if let Some(slot) = ledger.slot(&one.key, &one.execution_id)?
                && slot.epoch == one.epoch
                && one.guard.means(&slot)
            {
                let mut usage = ledger.usage(&one.key)?;
                ledger.release(&one.key, &mut usage, one.execution_id, slot.state, one.is_unused)?;
                ledger.put_usage(&one.key, usage);
                settled.released += 1;
            }
        }
        for key in keys {
            let mut usage = ledger.usage(key)?;
            ledger.trim(key, &mut usage, policy.as_ref().and_then(|policy| policy.rate), at.now)?;
            wake(&mut ledger, policy.as_ref(), key, &mut usage, at.now, &mut settled.woken)?;
            ledger.put_usage(key, usage);
        }
        Ok(ledger.into_decision(settled))
    }
}

/// Gives free slots to waiting executions, in the order of the queue. When the window has no room, as many executions
/// as there are free slots are woken without a slot, so that their next claim learns when the window has room.
fn wake(
    ledger: &mut Ledger<'_>,
    policy: Option<&QuotaPolicy>,
    key: &str,
    usage: &mut QuotaUse,
    now: TimestampMs,
    woken: &mut Vec<WokenExecution>,
) -> Result<(), Stop> {
    let most = policy.and_then(|policy| policy.max_concurrent).map_or(u64::MAX, u64::from);
    let mut free = most.saturating_sub(usage.slots).min(limits::QUOTA_STEP as u64);
    let mut looks = limits::QUOTA_STEP as u64;
    let last = usage.next_waiter.min(usage.first_waiter + free);
    ledger.require((usage.first_waiter..last).map(|place| QuotaRowName::Waiter(key.to_owned(), place)))?;
    while free > 0
        && let Some((execution_id, epoch)) = ledger.next_waiter(key, usage, &mut looks)?
    {
        free -= 1;
        let rate = policy.and_then(|policy| policy.rate);
        if policy.is_some() && rate.is_none_or(|rate| usage.in_window < rate.limit) {
            ledger.hold(key, usage, Claimant { execution_id, epoch, claim_id: None }, rate, now);
        }
        woken.push(WokenExecution { key: key.to_owned(), execution_id, epoch });
    }
    Ok(())
}
