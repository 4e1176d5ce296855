//! Reserving: before a claim, a budget reserves the estimated usage of an execution, and releases the rest when the lease ends.

use super::ledger::{BudgetLedger, Claimant, Draw};
use super::{Balance, Budget};
use crate::limits;
use crate::operation::command::{Conditions, Decision};
use crate::quota::contracts::{
    AdmissionVerdict, AdmissionVerdicts, AdmissionsSettled, AdmitArgs, SettleAdmissionsArgs, SlotRequest,
    WokenExecution,
};
use crate::quota::{QuotaRowName, SlotState};
use crate::rule::view::{Stop, View};
use crate::types::{BudgetId, ClaimId, TimestampMs};

/// Decides on a request to a budget, in the same form as a request to a quota policy. The key of an execution is its kind.
pub(crate) fn reserve(
    args: &AdmitArgs,
    id: BudgetId,
    view: &dyn View,
    at: &Conditions,
) -> Result<Decision<AdmissionVerdicts>, Stop> {
    let mut ledger = BudgetLedger::of(view, id);
    ledger
        .require(args.requests.iter().map(|request| QuotaRowName::Slot(request.key.clone(), request.execution_id)))?;
    let known = ledger.definition()?.and_then(|(_, budget)| budget);
    let Some(budget) = known.filter(|budget| budget.revision == args.revision) else {
        return Ok(Decision::of(AdmissionVerdicts { name: None, at: at.now, verdicts: Vec::new() }, None));
    };
    let mut balance = ledger.balance(Some(&budget), at.now)?;
    let mut verdicts = Vec::with_capacity(args.requests.len());
    for request in &args.requests {
        verdicts.push(evaluate(&mut ledger, &budget, &mut balance, (request, args.claim_id), at.now)?);
    }
    ledger.put_balance(balance);
    Ok(ledger.into_decision(AdmissionVerdicts { name: Some(budget.name.to_string()), at: at.now, verdicts }))
}

fn evaluate(
    ledger: &mut BudgetLedger<'_>,
    budget: &Budget,
    balance: &mut Balance,
    (SlotRequest { key, execution_id, epoch }, claim_id): (&SlotRequest, Option<ClaimId>),
    now: TimestampMs,
) -> Result<AdmissionVerdict, Stop> {
    let mut draw = ledger.draw(key, execution_id)?;
    let mut place = None;
    match draw.slot {
        Some(mut slot) if slot.epoch == *epoch && matches!(slot.state, SlotState::Held { .. }) => {
            let is_anothers = slot.claim_id.is_some() && slot.claim_id != claim_id;
            if is_anothers && now < slot.at + limits::QUOTA_RESERVED_MS {
                return Ok(AdmissionVerdict::ReservedForOther);
            }
            (slot.at, slot.claim_id) = (now, claim_id);
            ledger.put_draw(key, *execution_id, Draw { slot: Some(slot), ..draw });
            return Ok(AdmissionVerdict::Admitted);
        }
        // An older claim arrives late; it can no longer take the execution.
        Some(slot) if slot.epoch > *epoch => return Ok(AdmissionVerdict::ReservedForOther),
        None if claim_id.is_none() => return Ok(AdmissionVerdict::ReservedForOther),
        Some(slot) => match slot.state {
            // The reservation belongs to an earlier lease, which is over.
            SlotState::Held { .. } => ledger.give_up(balance, &mut draw),
            SlotState::Waiting { place: its } => place = Some(its),
        },
        None => {}
    }
    let need = budget.estimate(key);
    if let Some((dimension, used, limit)) = balance.lacks(budget, &need) {
        let who = Claimant { draw, execution_id: *execution_id, epoch: *epoch, claim_id };
        ledger.enqueue(balance, key, who, place, now);
        let retry_at = balance.period.until;
        return Ok(AdmissionVerdict::Refused { used, limit, retry_at, dimension: Some(dimension) });
    }
    ledger.give_up(balance, &mut draw);
    let who = Claimant { draw, execution_id: *execution_id, epoch: *epoch, claim_id };
    ledger.hold(balance, key, who, need, now);
    Ok(AdmissionVerdict::Admitted)
}

/// Releases the rest of reservations and reserves it for the waiting executions, in the order of their arrival. An
/// execution that needs more than is left keeps its place, and others pass it.
pub(crate) fn release(
    args: &SettleAdmissionsArgs,
    id: BudgetId,
    view: &dyn View,
    at: &Conditions,
) -> Result<Decision<AdmissionsSettled>, Stop> {
    let mut ledger = BudgetLedger::of(view, id);
    ledger.require(args.releases.iter().map(|one| QuotaRowName::Slot(one.key.clone(), one.execution_id)))?;
    let budget = ledger.definition()?.and_then(|(_, budget)| budget);
    let mut balance = ledger.balance(budget.as_ref(), at.now)?;
    let mut settled = AdmissionsSettled::default();
    for one in &args.releases {
        let mut draw = ledger.draw(&one.key, &one.execution_id)?;
        if draw.slot.is_some_and(|slot| slot.epoch == one.epoch && one.guard.means(&slot)) {
            ledger.give_up(&mut balance, &mut draw);
            ledger.put_draw(&one.key, one.execution_id, draw);
            settled.released += 1;
        }
    }
    for (_, key, execution_id, epoch) in ledger.line(&balance)? {
        let mut draw = ledger.draw(&key, &execution_id)?;
        let need = budget.as_ref().map(|budget| budget.estimate(&key));
        if let (Some(budget), Some(need)) = (&budget, &need) {
            if balance.lacks(budget, &super::Amounts::new()).is_some() {
                break;
            }
            if balance.lacks(budget, need).is_some() {
                continue;
            }
        }
        ledger.give_up(&mut balance, &mut draw);
        match need {
            // A deleted budget limits nothing.
            None => ledger.put_draw(&key, execution_id, draw),
            Some(need) => {
                let who = Claimant { draw, execution_id, epoch, claim_id: None };
                ledger.hold(&mut balance, &key, who, need, at.now);
            }
        }
        settled.woken.push(WokenExecution { key, execution_id, epoch });
    }
    ledger.trim_queue(&mut balance)?;
    ledger.put_balance(balance);
    Ok(ledger.into_decision(settled))
}
