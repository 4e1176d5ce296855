//! The doctor: checks the invariants over everything a partition holds.

mod flows;
mod lanes;
mod steps;
mod streams;
mod suspensions;
mod workers;

use std::collections::BTreeMap;
use std::fmt;

use crate::execution::{Attempt, AttemptSlot, Blocker, Execution, Outcome, Phase};
use crate::fairness;
use crate::index::{Index, Score, entries};
use crate::singleton;
use crate::snapshot::Snapshot;
use crate::types::{ExecutionId, LeaseEpoch, TimestampMs};

/// A violation of an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Name of the invariant.
    pub invariant: &'static str,
    pub about: String,
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.invariant, self.about, self.what)
    }
}

/// Returns all findings about a partition.
pub fn examine(snapshot: &Snapshot, partition: u16, now: TimestampMs) -> Vec<Finding> {
    let mut findings = indexes(snapshot);
    for (id, execution) in &snapshot.executions {
        let mut find = |invariant, what: String| {
            findings.push(Finding { invariant, about: id.to_string(), what });
        };
        if id.partition() != partition || execution.id != *id {
            find("I1", format!("is kept on partition {partition} under another id"));
        }
        match snapshot.payloads.get(id) {
            None => find("I1", "its payload is missing".into()),
            // A payload that an upstream's result replaced belongs to the upstream.
            Some(_) if execution.membership.as_ref().is_some_and(|membership| membership.injected_bytes.is_some()) => {}
            Some(payload) if payload.fingerprint() != execution.fingerprint => {
                find("I17", "its payload is not the one submitted".into());
            }
            Some(_) => {}
        }
        let unfinished_result = snapshot.results.contains_key(id) && outcome(execution) != Some(Outcome::Success);
        if unfinished_result {
            find("I2", "has a result without having succeeded".into());
        }
        for what in shape(execution) {
            find("I9", what);
        }
        for what in times(execution, now) {
            find("I18", what);
        }
        for (invariant, what) in lineage(execution, snapshot.attempts.get(id).map_or(&[], Vec::as_slice)) {
            find(invariant, what);
        }
        for what in overlaps(execution, snapshot) {
            find("I3", what);
        }
    }
    findings.extend(orphans(snapshot));
    findings.extend(suspensions::examine(snapshot));
    findings.extend(steps::examine(snapshot));
    findings.extend(streams::examine(snapshot));
    findings.extend(flows::examine(snapshot, partition));
    findings.extend(lanes::examine(snapshot, partition));
    findings.extend(workers::examine(snapshot, partition, now));
    findings.extend(singleton::examine(snapshot));
    findings.extend(fairness::examine(snapshot));
    findings
}

/// I8: recomputing every index from the records gives exactly the stored ones.
fn indexes(snapshot: &Snapshot) -> Vec<Finding> {
    let mut expected: BTreeMap<Index, BTreeMap<ExecutionId, Score>> = BTreeMap::new();
    for (id, execution) in &snapshot.executions {
        for (index, score) in entries(execution) {
            expected.entry(index).or_default().insert(*id, score);
        }
    }
    let mut findings = Vec::new();
    let none = BTreeMap::new();
    let all = expected.keys().chain(snapshot.indexes.keys()).collect::<std::collections::BTreeSet<_>>();
    for index in all {
        let (should, does) = (expected.get(index).unwrap_or(&none), snapshot.indexes.get(index).unwrap_or(&none));
        for id in should.keys().chain(does.keys()).collect::<std::collections::BTreeSet<_>>() {
            if should.get(id) != does.get(id) {
                let what = format!("in {index:?} should be {:?}, is {:?}", should.get(id), does.get(id));
                findings.push(Finding { invariant: "I8", about: id.to_string(), what });
            }
        }
    }
    let stray =
        |(id, what): &(ExecutionId, String)| Finding { invariant: "I8", about: id.to_string(), what: what.clone() };
    findings.extend(snapshot.strays.iter().map(stray));
    findings
}

fn outcome(execution: &Execution) -> Option<Outcome> {
    match execution.phase {
        Phase::Finished { outcome, .. } => Some(outcome),
        _ => None,
    }
}

/// I9: phase, attempt, hold and blocker of an execution agree. Otherwise no operation may be able to move it.
fn shape(execution: &Execution) -> Vec<String> {
    let mut wrong = Vec::new();
    match (&execution.phase, &execution.attempt) {
        (Phase::Running { lease }, AttemptSlot::Open(attempt)) if lease.fence.attempt_id != attempt.id => {
            wrong.push("its lease is of another attempt".into());
        }
        (Phase::Running { .. }, AttemptSlot::Next(_)) => wrong.push("is running without an attempt".into()),
        (Phase::Suspended { .. }, AttemptSlot::Next(_)) => wrong.push("is suspended without an attempt".into()),
        (Phase::Finished { .. }, AttemptSlot::Open(_)) => wrong.push("is finished with an attempt open".into()),
        _ => {}
    }
    if execution.hold.is_some() && execution.phase == Phase::Waiting {
        wrong.push("an operator holds it, yet it can be claimed".into());
    }
    let detail = execution.block_detail().map(|detail| detail.blocker());
    let blocked_on = match execution.phase {
        Phase::Blocked { on: Blocker::Operator, .. } if execution.hold.is_none() => {
            wrong.push("is blocked on an operator without a hold".into());
            None
        }
        Phase::Blocked { on, .. } if on.is_admission() && on != Blocker::Operator => Some(on),
        _ => None,
    };
    if detail != blocked_on {
        wrong.push(format!("is blocked on {blocked_on:?}, and says that it is on {detail:?}"));
    }
    wrong
}

fn times(execution: &Execution, now: TimestampMs) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut after = |later: Option<TimestampMs>, earlier: TimestampMs, what: &str| {
        if later.is_some_and(|later| later < earlier) {
            wrong.push(format!("{what}: {later:?} before {earlier:?}"));
        }
    };
    after(Some(execution.changed_at), execution.created_at, "changed before it was created");
    after(execution.started_at, execution.created_at, "started before it was created");
    after(Some(now), execution.changed_at, "changed in the future");
    wrong
}

/// I2, I4 and I7: attempts are numbered without gaps and within the policy, archived ones have ended, and their epochs rise.
fn lineage(execution: &Execution, archived: &[Attempt]) -> Vec<(&'static str, String)> {
    let mut wrong = Vec::new();
    let all = with_open(execution, archived);
    let gapless = all.iter().zip(0..).all(|(attempt, index)| attempt.index.0 == index);
    if !gapless || all.len() != execution.attempts_made as usize {
        let indexes: Vec<_> = all.iter().map(|attempt| attempt.index.0).collect();
        wrong.push(("I7", format!("made {} attempts but has {indexes:?}", execution.attempts_made)));
    }
    if all.windows(2).any(|pair| pair[0].lease_epoch >= pair[1].lease_epoch) {
        wrong.push(("I4", "an attempt's epoch does not rise".into()));
    }
    let last = all.last().map_or(LeaseEpoch(0), |attempt| attempt.lease_epoch);
    if last != execution.epoch() {
        wrong.push(("I4", format!("its last attempt has epoch {last}, itself {}", execution.epoch())));
    }
    if execution.retries > execution.policy.retry_policy.max_retries {
        wrong.push(("I7", format!("was retried {} times", execution.retries)));
    }
    if execution.reclaims > execution.policy.max_reclaim_count {
        wrong.push(("I7", format!("was reclaimed {} times", execution.reclaims)));
    }
    if archived.iter().any(|attempt| attempt.end.is_none()) {
        wrong.push(("I2", "an archived attempt has no end".into()));
    }
    wrong
}

/// I3: attempts do not overlap in time.
fn overlaps(execution: &Execution, snapshot: &Snapshot) -> Vec<String> {
    let archived = snapshot.attempts.get(&execution.id).map_or(&[][..], Vec::as_slice);
    let leases = snapshot.leases.get(&execution.id).map_or(&[][..], Vec::as_slice);
    let mut wrong = Vec::new();
    for pair in with_open(execution, archived).windows(2) {
        if pair[0].end.as_ref().is_some_and(|end| end.at > pair[1].started_at) {
            wrong.push(format!("attempt {} started before {} ended", pair[1].index, pair[0].index));
        }
    }
    for pair in leases.windows(2) {
        if pair[0].ended_at > pair[1].acquired_at || pair[0].fence.lease_epoch >= pair[1].fence.lease_epoch {
            let (one, two) = (pair[0].fence.lease_epoch, pair[1].fence.lease_epoch);
            wrong.push(format!("leases {one} and {two} overlap"));
        }
    }
    wrong
}

/// Returns all attempts: the archived ones, then the open one.
fn with_open<'a>(execution: &'a Execution, archived: &'a [Attempt]) -> Vec<&'a Attempt> {
    let open = match &execution.attempt {
        AttemptSlot::Open(attempt) => Some(attempt),
        AttemptSlot::Next(_) => None,
    };
    archived.iter().chain(open).collect()
}

/// I1: finds records of an execution that does not exist.
fn orphans(snapshot: &Snapshot) -> Vec<Finding> {
    let known = |id: &ExecutionId| snapshot.executions.contains_key(id);
    let mut findings = Vec::new();
    let mut orphan = |id: &ExecutionId, what: &str| {
        if !known(id) {
            findings.push(Finding {
                invariant: "I1",
                about: id.to_string(),
                what: format!("is gone, its {what} is not"),
            });
        }
    };
    snapshot.keys.values().for_each(|entry| orphan(&entry.execution_id, "idempotency key"));
    snapshot.attempts.keys().for_each(|id| orphan(id, "attempts"));
    snapshot.leases.keys().for_each(|id| orphan(id, "lease history"));
    snapshot.payloads.keys().for_each(|id| orphan(id, "payload"));
    snapshot.results.keys().for_each(|id| orphan(id, "result"));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Payload;
    use crate::samples::{at, running, waiting, work};

    fn healthy(execution: Execution) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (index, score) in entries(&execution) {
            snapshot.indexes.entry(index).or_default().insert(execution.id, score);
        }
        snapshot.payloads.insert(execution.id, work().payload);
        snapshot.executions.insert(execution.id, execution);
        snapshot
    }

    fn invariants(snapshot: &Snapshot) -> Vec<&'static str> {
        let partition = waiting().id.partition();
        examine(snapshot, partition, at(1_000)).into_iter().map(|finding| finding.invariant).collect()
    }

    #[test]
    fn a_healthy_partition_has_no_findings() {
        assert_eq!(invariants(&healthy(waiting())), Vec::<&str>::new());
        assert_eq!(invariants(&healthy(running())), Vec::<&str>::new());
    }

    #[test]
    fn an_index_entry_too_many_or_too_few_is_found() {
        let mut missing = healthy(waiting());
        missing.indexes.remove(&Index::AllExecutions);
        assert_eq!(invariants(&missing), ["I8"]);
        let mut extra = healthy(waiting());
        extra.indexes.entry(Index::LeaseExpiry).or_default().insert(waiting().id, 5);
        assert_eq!(invariants(&extra), ["I8"]);
    }

    #[test]
    fn the_doctor_reports_strays_found_by_the_store() {
        let mut astray = healthy(waiting());
        astray.strays.push((waiting().id, "state should be waiting, is active".into()));
        assert_eq!(invariants(&astray), ["I8"]);
    }

    #[test]
    fn a_payload_lost_or_changed_is_found() {
        let mut lost = healthy(waiting());
        lost.payloads.clear();
        assert_eq!(invariants(&lost), ["I1"]);
        let mut changed = healthy(waiting());
        changed.payloads.insert(waiting().id, Payload::json("\"forged\""));
        assert_eq!(invariants(&changed), ["I17"]);
    }

    #[test]
    fn a_result_without_success_is_found() {
        let mut odd = healthy(running());
        odd.results.insert(running().id, Payload::json("1"));
        assert_eq!(invariants(&odd), ["I2"]);
    }

    #[test]
    fn a_phase_that_cannot_go_on_is_found() {
        let mut stuck = running();
        stuck.attempt = AttemptSlot::Next(crate::execution::Origin::Initial);
        assert!(invariants(&healthy(stuck)).contains(&"I9"));
    }

    #[test]
    fn an_attempt_that_is_not_there_is_found() {
        let mut short = waiting();
        short.attempts_made = 1;
        assert!(invariants(&healthy(short)).contains(&"I7"));
    }
}
