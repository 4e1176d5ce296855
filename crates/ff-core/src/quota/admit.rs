//! Admission: before executions are claimed, the home of each policy that applies to them reserves their slots.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::ledger::{Claimant, Ledger};
use super::{QuotaPolicy, QuotaRowName, QuotaUse, SlotRow, SlotState};
use crate::budget;
use crate::engine_error::{Code, Refusal, check_limit};
use crate::limits;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, quota_home};
use crate::rule::view::{Stop, View};
use crate::types::{ClaimId, Dimension, ExecutionId, LeaseEpoch, QuotaPolicyId, TimestampMs};

/// A request to a policy: may these executions be claimed now?
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmitArgs {
    pub policy_id: QuotaPolicyId,
    /// The revision of the policy that the partition of the executions knows.
    pub revision: u64,
    /// The claim for which admitted slots are reserved, for [`limits::QUOTA_RESERVED_MS`]. Absent when there is no claim yet:
    /// then only executions with a slot or a place in the queue are judged, and a slot is reserved for the next claim.
    pub claim_id: Option<ClaimId>,
    pub requests: Vec<SlotRequest>,
}

/// An execution to be claimed, and the epoch of the lease that the claim would create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotRequest {
    pub key: String,
    pub execution_id: ExecutionId,
    pub epoch: LeaseEpoch,
}

/// The verdicts, in the order of the requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdmissionVerdicts {
    /// The policy's name. Absent when the home knows another revision than the requested one: then nothing was decided,
    /// and there are no verdicts.
    pub name: Option<String>,
    /// Time of the decision. A reservation lasts for [`limits::QUOTA_RESERVED_MS`] from this time.
    pub at: TimestampMs,
    pub verdicts: Vec<AdmissionVerdict>,
}

/// The verdict of one policy on an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdmissionVerdict {
    /// The execution may be claimed, and its slot is reserved.
    Admitted,
    /// The slot is reserved for another claim, which is about to use it.
    ReservedForOther,
    Refused {
        used: u64,
        limit: u64,
        /// Time at which the window has room. Absent when the execution waits for a slot, which it gets when one becomes free.
        retry_at: Option<TimestampMs>,
        /// The dimension in which a budget has no room. The execution then waits for room as well as for the time.
        dimension: Option<Dimension>,
    },
}

impl Command for AdmitArgs {
    type Reply = AdmissionVerdicts;

    fn check(&self, _: &PartitionConfig) -> Result<(), Refusal> {
        check_limit(Code::LimitExceeded, "requests", limits::QUOTA_STEP, self.requests.len())
    }

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        quota_home(&self.policy_id, partitions)
    }

    /// Reserves a slot for each execution, in their order, so that executions of one request are counted together. An
    /// execution that was admitted before under the same epoch is admitted again and counts once; its reservation starts
    /// again. While a slot is reserved for one claim, no other claim gets it, because only one claim may release it.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<AdmissionVerdicts>, Stop> {
        if let Some(budget_id) = self.policy_id.budget() {
            return budget::reserve(self, budget_id, view, at);
        }
        let mut ledger = Ledger::of(view, self.policy_id);
        let keys: BTreeSet<_> = self.requests.iter().map(|request| &request.key).collect();
        let slots = self.requests.iter().map(|request| QuotaRowName::Slot(request.key.clone(), request.execution_id));
        let uses = keys.iter().map(|key| QuotaRowName::Use((*key).clone()));
        ledger.require(slots.chain(uses).chain([QuotaRowName::Policy]))?;
        let Some(policy) = self.policy(&ledger)? else {
            return Ok(Decision::of(AdmissionVerdicts { name: None, at: at.now, verdicts: Vec::new() }, None));
        };
        for key in keys {
            let mut usage = ledger.usage(key)?;
            ledger.trim(key, &mut usage, policy.rate, at.now)?;
            ledger.put_usage(key, usage);
        }
        let evaluate = |request: &SlotRequest| {
            let mut usage = ledger.usage(&request.key)?;
            let verdict = evaluate(&mut ledger, &policy, &mut usage, (request, self.claim_id), at.now)?;
            ledger.put_usage(&request.key, usage);
            Ok::<_, Stop>(verdict)
        };
        let verdicts = self.requests.iter().map(evaluate).collect::<Result<_, _>>()?;
        Ok(ledger.into_decision(AdmissionVerdicts { name: Some(policy.name.to_string()), at: at.now, verdicts }))
    }
}

impl AdmitArgs {
    /// Returns the policy, if the home knows the same revision as the partition.
    fn policy(&self, ledger: &Ledger<'_>) -> Result<Option<QuotaPolicy>, Stop> {
        let known = ledger.definition()?.and_then(|(_, policy)| policy);
        Ok(known.filter(|policy| policy.revision == self.revision))
    }
}

fn evaluate(
    ledger: &mut Ledger<'_>,
    policy: &QuotaPolicy,
    usage: &mut QuotaUse,
    (SlotRequest { key, execution_id, epoch }, claim_id): (&SlotRequest, Option<ClaimId>),
    now: TimestampMs,
) -> Result<AdmissionVerdict, Stop> {
    let who = Claimant { execution_id: *execution_id, epoch: *epoch, claim_id };
    let most = u64::from(policy.max_concurrent.unwrap_or(u32::MAX));
    let mut place = None;
    match ledger.slot(key, execution_id)? {
        // The execution was given a slot, but no claim has used it. If the policy has a rate, the new claim counts from now.
        Some(SlotRow { epoch: of, claim_id: None, state: held @ SlotState::Held { .. }, .. })
            if of == *epoch && claim_id.is_some() && policy.rate.is_some() =>
        {
            ledger.release(key, usage, *execution_id, held, true)?;
        }
        Some(slot) if slot.epoch == *epoch && matches!(slot.state, SlotState::Held { .. }) => {
            return evaluate_again(ledger, policy, usage, (key, who, slot), now);
        }
        // The request belongs to an older claim, which can no longer take the execution.
        Some(slot) if slot.epoch > *epoch => return Ok(AdmissionVerdict::ReservedForOther),
        None if claim_id.is_none() => return Ok(AdmissionVerdict::ReservedForOther),
        // The lease that used this slot has ended. The slot of the next lease is evaluated again.
        Some(SlotRow { state: held @ SlotState::Held { .. }, .. }) => {
            ledger.release(key, usage, *execution_id, held, false)?;
        }
        Some(SlotRow { state: SlotState::Waiting { place: its }, .. }) => place = Some(its),
        None => {}
    }
    if usage.slots >= most {
        ledger.enqueue(key, usage, who, place, now);
        return Ok(AdmissionVerdict::Refused { used: usage.slots, limit: most, retry_at: None, dimension: None });
    }
    if let Some(place) = place {
        ledger.release(key, usage, *execution_id, SlotState::Waiting { place }, false)?;
    }
    if let Some(full) = refuse_by_window(ledger, policy, usage, key)? {
        return Ok(full);
    }
    ledger.hold(key, usage, who, policy.rate, now);
    Ok(AdmissionVerdict::Admitted)
}

/// Evaluates an execution that has a slot. The claim that reserved the slot may have used it, so the slot and its
/// admission stay; another claim counts as one more admission.
fn evaluate_again(
    ledger: &mut Ledger<'_>,
    policy: &QuotaPolicy,
    usage: &mut QuotaUse,
    (key, who, slot): (&str, Claimant, SlotRow),
    now: TimestampMs,
) -> Result<AdmissionVerdict, Stop> {
    let mut state = slot.state;
    if slot.claim_id.is_some() && slot.claim_id != who.claim_id {
        if now < slot.at + limits::QUOTA_RESERVED_MS {
            return Ok(AdmissionVerdict::ReservedForOther);
        }
        if let Some(full) = refuse_by_window(ledger, policy, usage, key)? {
            return Ok(full);
        }
        if policy.rate.is_some() {
            state = SlotState::Held { admission: Some(ledger.count(key, usage, now)) };
        }
    }
    ledger.put_slot(key, who, state, now);
    Ok(AdmissionVerdict::Admitted)
}

fn refuse_by_window(
    ledger: &Ledger<'_>,
    policy: &QuotaPolicy,
    usage: &mut QuotaUse,
    key: &str,
) -> Result<Option<AdmissionVerdict>, Stop> {
    let Some(rate) = policy.rate.filter(|rate| usage.in_window >= rate.limit) else { return Ok(None) };
    let (used, retry_at) = (usage.in_window, Some(ledger.promise(key, usage, rate)?));
    Ok(Some(AdmissionVerdict::Refused { used, limit: rate.limit, retry_at, dimension: None }))
}
