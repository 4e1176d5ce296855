//! The doctor: checks the invariants over everything a partition holds.

mod flows;
mod lanes;
mod steps;
mod streams;
mod suspensions;
mod workers;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::backend::snapshot::Snapshot;
use crate::execution::{Attempt, AttemptSlot, Blocker, Execution, Outcome, Phase};
use crate::fairness;
use crate::rule::index::entries;
use crate::singleton;
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

/// The findings of an examination.
#[derive(Default)]
pub(crate) struct Findings(pub(crate) Vec<Finding>);

impl Findings {
    pub(crate) fn find(&mut self, invariant: &'static str, about: impl ToString, what: impl Into<String>) {
        self.0.push(Finding { invariant, about: about.to_string(), what: what.into() });
    }

    /// I8: the stored indexes are exactly those recomputed from the records.
    pub(crate) fn compare<I: Ord + fmt::Debug, K: Ord, V: PartialEq + fmt::Debug>(
        &mut self,
        computed: &BTreeMap<I, BTreeMap<K, V>>,
        stored: &BTreeMap<I, BTreeMap<K, V>>,
        about: impl Fn(&I, &K) -> String,
    ) {
        let none = BTreeMap::new();
        for index in computed.keys().chain(stored.keys()).collect::<BTreeSet<_>>() {
            let (should, does) = (computed.get(index).unwrap_or(&none), stored.get(index).unwrap_or(&none));
            for key in should.keys().chain(does.keys()).collect::<BTreeSet<_>>() {
                if should.get(key) != does.get(key) {
                    let what = format!("in {index:?} should be {:?}, is {:?}", should.get(key), does.get(key));
                    self.find("I8", about(index, key), what);
                }
            }
        }
    }

    /// I1: a record belongs to an execution that exists.
    pub(crate) fn check_owner(&mut self, snapshot: &Snapshot, id: &ExecutionId, what: &str) {
        if !snapshot.executions.contains_key(id) {
            self.find("I1", id, format!("is gone, its {what} is not"));
        }
    }
}

/// Returns all findings about a partition.
pub fn examine(snapshot: &Snapshot, partition: u16, now: TimestampMs) -> Vec<Finding> {
    let mut findings = Findings::default();
    indexes(snapshot, &mut findings);
    for (id, execution) in &snapshot.executions {
        if id.partition() != partition || execution.id != *id {
            findings.find("I1", id, format!("is kept on partition {partition} under another id"));
        }
        match snapshot.payloads.get(id) {
            None => findings.find("I1", id, "its payload is missing"),
            // A payload that an upstream's result replaced belongs to the upstream.
            Some(_) if execution.membership.as_ref().is_some_and(|membership| membership.injected_bytes.is_some()) => {}
            Some(payload) if payload.fingerprint() != execution.fingerprint => {
                findings.find("I17", id, "its payload is not the one submitted");
            }
            Some(_) => {}
        }
        let has_succeeded = matches!(execution.phase, Phase::Finished { outcome: Outcome::Success, .. });
        if snapshot.results.contains_key(id) && !has_succeeded {
            findings.find("I2", id, "has a result without having succeeded");
        }
        shape(execution, &mut findings);
        times(execution, now, &mut findings);
        lineage(execution, snapshot, &mut findings);
        overlaps(execution, snapshot, &mut findings);
    }
    orphans(snapshot, &mut findings);
    let mut findings = findings.0;
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

/// I8: the indexes follow from the records, and nothing else is left of them.
fn indexes(snapshot: &Snapshot, findings: &mut Findings) {
    let mut computed: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for (id, execution) in &snapshot.executions {
        for (index, score) in entries(execution) {
            computed.entry(index).or_default().insert(*id, score);
        }
    }
    findings.compare(&computed, &snapshot.indexes, |_, id| id.to_string());
    snapshot.strays.iter().for_each(|(id, what)| findings.find("I8", id, what.as_str()));
}

/// I9: phase, attempt, hold and blocker of an execution agree. Otherwise no operation may be able to move it.
fn shape(execution: &Execution, findings: &mut Findings) {
    let mut find = |what: &str| findings.find("I9", execution.id, what);
    match (&execution.phase, &execution.attempt) {
        (Phase::Running { lease }, AttemptSlot::Open(attempt)) if lease.fence.attempt_id != attempt.id => {
            find("its lease is of another attempt");
        }
        (Phase::Running { .. }, AttemptSlot::Next(_)) => find("is running without an attempt"),
        (Phase::Suspended { .. }, AttemptSlot::Next(_)) => find("is suspended without an attempt"),
        (Phase::Finished { .. }, AttemptSlot::Open(_)) => find("is finished with an attempt open"),
        _ => {}
    }
    if execution.hold.is_some() && execution.phase == Phase::Waiting {
        find("an operator holds it, yet it can be claimed");
    }
    let detail = execution.block_detail().map(|detail| detail.blocker());
    let blocked_on = match execution.phase {
        Phase::Blocked { on: Blocker::Operator, .. } if execution.hold.is_none() => {
            find("is blocked on an operator without a hold");
            None
        }
        Phase::Blocked { on, .. } if on.is_admission() && on != Blocker::Operator => Some(on),
        _ => None,
    };
    if detail != blocked_on {
        find(&format!("is blocked on {blocked_on:?}, and says that it is on {detail:?}"));
    }
}

/// I18: times are in order.
fn times(execution: &Execution, now: TimestampMs, findings: &mut Findings) {
    let mut after = |later: Option<TimestampMs>, earlier: TimestampMs, what: &str| {
        if later.is_some_and(|later| later < earlier) {
            findings.find("I18", execution.id, format!("{what}: {later:?} before {earlier:?}"));
        }
    };
    after(Some(execution.changed_at), execution.created_at, "changed before it was created");
    after(execution.started_at, execution.created_at, "started before it was created");
    after(Some(now), execution.changed_at, "changed in the future");
}

/// I2, I4 and I7: attempts are numbered without gaps and within the policy, archived ones have ended, and their epochs rise.
fn lineage(execution: &Execution, snapshot: &Snapshot, findings: &mut Findings) {
    let mut find = |invariant, what: &str| findings.find(invariant, execution.id, what);
    let (archived, all) = attempts(execution, snapshot);
    let gapless = all.iter().zip(0..).all(|(attempt, index)| attempt.index.0 == index);
    if !gapless || all.len() != execution.attempts_made as usize {
        let indexes: Vec<_> = all.iter().map(|attempt| attempt.index.0).collect();
        find("I7", &format!("made {} attempts but has {indexes:?}", execution.attempts_made));
    }
    if all.windows(2).any(|pair| pair[0].lease_epoch >= pair[1].lease_epoch) {
        find("I4", "an attempt's epoch does not rise");
    }
    let last = all.last().map_or(LeaseEpoch(0), |attempt| attempt.lease_epoch);
    if last != execution.epoch() {
        find("I4", &format!("its last attempt has epoch {last}, itself {}", execution.epoch()));
    }
    if execution.retries > execution.policy.retry_policy.max_retries {
        find("I7", &format!("was retried {} times", execution.retries));
    }
    if execution.reclaims > execution.policy.max_reclaim_count {
        find("I7", &format!("was reclaimed {} times", execution.reclaims));
    }
    if archived.iter().any(|attempt| attempt.end.is_none()) {
        find("I2", "an archived attempt has no end");
    }
}

/// I3: attempts do not overlap in time.
fn overlaps(execution: &Execution, snapshot: &Snapshot, findings: &mut Findings) {
    let leases = snapshot.leases.get(&execution.id).map_or(&[][..], Vec::as_slice);
    for pair in attempts(execution, snapshot).1.windows(2) {
        if pair[0].end.as_ref().is_some_and(|end| end.at > pair[1].started_at) {
            let what = format!("attempt {} started before {} ended", pair[1].index, pair[0].index);
            findings.find("I3", execution.id, what);
        }
    }
    for pair in leases.windows(2) {
        if pair[0].ended_at > pair[1].acquired_at || pair[0].fence.lease_epoch >= pair[1].fence.lease_epoch {
            let (one, two) = (pair[0].fence.lease_epoch, pair[1].fence.lease_epoch);
            findings.find("I3", execution.id, format!("leases {one} and {two} overlap"));
        }
    }
}

/// Returns the archived attempts, and all attempts: the archived ones, then the open one.
fn attempts<'a>(execution: &'a Execution, snapshot: &'a Snapshot) -> (&'a [Attempt], Vec<&'a Attempt>) {
    let archived = snapshot.attempts.get(&execution.id).map_or(&[][..], Vec::as_slice);
    let open = match &execution.attempt {
        AttemptSlot::Open(attempt) => Some(attempt),
        AttemptSlot::Next(_) => None,
    };
    (archived, archived.iter().chain(open).collect())
}

/// I1: finds records of an execution that does not exist.
fn orphans(snapshot: &Snapshot, findings: &mut Findings) {
    let mut owned = |id: &ExecutionId, what| findings.check_owner(snapshot, id, what);
    snapshot.keys.values().for_each(|entry| owned(&entry.execution_id, "idempotency key"));
    snapshot.attempts.keys().for_each(|id| owned(id, "attempts"));
    snapshot.leases.keys().for_each(|id| owned(id, "lease history"));
    snapshot.payloads.keys().for_each(|id| owned(id, "payload"));
    snapshot.results.keys().for_each(|id| owned(id, "result"));
}

/// Returns the invariants that the findings name after a healthy snapshot was damaged.
#[cfg(test)]
pub(crate) fn violated(
    examine: impl Fn(&Snapshot) -> Vec<Finding>,
    healthy: &Snapshot,
    damage: impl FnOnce(&mut Snapshot),
) -> Vec<&'static str> {
    assert_eq!(examine(healthy), []);
    let mut damaged = healthy.clone();
    damage(&mut damaged);
    examine(&damaged).into_iter().map(|finding| finding.invariant).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Payload;
    use crate::rule::index::Index;
    use crate::rule::samples::{at, running, waiting, work};

    fn healthy(execution: Execution) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (index, score) in entries(&execution) {
            snapshot.indexes.entry(index).or_default().insert(execution.id, score);
        }
        snapshot.payloads.insert(execution.id, work().payload);
        snapshot.executions.insert(execution.id, execution);
        snapshot
    }

    fn found(execution: Execution, damage: impl FnOnce(&mut Snapshot)) -> Vec<&'static str> {
        let examine = |snapshot: &Snapshot| examine(snapshot, waiting().id.partition(), at(1_000));
        violated(examine, &healthy(execution), damage)
    }

    /// Returns the invariants that a changed execution violates.
    fn violates(change: impl FnOnce(&mut Execution), mut execution: Execution) -> Vec<&'static str> {
        let sound = healthy(execution.clone());
        change(&mut execution);
        violated(
            |snapshot| examine(snapshot, waiting().id.partition(), at(1_000)),
            &sound,
            |snapshot| {
                *snapshot = healthy(execution);
            },
        )
    }

    #[test]
    fn an_index_entry_too_many_or_too_few_is_found() {
        assert_eq!(found(waiting(), |snapshot| drop(snapshot.indexes.remove(&Index::AllExecutions))), ["I8"]);
        let extra = |snapshot: &mut Snapshot| {
            snapshot.indexes.entry(Index::LeaseExpiry).or_default().insert(waiting().id, 5);
        };
        assert_eq!(found(waiting(), extra), ["I8"]);
    }

    #[test]
    fn the_doctor_reports_strays_found_by_the_store() {
        let stray = (waiting().id, "state should be waiting, is active".into());
        assert_eq!(found(waiting(), |snapshot| snapshot.strays.push(stray)), ["I8"]);
    }

    #[test]
    fn a_payload_lost_or_changed_is_found() {
        assert_eq!(found(waiting(), |snapshot| snapshot.payloads.clear()), ["I1"]);
        let forged =
            |snapshot: &mut Snapshot| drop(snapshot.payloads.insert(waiting().id, Payload::json("\"forged\"")));
        assert_eq!(found(waiting(), forged), ["I17"]);
    }

    #[test]
    fn a_result_without_success_is_found() {
        let odd = |snapshot: &mut Snapshot| drop(snapshot.results.insert(running().id, Payload::json("1")));
        assert_eq!(found(running(), odd), ["I2"]);
    }

    #[test]
    fn a_phase_that_cannot_go_on_is_found() {
        let stuck =
            |execution: &mut Execution| execution.attempt = AttemptSlot::Next(crate::execution::Origin::Initial);
        assert!(violates(stuck, running()).contains(&"I9"));
    }

    #[test]
    fn an_attempt_that_is_not_there_is_found() {
        assert!(violates(|execution| execution.attempts_made = 1, waiting()).contains(&"I7"));
    }
}
