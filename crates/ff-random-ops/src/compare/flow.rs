//! Compares the reads of flows.

use std::cmp::Reverse;

use super::calls::refusal;
use super::{Comparison, Difference, differ};
use crate::prelude::*;
use crate::reference::vocabulary;
use crate::reference::{FLOW_TAG, Reference, flow_id};

/// Compares one flow, or all flows for a close look, an unknown flow, and one listing. The flow and the listing change
/// with every look.
pub(crate) async fn look(comparison: &Comparison, nth: usize, closely: bool) -> Result<(), Difference> {
    let mut ids: Vec<_> = comparison.reference.model.flows().map(|flow| flow.id).collect();
    if !closely && !ids.is_empty() {
        ids = vec![ids[nth % ids.len()]];
    }
    for id in ids.into_iter().chain([flow_id(u32::MAX)]) {
        one(comparison, &id, nth).await?;
    }
    list(comparison, nth, closely).await
}

async fn one(comparison: &Comparison, id: &FlowId, nth: usize) -> Result<(), Difference> {
    let (reference, store) = (&comparison.reference, comparison.calls());
    differ(format!("flow {id}"), &describe(reference, id), &refusal(store.describe_flow(id).await))?;
    let ended = describe(reference, id).map(|info| info.end());
    differ(format!("end of flow {id}"), &ended, &refusal(comparison.store().end_of_flow(id).await))?;
    let mut args = FlowMembersArgs { flow_id: *id, from: 0, limit: 1 + nth % 7 };
    loop {
        let page = members(reference, args);
        differ(format!("{args:?}"), &page, &refusal(store.flow_members(args).await))?;
        let Ok(MembersPage { next: Some(next), .. }) = page else { break };
        args.from = next;
    }
    let mut args = FlowEdgesArgs { flow_id: *id, after: None, limit: 1 + nth % 5 };
    loop {
        let page = edges(reference, args);
        differ(format!("{args:?}"), &page, &refusal(store.flow_edges(args).await))?;
        let Ok(EdgesPage { next: Some(next), .. }) = page else { break };
        args.after = Some(next);
    }
    let mut args = FlowEventsArgs { flow_id: *id, from: 0, limit: 1 + nth % 20 };
    loop {
        let page = events(reference, args);
        differ(format!("{args:?}"), &page, &refusal(store.flow_events(args).await))?;
        let Ok(FlowEventsPage { next, .. }) = page else { break };
        if next == args.from {
            break;
        }
        args.from = next;
    }
    Ok(())
}

async fn list(comparison: &Comparison, nth: usize, closely: bool) -> Result<(), Difference> {
    let state = nth.is_multiple_of(3).then(|| FlowState::ALL[nth / 3 % FlowState::ALL.len()]);
    let tag = nth.is_multiple_of(4).then(|| (TagKey::parse("tag-1").unwrap(), TagValue::parse(FLOW_TAG).unwrap()));
    let kind = nth.is_multiple_of(5).then(|| vocabulary::kind(1));
    let (namespace, limit) = (Namespace::default_name(), 1 + nth % 9);
    let mut args = ListFlowsArgs { namespace, kind, state, tag, after: None, limit };
    loop {
        let page = listed(&comparison.reference, &args);
        differ(format!("{args:?}"), &Ok(page.clone()), &refusal(comparison.calls().list_flows(args.clone()).await))?;
        args.after = page.next;
        if page.next.is_none() || !(closely || nth.is_multiple_of(5)) {
            return Ok(());
        }
    }
}

fn describe(reference: &Reference, id: &FlowId) -> Result<FlowInfo, Refusal> {
    found(reference, id).map(Flow::info)
}

fn members(reference: &Reference, args: FlowMembersArgs) -> Result<MembersPage, Refusal> {
    let (model, flow) = (&reference.model, found(reference, &args.flow_id)?.id);
    let all = model.members(&MembersOf { flow, after: None, limit: usize::MAX }).unwrap();
    let info = |id: &ExecutionId| MemberInfo::of(model.find(id)?, model.group(id).unwrap());
    let mut members: Vec<_> = all.iter().filter_map(info).filter(|info| info.position >= args.from).collect();
    members.sort_unstable_by_key(|info| info.position);
    let next = members.get(args.limit).map(|info| info.position);
    members.truncate(args.limit);
    Ok(MembersPage { members, next })
}

fn edges(reference: &Reference, args: FlowEdgesArgs) -> Result<EdgesPage, Refusal> {
    let flow = found(reference, &args.flow_id)?.id;
    let mut rest = reference.model.edges_after(&flow, args.after);
    let edges: Vec<EdgeInfo> = rest.by_ref().take(args.limit).map(EdgeInfo::from).collect();
    let next = edges.last().map(|edge| edge.edge_id).filter(|_| rest.next().is_some());
    Ok(EdgesPage { edges, next })
}

fn events(reference: &Reference, args: FlowEventsArgs) -> Result<FlowEventsPage, Refusal> {
    let flow = found(reference, &args.flow_id)?;
    Ok(FlowEventsPage::of(flow, reference.model.flow_events(&flow.id), &args))
}

fn listed(reference: &Reference, args: &ListFlowsArgs) -> FlowsPage {
    let begins = |flow: &&Flow| args.after.is_none_or(|after| FlowCursor::of(flow) < after);
    let mut rows: Vec<_> = reference.model.flows().filter(|flow| args.wants(flow)).filter(begins).collect();
    rows.sort_unstable_by_key(|flow| Reverse(FlowCursor::of(flow)));
    let next = (rows.len() > args.limit).then(|| FlowCursor::of(rows[args.limit - 1]));
    FlowsPage { flows: rows.into_iter().take(args.limit).map(Flow::info).collect(), next }
}

fn found<'r>(reference: &'r Reference, id: &FlowId) -> Result<&'r Flow, Refusal> {
    reference.model.find_flow(id).ok_or_else(|| Code::FlowNotFound.refusal())
}
