//! What the doctor looks for in suspensions, waitpoints and signals.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::execution::{Execution, Phase};
use crate::index::pending_waitpoints;
use crate::snapshot::Snapshot;
use crate::token::Mac;
use crate::types::ExecutionId;

/// Everything wrong with what waits on a partition.
pub(super) fn examine(snapshot: &Snapshot) -> Vec<Finding> {
    let mut findings = Findings::default();
    for (id, execution) in &snapshot.executions {
        waits_on_what_is_there(execution, snapshot, &mut findings);
        names_open_waitpoints_once(execution, &mut findings);
        counts_its_signals(execution, snapshot, &mut findings);
        if let Phase::Suspended { suspension } = &execution.phase
            && suspension.is_met()
        {
            findings.find("I9", id, "its condition is met, and it is still suspended");
        }
    }
    tokens_open_their_waitpoints(snapshot, &mut findings);
    pending_index(snapshot, &mut findings);
    orphans(snapshot, &mut findings);
    findings.0
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn find(&mut self, invariant: &'static str, about: &ExecutionId, what: impl Into<String>) {
        self.0.push(Finding { invariant, about: about.to_string(), what: what.into() });
    }
}

/// I9: a suspension, and whoever is going to begin one, waits on waitpoints that somebody can signal.
fn waits_on_what_is_there(execution: &Execution, snapshot: &Snapshot, findings: &mut Findings) {
    let known = |id| snapshot.waitpoints.get(&(execution.id, id));
    if let Phase::Suspended { suspension } = &execution.phase {
        if suspension.waitpoints.is_empty() {
            findings.find("I9", &execution.id, "is suspended on nothing");
        }
        for bound in &suspension.waitpoints {
            match known(bound.id) {
                Some(waitpoint) if waitpoint.suspension_id == Some(suspension.id) && waitpoint.key == bound.key => {}
                _ => findings.find("I9", &execution.id, format!("waits on {}, which is not its own", bound.id)),
            }
        }
    }
    for pending in &execution.pending_waitpoints {
        match known(pending.id) {
            Some(waitpoint)
                if waitpoint.suspension_id.is_none()
                    && waitpoint.key == pending.key
                    && waitpoint.expires_at == Some(pending.expires_at) => {}
            _ => findings.find("I9", &execution.id, format!("made {} ahead, which is not so", pending.id)),
        }
    }
    if execution.is_finished() && !execution.pending_waitpoints.is_empty() {
        findings.find("I11", &execution.id, "is finished with waitpoints open");
    }
}

/// A key stands for one open waitpoint.
fn names_open_waitpoints_once(execution: &Execution, findings: &mut Findings) {
    let current = match &execution.phase {
        Phase::Suspended { suspension } => suspension.waitpoints.as_slice(),
        _ => &[],
    };
    let pending = execution.pending_waitpoints.iter().map(|pending| &pending.key);
    let mut seen = BTreeSet::new();
    if pending.chain(current.iter().map(|bound| &bound.key)).any(|key| !seen.insert(key)) {
        findings.find("I11", &execution.id, "two open waitpoints have one key");
    }
}

/// I11: a signal counts at most once, and is there with the bytes it came with.
fn counts_its_signals(execution: &Execution, snapshot: &Snapshot, findings: &mut Findings) {
    let signals = snapshot.signals.get(&execution.id).map_or(&[][..], Vec::as_slice);
    if signals.len() != execution.signals_taken as usize {
        let what = format!("took {} signals but has {}", execution.signals_taken, signals.len());
        findings.find("I11", &execution.id, what);
    }
    let ids: BTreeSet<_> = signals.iter().map(|signal| signal.id).collect();
    if ids.len() != signals.len() {
        findings.find("I11", &execution.id, "has a signal twice");
    }
    for signal in signals {
        let payload = snapshot.signal_payloads.get(&(execution.id, signal.id));
        if payload.map_or(0, |payload| payload.bytes.len() as u64) != signal.payload_bytes {
            findings.find(
                "I17",
                &execution.id,
                format!("the bytes of signal {} are not those it came with", signal.id),
            );
        }
    }
    let counted = match &execution.phase {
        Phase::Suspended { suspension } => suspension.tally.counted().collect(),
        _ => vec![],
    };
    let handed = execution.last_suspension.iter().flat_map(|past| &past.signals);
    if let Some(lost) = counted.into_iter().chain(handed).find(|counted| !ids.contains(&counted.signal_id)) {
        findings.find("I11", &execution.id, format!("counts signal {}, which it never took", lost.signal_id));
    }
}

/// I12: what was handed out for a waitpoint is what its secret signs, for as long as the secret is there to tell.
fn tokens_open_their_waitpoints(snapshot: &Snapshot, findings: &mut Findings) {
    let Some(ring) = &snapshot.ring else { return };
    for ((id, waitpoint_id), waitpoint) in &snapshot.waitpoints {
        let signing = ring.keys.get(&waitpoint.token.kid);
        let forged = signing
            .is_some_and(|signing| Mac::of(&signing.secret, id, waitpoint_id, &waitpoint.key) != waitpoint.token.mac);
        if forged {
            findings.find("I12", id, format!("the token of {waitpoint_id} was not signed for it"));
        }
    }
    if ring.current.as_ref().is_none_or(|kid| ring.keys.get(kid).is_none_or(|key| key.expires_at.is_some())) {
        findings.0.push(Finding {
            invariant: "I12",
            about: "the key ring".into(),
            what: "no secret is current".into(),
        });
    }
}

/// I8, for the index of waitpoints made ahead.
fn pending_index(snapshot: &Snapshot, findings: &mut Findings) {
    let expected: BTreeMap<_, _> = snapshot.executions.values().flat_map(pending_waitpoints).collect();
    if expected != snapshot.pending_waitpoints {
        let what = format!("should be {expected:?}, is {:?}", snapshot.pending_waitpoints);
        findings.0.push(Finding { invariant: "I8", about: "waitpoints made ahead".into(), what });
    }
}

/// What belongs to an execution or a waitpoint that is not there.
fn orphans(snapshot: &Snapshot, findings: &mut Findings) {
    let mut owned = |id: &ExecutionId, what: &str| {
        if !snapshot.executions.contains_key(id) {
            findings.find("I1", id, format!("is gone, its {what} is not"));
        }
    };
    snapshot.waitpoints.keys().for_each(|(id, _)| owned(id, "waitpoint"));
    snapshot.signals.keys().for_each(|id| owned(id, "signals"));
    snapshot.signal_payloads.keys().for_each(|(id, _)| owned(id, "signal's payload"));
    snapshot.suspend_keys.keys().for_each(|(id, _)| owned(id, "key of a suspension"));
    snapshot.signal_keys.keys().for_each(|(id, ..)| owned(id, "key of a signal"));
}
