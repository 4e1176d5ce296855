//! Compares the reads of lanes and workers.

use super::calls::refusal;
use super::{Comparison, Difference, differ};
use crate::prelude::*;
use crate::reference::vocabulary;

/// Compares a listing of lanes, a lane and a listing of workers. The namespace and the page size change with every
/// look.
pub(crate) async fn look(comparison: &Comparison, nth: usize) -> Result<(), Difference> {
    let (model, store) = (&comparison.reference.model, comparison.calls());
    let namespace = nth.is_multiple_of(2).then(|| vocabulary::namespace(u8::from(nth.is_multiple_of(4))));
    let (limit, finished) = (1 + nth % 3, nth.is_multiple_of(2));
    let args = ListLanesArgs { namespace: namespace.clone(), after: None, limit, finished };
    let listed = refusal(store.list_lanes(args.clone()).await);
    differ(format!("{args:?}"), &Ok(model.lanes(&args)), &listed)?;
    let lane = vocabulary::lane(u8::from(nth.is_multiple_of(3)));
    let described = refusal(store.describe_lane(&Namespace::default_name(), &lane).await);
    differ(format!("describe lane {lane}"), &Ok(model.lane_info(&lane)), &described)?;
    let args = ListWorkersArgs { namespace, after: None, limit: 1 + nth % 3 };
    let now = comparison.now();
    let mut rest = model.workers().filter(|worker| args.wants(worker, now));
    let workers: Vec<_> = rest.by_ref().take(args.limit).cloned().collect();
    let next = workers.last().map(|last| last.worker_instance_id.clone()).filter(|_| rest.next().is_some());
    let page = WorkersPage { workers, next };
    differ(format!("{args:?}"), &Ok(page), &refusal(store.list_workers(args).await))
}

/// Returns the filter of a listing, which changes with every look.
pub(crate) fn filter(comparison: &Comparison, nth: usize) -> Filter {
    let (states, now) = (PublicState::ALL, comparison.now());
    Filter {
        namespace: vocabulary::namespace(u8::from(nth % 11 == 3)),
        state: nth.is_multiple_of(3).then(|| states[nth / 3 % states.len()]),
        blocking_reason: nth.is_multiple_of(5).then(|| Blocker::ADMISSION[nth / 5 % 5].reason()),
        lane: nth.is_multiple_of(4).then(|| vocabulary::lane(u8::from(nth.is_multiple_of(8)))),
        kind: nth.is_multiple_of(7).then(|| vocabulary::kind(1)),
        tags: (0..u8::try_from(nth % 5 / 3 * (1 + nth % 2)).unwrap()).map(|key| vocabulary::label(key, 0)).collect(),
        created_from: (nth % 13 == 5).then(|| now - 60_000),
        created_until: (nth % 17 == 5).then(|| now - 1_000),
    }
}
