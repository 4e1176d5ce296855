//! What callers read, on both sides.

use ff_core::backend::{EngineStore, Ready, Swept};
use ff_core::contracts::{Attempts, Ended, ExecutionInfo, ListArgs, Page};
use ff_core::engine_error::{Code, Refusal};
use ff_core::execution::Execution;
use ff_core::operation::{Operation, Reply, check_id};
use ff_core::payload::Payload;
use ff_core::types::ExecutionId;
use ff_engine::Orchestration;

use super::compared::{Compared, Difference, differ};
use super::reference::Reference;
use super::told::{Told, Word, refusal};
use super::{flow, operating, waiting};

/// A bulk submission, as one call.
pub(crate) async fn submit_many(store: &dyn EngineStore, operations: &[Operation]) -> Told {
    let args = operations.iter().filter_map(|operation| match operation {
        Operation::Submit(args) => Some(args.clone()),
        _ => None,
    });
    let answers = refusal(store.submit_many(args.collect()).await).unwrap();
    answers.into_iter().map(|answer| refusal(answer).map(|one| Word::Reply(Reply::Submitted(one)))).collect()
}

/// What an engine finds when it looks at a partition.
pub(crate) async fn sweep(compared: &Compared, partition: u16) -> Result<(), Difference> {
    let model = &compared.reference.model;
    let swept = Swept { ready: model.ready(partition), next_due: model.next_due(partition) };
    let found = compared.store().sweep(partition).await.unwrap();
    differ(format!("a sweep of partition {partition}"), &ordered(swept), &ordered(found))
}

fn ordered(mut swept: Swept) -> Swept {
    swept.ready.sort_by_key(|Ready { lane, kind, .. }| (lane.clone(), kind.clone()));
    swept
}

/// Reads the jobs of the last few steps, or all of them, and one listing that changes with every look.
pub(crate) async fn look(compared: &Compared, nth: usize, closely: bool) -> Result<(), Difference> {
    let reference = &compared.reference;
    let lately = if closely { usize::MAX } else { 4 };
    let jobs: Vec<_> = reference.jobs().collect();
    let mut ids: Vec<_> = jobs.iter().rev().take(lately).map(|(_, id)| *id).collect();
    ids.extend([reference.id(u32::MAX), reference.id(u32::MAX - 1)]);
    for id in ids {
        let store = compared.store();
        let described = refusal(store.describe(&id).await);
        differ(format!("describe {id}"), &describe(reference, &id), &described)?;
        differ(format!("attempts {id}"), &attempts(reference, &id), &refusal(store.attempts(&id).await))?;
        differ(format!("result {id}"), &result(reference, &id), &refusal(store.result(&id).await))?;
        differ(format!("payload {id}"), &payload(reference, &id), &refusal(store.payload(&id).await))?;
        waiting::look(compared, &id, nth).await?;
    }
    waiting::deliveries(compared, nth, closely).await?;
    flow::look(compared, nth, closely).await?;
    operating::look(compared, nth).await?;
    let mut args = ListArgs { filter: operating::filter(compared, nth), after: None, limit: 1 + nth % 9 };
    loop {
        let page = Page::of(reference.model.newest(&args), &args);
        differ(format!("{args:?}"), &Ok(page.clone()), &refusal(compared.store().list(args.clone()).await))?;
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

fn result(reference: &Reference, id: &ExecutionId) -> Result<Ended, Refusal> {
    let found = find(reference, id)?;
    found.ended(reference.model.result(id).cloned()).ok_or_else(|| {
        let state = found.public_state();
        Code::ExecutionNotTerminal.refusal().in_state(state).because(format!("the execution is {state}"))
    })
}

fn payload(reference: &Reference, id: &ExecutionId) -> Result<Payload, Refusal> {
    find(reference, id).map(|_| reference.model.payload(id).cloned().unwrap())
}

pub(super) fn find<'r>(reference: &'r Reference, id: &ExecutionId) -> Result<&'r Execution, Refusal> {
    check_id(id, &reference.partitions)?;
    reference.model.find(id).ok_or_else(|| Code::ExecutionNotFound.refusal())
}
