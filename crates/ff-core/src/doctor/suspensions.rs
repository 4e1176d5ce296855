//! The doctor's checks of suspensions, waitpoints and signals.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Findings};
use crate::backend::snapshot::Snapshot;
use crate::execution::{Execution, Phase};
use crate::rule::index::pending_waitpoints;
use crate::types::ExecutionId;

/// Returns the findings about suspensions, waitpoints and signals.
pub(super) fn examine(snapshot: &Snapshot) -> Vec<Finding> {
    let mut findings = Findings::default();
    for (id, execution) in &snapshot.executions {
        check_waitpoints(execution, snapshot, &mut findings);
        names_open_waitpoints_once(execution, &mut findings);
        counts_its_signals(execution, snapshot, &mut findings);
        if let Phase::Suspended { suspension } = &execution.phase
            && suspension.is_met()
        {
            findings.find("I9", id, "its condition is met, and it is still suspended");
        }
    }
    a_secret_is_current(snapshot, &mut findings);
    tokens_open_one_waitpoint(snapshot, &mut findings);
    pending_index(snapshot, &mut findings);
    orphans(snapshot, &mut findings);
    findings.0
}

/// I9 and I11: the waitpoints of a suspension and the pending waitpoints of an execution exist, so that signals can
/// reach them, and a finished execution has no pending ones.
fn check_waitpoints(execution: &Execution, snapshot: &Snapshot, findings: &mut Findings) {
    let known = |id| snapshot.waitpoints.get(&(execution.id, id));
    if let Phase::Suspended { suspension } = &execution.phase {
        if suspension.waitpoints.is_empty() {
            findings.find("I9", execution.id, "is suspended on nothing");
        }
        for bound in &suspension.waitpoints {
            match known(bound.id) {
                Some(waitpoint) if waitpoint.suspension_id == Some(suspension.id) && waitpoint.key == bound.key => {}
                _ => findings.find("I9", execution.id, format!("waits on {}, which is not its own", bound.id)),
            }
        }
    }
    for pending in &execution.pending_waitpoints {
        match known(pending.id) {
            Some(waitpoint)
                if waitpoint.suspension_id.is_none()
                    && waitpoint.key == pending.key
                    && waitpoint.expires_at == Some(pending.expires_at) => {}
            _ => findings.find("I9", execution.id, format!("made {} ahead, which is not so", pending.id)),
        }
    }
    if execution.is_finished() && !execution.pending_waitpoints.is_empty() {
        findings.find("I11", execution.id, "is finished with waitpoints open");
    }
}

/// I11: the open waitpoints of an execution have distinct keys.
fn names_open_waitpoints_once(execution: &Execution, findings: &mut Findings) {
    let current = match &execution.phase {
        Phase::Suspended { suspension } => suspension.waitpoints.as_slice(),
        _ => &[],
    };
    let pending = execution.pending_waitpoints.iter().map(|pending| &pending.key);
    let mut seen = BTreeSet::new();
    if pending.chain(current.iter().map(|bound| &bound.key)).any(|key| !seen.insert(key)) {
        findings.find("I11", execution.id, "two open waitpoints have one key");
    }
}

/// I11 and I17: a signal is recorded at most once, a counted signal exists, and its payload has the recorded size.
fn counts_its_signals(execution: &Execution, snapshot: &Snapshot, findings: &mut Findings) {
    let signals = snapshot.signals.get(&execution.id).map_or(&[][..], Vec::as_slice);
    if signals.len() != execution.signals_taken as usize {
        let what = format!("took {} signals but has {}", execution.signals_taken, signals.len());
        findings.find("I11", execution.id, what);
    }
    let ids: BTreeSet<_> = signals.iter().map(|signal| signal.id).collect();
    if ids.len() != signals.len() {
        findings.find("I11", execution.id, "has a signal twice");
    }
    for signal in signals {
        let payload = snapshot.signal_payloads.get(&(execution.id, signal.id));
        if payload.map_or(0, |payload| payload.bytes.len() as u64) != signal.payload_bytes {
            let what = format!("the bytes of signal {} are not those it came with", signal.id);
            findings.find("I17", execution.id, what);
        }
    }
    let counted = match &execution.phase {
        Phase::Suspended { suspension } => suspension.tally.counted().collect(),
        _ => vec![],
    };
    let past_signals = execution.last_suspension.iter().flat_map(|past| &past.signals);
    if let Some(lost) = counted.into_iter().chain(past_signals).find(|counted| !ids.contains(&counted.signal_id)) {
        findings.find("I11", execution.id, format!("counts signal {}, which it never took", lost.signal_id));
    }
}

/// I12: the key ring has a current secret to sign with. The doctor cannot check that a token was signed for its
/// waitpoint: once a secret is gone, its kid may be used again for another secret. Tokens signed with the first secret
/// are invalid then.
fn a_secret_is_current(snapshot: &Snapshot, findings: &mut Findings) {
    let Some(ring) = &snapshot.ring else { return };
    if ring.current.as_ref().is_none_or(|kid| ring.keys.get(kid).is_none_or(|key| key.expires_at.is_some())) {
        findings.find("I12", "the key ring", "no secret is current");
    }
}

/// I12: no two waitpoints have the same token.
fn tokens_open_one_waitpoint(snapshot: &Snapshot, findings: &mut Findings) {
    let mut seen = BTreeMap::new();
    for ((id, waitpoint_id), waitpoint) in &snapshot.waitpoints {
        if let Some(other) = seen.insert(waitpoint.token.expose(), waitpoint_id) {
            findings.find("I12", id, format!("{waitpoint_id} and {other} have one token"));
        }
    }
}

/// I8: the index of pending waitpoints agrees with the records.
fn pending_index(snapshot: &Snapshot, findings: &mut Findings) {
    let expected: BTreeMap<_, _> = snapshot.executions.values().flat_map(pending_waitpoints).collect();
    if expected != snapshot.pending_waitpoints {
        let what = format!("should be {expected:?}, is {:?}", snapshot.pending_waitpoints);
        findings.find("I8", "waitpoints made ahead", what);
    }
}

/// I1: finds records of an execution that does not exist.
fn orphans(snapshot: &Snapshot, findings: &mut Findings) {
    let mut owned = |id: &ExecutionId, what| findings.check_owner(snapshot, id, what);
    snapshot.waitpoints.keys().for_each(|(id, _)| owned(id, "waitpoint"));
    snapshot.signals.keys().for_each(|id| owned(id, "signals"));
    snapshot.signal_payloads.keys().for_each(|(id, _)| owned(id, "signal's payload"));
    snapshot.suspend_keys.keys().for_each(|(id, _)| owned(id, "key of a suspension"));
    snapshot.signal_keys.keys().for_each(|(id, ..)| owned(id, "key of a signal"));
}

#[cfg(test)]
mod tests {
    use super::super::violated;
    use super::*;
    use crate::execution::Execution;
    use crate::rule::fixture::ExecutionFixture;
    use crate::rule::samples::at;
    use crate::signal::Signal;
    use crate::token::{KeyRing, Secret};
    use crate::types::{Kid, SignalId, SuspensionId};

    /// An execution suspended on one waitpoint, with a pending waitpoint that has already received a signal.
    fn fixture() -> ExecutionFixture {
        let mut fixture = ExecutionFixture::running(at(0));
        let args = fixture.pending("ahead");
        let ahead = fixture.ask(args, at(1)).unwrap();
        fixture.suspend("a", at(2));
        fixture.deliver(&ahead, "early", at(3));
        fixture
    }

    /// Returns the doctor's findings after records of a healthy execution were changed without the rules.
    fn found(harm: impl FnOnce(&mut Snapshot, ExecutionId)) -> Vec<&'static str> {
        let fixture = fixture();
        let healthy = fixture.model.snapshot(fixture.id.partition());
        violated(examine, &healthy, |snapshot| harm(snapshot, fixture.id))
    }

    fn execution(snapshot: &mut Snapshot, id: ExecutionId) -> &mut Execution {
        snapshot.executions.get_mut(&id).unwrap()
    }

    #[test]
    fn a_wait_on_what_is_not_there_is_found() {
        assert_eq!(found(|snapshot, _| snapshot.waitpoints.clear()), ["I9", "I9"]);
        let strange = |snapshot: &mut Snapshot, _| {
            let used = snapshot.waitpoints.values_mut().find(|waitpoint| waitpoint.suspension_id.is_some());
            used.unwrap().suspension_id = Some(SuspensionId::new());
        };
        assert_eq!(found(strange), ["I9"]);
    }

    #[test]
    fn a_key_that_stands_for_two_waitpoints_is_found() {
        let twice = |snapshot: &mut Snapshot, id| {
            let pending = &mut execution(snapshot, id).pending_waitpoints;
            pending.push(pending[0].clone());
        };
        assert_eq!(found(twice), ["I11"]);
    }

    #[test]
    fn a_signal_lost_or_made_up_is_found() {
        assert_eq!(found(|snapshot, _| snapshot.signals.clear()), ["I11"]);
        assert_eq!(found(|snapshot, _| snapshot.signal_payloads.clear()), ["I17"]);
        let twice = |snapshot: &mut Snapshot, id| {
            let signals: &mut Vec<Signal> = snapshot.signals.get_mut(&id).unwrap();
            signals.push(signals[0].clone());
            execution(snapshot, id).signals_taken += 1;
        };
        assert_eq!(found(twice), ["I11"]);
    }

    #[test]
    fn a_condition_that_is_met_and_still_waits_is_found() {
        let met = |snapshot: &mut Snapshot, id| {
            let signal_id = snapshot.signals[&id][0].id;
            let Phase::Suspended { suspension } = &mut execution(snapshot, id).phase else { panic!("not suspended") };
            let (key, source) = (suspension.waitpoints[0].key.clone(), crate::signal::Source::external());
            let name = crate::types::SignalName::parse("go").unwrap();
            let waitpoint = &key;
            let (name, source) = (&name, &source);
            suspension.weigh(&crate::suspension::SignalMatch { signal_id, waitpoint, name, source, payload_bytes: 0 });
        };
        assert_eq!(found(met), ["I9"]);
    }

    #[test]
    fn a_token_of_two_waitpoints_and_a_ring_without_a_secret_are_found() {
        let shared = |snapshot: &mut Snapshot, _| {
            let token = snapshot.waitpoints.values().next().unwrap().token.clone();
            snapshot.waitpoints.values_mut().for_each(|waitpoint| waitpoint.token = token.clone());
        };
        assert_eq!(found(shared), ["I12"]);
        assert_eq!(found(|snapshot, _| snapshot.ring.as_mut().unwrap().current = None), ["I12"]);
    }

    #[test]
    fn a_kid_that_came_again_with_another_secret_is_no_finding() {
        let again = |snapshot: &mut Snapshot, _| {
            let ring = KeyRing::of(Kid::first(), Secret::from_hex("c0ffee").unwrap());
            snapshot.ring = Some(ring);
        };
        assert_eq!(found(again), Vec::<&str>::new());
    }

    #[test]
    fn an_index_that_says_otherwise_is_found() {
        assert_eq!(found(|snapshot, _| snapshot.pending_waitpoints.clear()), ["I8"]);
    }

    #[test]
    fn the_doctor_finds_suspension_records_left_behind() {
        let gone = |snapshot: &mut Snapshot, id| {
            snapshot.executions.remove(&id);
            snapshot.pending_waitpoints.clear();
        };
        assert_eq!(found(gone), ["I1", "I1", "I1", "I1"], "two waitpoints, the signals and their payload");
        let unknown_signal = |snapshot: &mut Snapshot, id| {
            let Phase::Suspended { suspension } = &mut execution(snapshot, id).phase else { panic!("not suspended") };
            let signal_id = SignalId::new();
            let counted = crate::suspension::CountedSignal { signal_id, payload_bytes: 0, counts_as: None };
            let (ended, epoch) = (crate::suspension::SuspensionEnd::Satisfied, crate::types::LeaseEpoch(1));
            let past = crate::suspension::PastSuspension::of(suspension, epoch, ended, vec![counted], at(3));
            execution(snapshot, id).last_suspension = Some(past);
        };
        assert_eq!(found(unknown_signal), ["I11"]);
    }
}
