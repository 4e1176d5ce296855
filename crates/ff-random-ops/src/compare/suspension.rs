//! Compares the reads of suspensions, signals and secrets.

use uuid::Uuid;

use super::calls::refusal;
use super::{Comparison, Difference, differ, find};
use crate::prelude::*;
use crate::reference::Reference;

/// Reads the waitpoints, tokens and signals of one execution.
pub(crate) async fn look(comparison: &Comparison, id: &ExecutionId, nth: usize) -> Result<(), Difference> {
    let (reference, store) = (&comparison.reference, comparison.calls());
    let open = waitpoints(reference, id, comparison.now());
    differ(format!("waitpoints of {id}"), &open, &refusal(store.waitpoints(id).await))?;
    let granted: Vec<_> = reference.granted.of(id).take(2).map(|granted| granted.waitpoint_id).collect();
    for waitpoint in granted.into_iter().chain([WaitpointId::from_uuid(Uuid::from_u128(9))]) {
        let answer = refusal(store.waitpoint_token(id, &waitpoint).await);
        differ(format!("token of {waitpoint}"), &token(reference, id, &waitpoint), &answer)?;
    }
    let mut args = SignalsArgs { execution_id: *id, skip: 0, limit: 1 + nth % 5 };
    loop {
        let page = signals(reference, &args);
        differ(format!("{args:?}"), &page, &refusal(store.signals(args.clone()).await))?;
        let Ok(SignalsPage { signals, next: Some(next) }) = page else { break };
        differ(
            format!("a signal of {id}"),
            &signal(reference, id, &signals[0].id),
            &refusal(store.signal(id, &signals[0].id).await),
        )?;
        args.skip = next;
    }
    let unknown = SignalId::from_uuid(Uuid::from_u128(9));
    differ(format!("no signal of {id}"), &signal(reference, id, &unknown), &refusal(store.signal(id, &unknown).await))
}

/// Compares the feed from its beginning, a page at a time, and the names of the secrets.
pub(crate) async fn deliveries(comparison: &Comparison, nth: usize, closely: bool) -> Result<(), Difference> {
    let (reference, store) = (&comparison.reference, comparison.calls());
    differ("the kids".into(), &kids(reference, comparison.now()), &store.kids().await.unwrap())?;
    let mut args = DeliveriesArgs { after: None, limit: 1 + nth % 7 };
    let now = feed(reference, &args);
    differ("the end of the feed".into(), &now, &store.deliveries(args.clone()).await.unwrap())?;
    args.after = Some(FeedCursor::default());
    loop {
        let page = feed(reference, &args);
        differ(format!("{args:?}"), &page, &store.deliveries(args.clone()).await.unwrap())?;
        if page.deliveries.is_empty() || !(closely || nth.is_multiple_of(50)) {
            return Ok(());
        }
        args.after = Some(page.next);
    }
}

fn waitpoints(reference: &Reference, id: &ExecutionId, now: TimestampMs) -> Result<Vec<WaitpointInfo>, Refusal> {
    let execution = find(reference, id)?;
    let all = reference.model.waitpoints(id).map(|one| WaitpointInfo::of(one, execution.waitpoint_state(one, now)));
    let mut open: Vec<_> =
        all.filter(|info| matches!(info.state, WaitpointState::Pending | WaitpointState::Active)).collect();
    open.sort_by_key(|info| (info.created_at, info.waitpoint_id));
    Ok(open)
}

fn token(reference: &Reference, id: &ExecutionId, waitpoint: &WaitpointId) -> Result<WaitpointToken, Refusal> {
    find(reference, id)?;
    let known = reference.model.waitpoints(id).find(|known| known.id == *waitpoint);
    let ring = reference.model.ring(id.partition()).ok().flatten();
    known.ok_or_else(|| Code::WaitpointNotFound.refusal())?.mint(ring)
}

fn signals(reference: &Reference, args: &SignalsArgs) -> Result<SignalsPage, Refusal> {
    find(reference, &args.execution_id)?;
    let all = reference.model.signals(&args.execution_id);
    let signals: Vec<_> = all.iter().skip(args.skip).take(args.limit).cloned().collect();
    let reached = args.skip + signals.len();
    Ok(SignalsPage { signals, next: (reached < all.len()).then_some(reached) })
}

fn signal(reference: &Reference, id: &ExecutionId, signal: &SignalId) -> Result<ReceivedSignal, Refusal> {
    find(reference, id)?;
    let known = reference.model.signals(id).iter().find(|known| known.id == *signal);
    let known = known.ok_or_else(|| Code::NotFound.refusal())?.clone();
    Ok(ReceivedSignal { signal: known, payload: reference.model.signal_payload(id, signal).cloned() })
}

fn feed(reference: &Reference, args: &DeliveriesArgs) -> DeliveriesPage {
    let (model, partitions) = (&reference.model, 0..reference.partitions.num_flow_partitions);
    let Some(after) = args.after.clone() else {
        let ends = partitions.filter_map(|partition| Some((partition, model.feed_end(partition)?)));
        return DeliveriesPage { deliveries: vec![], next: FeedCursor(ends.collect()), missed: false };
    };
    let reached = after.0.clone();
    let part = |partition| (partition, model.deliveries(partition, reached.get(&partition).copied(), args.limit));
    DeliveriesPage::merge(after, partitions.map(part), args.limit)
}

fn kids(reference: &Reference, now: TimestampMs) -> Vec<PartitionKids> {
    let of = |partition| {
        let ring = reference.model.ring(partition).ok().flatten().unwrap();
        PartitionKids { partition, kids: ring.kids(now) }
    };
    (0..reference.partitions.num_flow_partitions).map(of).collect()
}
