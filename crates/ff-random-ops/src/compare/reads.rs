//! Compares the reads of executions and partitions.

use super::calls::refusal;
use super::{Comparison, Difference, differ, find, flow, operator, quota, step, stream, suspension};
use crate::prelude::*;
use crate::reference::Reference;

/// Compares the status of a partition, as an engine reads it.
pub(crate) async fn sweep(comparison: &Comparison, partition: u16) -> Result<(), Difference> {
    let model = &comparison.reference.model;
    let swept = PartitionStatus {
        ready: model.ready(partition),
        unroutable: model.unroutable(partition),
        next_due: model.next_due(partition),
    };
    let found = comparison.store().sweep(partition).await.unwrap();
    differ(format!("a sweep of partition {partition}"), &ordered(swept), &ordered(found))
}

fn ordered(mut swept: PartitionStatus) -> PartitionStatus {
    swept.ready.sort_by_key(|ReadyLane { lane, kind, class, .. }| (lane.clone(), kind.clone(), class.clone()));
    swept.unroutable.sort_unstable();
    swept
}

/// Compares the latest jobs, or all jobs for a close look, and one listing that changes with every look.
pub(crate) async fn look(comparison: &Comparison, nth: usize, closely: bool) -> Result<(), Difference> {
    let reference = &comparison.reference;
    let lately = if closely { usize::MAX } else { 4 };
    let jobs: Vec<_> = reference.jobs().collect();
    let mut ids: Vec<_> = jobs.iter().rev().take(lately).map(|(_, id)| *id).collect();
    ids.extend([reference.id(u32::MAX), reference.id(u32::MAX - 1)]);
    for id in ids {
        let store = comparison.calls();
        let described = refusal(store.describe(&id).await);
        differ(format!("describe {id}"), &describe(reference, &id), &described)?;
        differ(format!("attempts {id}"), &attempts(reference, &id), &refusal(store.attempts(&id).await))?;
        differ(format!("result {id}"), &result(reference, &id), &refusal(store.result(&id).await))?;
        differ(format!("payload {id}"), &payload(reference, &id), &refusal(store.payload(&id).await))?;
        suspension::look(comparison, &id, nth).await?;
        stream::look(comparison, &id, nth).await?;
        step::look(comparison, &id, nth).await?;
    }
    suspension::deliveries(comparison, nth, closely).await?;
    flow::look(comparison, nth, closely).await?;
    operator::look(comparison, nth).await?;
    quota::look(comparison, nth).await?;
    let mut args = ListArgs { filter: operator::filter(comparison, nth), after: None, limit: 1 + nth % 9 };
    loop {
        let page = Page::of(reference.model.newest(&args), &args);
        differ(format!("{args:?}"), &Ok(page.clone()), &refusal(comparison.calls().list(args.clone()).await))?;
        args.after = page.next;
        if page.next.is_none() || !(closely || nth.is_multiple_of(5)) {
            return Ok(());
        }
    }
}

fn describe(reference: &Reference, id: &ExecutionId) -> Result<ExecutionInfo, Refusal> {
    find(reference, id).map(Execution::info)
}

fn attempts(reference: &Reference, id: &ExecutionId) -> Result<Attempts, Refusal> {
    let model = &reference.model;
    find(reference, id).map(|found| found.attempts(model.attempts(id).to_vec(), model.leases(id).to_vec()))
}

fn result(reference: &Reference, id: &ExecutionId) -> Result<ExecutionEnd, Refusal> {
    let found = find(reference, id)?;
    found.ended(reference.model.result(id).cloned()).ok_or_else(|| {
        let state = found.public_state();
        Code::ExecutionNotTerminal.refusal().in_state(state).because(format!("the execution is {state}"))
    })
}

fn payload(reference: &Reference, id: &ExecutionId) -> Result<Payload, Refusal> {
    find(reference, id).map(|_| reference.model.payload(id).cloned().unwrap())
}
