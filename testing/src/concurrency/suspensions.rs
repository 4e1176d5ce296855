//! Check that the answers about suspensions and signals fit together.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::backend::EngineStore;
use ff_core::contracts::SignalsArgs;
use ff_core::limits;
use ff_core::signal::Effect;
use ff_core::types::{ExecutionId, SignalId, SuspensionId, WaitpointId};

use super::ledger::{Entry, LedgerAction};

/// Checks that a suspension is ended by one signal or one decision, and that it accepts no signal that is sent after
/// its end.
pub(super) fn check_one_end_per_suspension(id: &ExecutionId, history: &[Entry]) {
    let suspended_on = waitpoints(history);
    let mut ends: BTreeMap<SuspensionId, &Entry> = BTreeMap::new();
    for entry in history {
        let ended = match &entry.what {
            LedgerAction::Signalled(waitpoint, _, reply) if reply.effect == Effect::Satisfied => {
                suspended_on.get(waitpoint).copied()
            }
            LedgerAction::Decided(reply) if !reply.already => Some(reply.suspension_id),
            _ => None,
        };
        if let Some(before) = ended.and_then(|suspension| ends.insert(suspension, entry)) {
            panic!("{id}: one suspension was ended by {before:?} and by {entry:?}");
        }
    }
    for entry in history {
        let LedgerAction::Signalled(waitpoint, _, reply) = &entry.what else { continue };
        let end = suspended_on.get(waitpoint).and_then(|suspension| ends.get(suspension));
        let late = end.is_some_and(|end| end.ended < entry.began) && reply.effect != Effect::Duplicate;
        assert!(!late, "{id}: {entry:?} came after {end:?}");
    }
}

/// Checks that a waitpoint accepts one signal under one key, and that a repeated delivery returns the id of that
/// signal.
pub(super) fn check_one_signal_per_key(id: &ExecutionId, history: &[Entry]) {
    let mut first: BTreeMap<_, SignalId> = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for entry in history {
        let LedgerAction::Signalled(waitpoint, key, reply) = &entry.what else { continue };
        if reply.effect != Effect::Duplicate {
            assert!(taken.insert(reply.signal_id), "{id}: {} was taken twice", reply.signal_id);
        }
        if let Some(key) = key {
            let known = *first.entry((*waitpoint, key.as_str())).or_insert(reply.signal_id);
            assert_eq!(known, reply.signal_id, "{id}: {waitpoint} took two signals under {key}");
        }
    }
}

/// Checks that the store holds the signals that it acknowledged to clients, and one signal for each decision.
pub(super) async fn check_store(store: &dyn EngineStore, id: &ExecutionId, history: &[Entry]) {
    let mut signals = BTreeSet::new();
    let mut skip = Some(0);
    while let Some(passed) = skip {
        let args = SignalsArgs { execution_id: *id, skip: passed, limit: limits::PAGE };
        let page = store.signals(args).await.unwrap();
        signals.extend(page.signals.into_iter().map(|signal| signal.id));
        skip = page.next;
    }
    let taken = history.iter().filter_map(|entry| match &entry.what {
        LedgerAction::Signalled(_, _, reply) if reply.effect != Effect::Duplicate => Some(reply.signal_id),
        _ => None,
    });
    let taken: BTreeSet<_> = taken.collect();
    assert!(taken.is_subset(&signals), "{id}: a signal is lost");
    let decisions =
        history.iter().filter(|entry| matches!(&entry.what, LedgerAction::Decided(reply) if !reply.already)).count();
    assert_eq!(signals.len(), taken.len() + decisions, "{id}");
}

/// Returns the suspension of each waitpoint.
fn waitpoints(history: &[Entry]) -> BTreeMap<WaitpointId, SuspensionId> {
    let suspended = history.iter().filter_map(|entry| match &entry.what {
        LedgerAction::Suspended(_, reply) => Some(reply),
        _ => None,
    });
    suspended
        .flat_map(|reply| reply.waitpoints.iter().map(|granted| (granted.waitpoint_id, reply.suspension_id)))
        .collect()
}
