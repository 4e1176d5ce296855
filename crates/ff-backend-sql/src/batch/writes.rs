//! Writes of a decided batch: each table once, in the order of its keys.

use std::collections::HashMap;

use ff_core::execution::{Attempt, Execution};
use ff_core::payload::Payload;
use ff_core::rule::change::{KeyEntry, Write};
use ff_core::rule::view::View;
use ff_core::types::ExecutionId;

use super::attempts::EndedAttempts;
use super::forgetting::{forget, forget_flows, key_of_entry};
use super::steps::write_steps;
use super::streams::write_streams;
use crate::api_key::api_key_of;
use crate::batch_state::{BatchState, Flows, SuspensionRecords};
use crate::budget::report_of;
use crate::error::SqlError;
use crate::event::{feed_of, record_events};
use crate::execution::{Body, NARROW_TABLES, changed_submission, new_submission, put};
use crate::fairness::write_turns;
use crate::flow::{
    edge_put, flow_event_of, flow_key_of, flow_put, group_put, key_of_edge, key_of_flow, outbox_changes, trim_events,
};
use crate::lane::lane_of_record;
use crate::lease::{event_of, trim};
use crate::quota::{key_of_quota_row, quota_row_of, quotas_of};
use crate::schedule::{key_of_schedule, schedule_of};
use crate::session::{Put, Read, Session, delete_all, key_of, put_all};
use crate::signal::{record_deliveries, signal_key_of, signal_of};
use crate::singleton::{key_of_queue, queue_put};
use crate::suspension::{ring_of, suspend_key_of, waitpoint_of};
use crate::table::schema::{
    API_KEY, ATTEMPT, EDGE, EDGE_GROUP, EXECUTION, FEED, FLOW, FLOW_EVENT, FLOW_KEY, IDEMPOTENCY, KEY_QUEUE, KEY_RING,
    LANE, LEASE_EVENT, QUOTA_ROW, QUOTA_SET, SCHEDULE, SIGNAL, SIGNAL_KEY, SUBMISSION, SUSPEND_KEY, USAGE_REPORT,
    WAITPOINT, WORKER,
};
use crate::table::value::Value;
use crate::worker::worker_of;

/// Writes all changes of the batch state, and returns whether there were any.
pub(super) async fn write(session: &mut dyn Session, state: &mut BatchState) -> Result<bool, SqlError> {
    let mut written = forget(session, state).await?;
    let mut side_writes = std::mem::take(&mut state.side_writes);
    inject(session, &mut side_writes.payloads).await?;
    state.keep_small(&side_writes.payloads);
    let attempts = std::mem::take(&mut side_writes.attempts);
    let EndedAttempts { last, rows } = EndedAttempts::of(session, state, attempts).await?;
    let mut executions: Vec<_> = state.rewritten().collect();
    executions.sort_unstable_by_key(|(_, after)| (after.id.uuid(), after.id.partition()));
    written |= write_submissions(session, state, &executions, side_writes.payloads).await?;
    written |= write_executions(session, state, executions, &mut side_writes.results, last).await?;
    written |= put_all(session, &ATTEMPT, rows).await?;
    let leases = side_writes.leases.iter().map(|(id, event)| event_of(id, event)).collect::<Result<_, _>>()?;
    written |= put_all(session, &LEASE_EVENT, leases).await?;
    trim(session, &side_writes.leases).await?;
    written |= put_all(session, &IDEMPOTENCY, side_writes.keys.values().map(key_entry).collect()).await?;
    written |= write_waits(session, &state.suspensions).await?;
    written |= write_streams(session, &state.streams).await?;
    written |= write_steps(session, &state.steps).await?;
    written |= write_flows(session, &state.flows).await?;
    written |= write_settings(session, state).await?;
    let outbox_changes = outbox_changes(state.rewritten());
    if !outbox_changes.is_empty() {
        session.note_pending_ends(&outbox_changes).await?;
    }
    Ok(written)
}

/// Writes executions with their results and last attempts, and their rows in the narrow tables.
async fn write_executions(
    session: &mut dyn Session,
    state: &BatchState,
    mut executions: Vec<(Option<&Execution>, &Execution)>,
    results: &mut HashMap<ExecutionId, Write<Payload>>,
    mut last: HashMap<ExecutionId, Write<Attempt>>,
) -> Result<bool, SqlError> {
    let mut rows = Vec::with_capacity(executions.len());
    for (before, after) in &executions {
        let (result, attempt) = (results.remove(&after.id), last.remove(&after.id));
        // If a new execution takes the id of a deleted one, the row stays, without the old result and last attempt.
        let goes = state.is_being_forgotten(&after.id);
        let result = result.unwrap_or(if goes { Write::Remove } else { Write::Keep });
        let attempt = attempt.unwrap_or(if goes { Write::Remove } else { Write::Keep });
        rows.push(put(*before, after, result, attempt)?);
    }
    for (id, result) in results.drain() {
        if let Ok(Some(execution)) = state.execution(&id) {
            rows.push(put(Some(execution), execution, result, Write::Keep)?);
        }
    }
    let mut written = put_all(session, &EXECUTION, rows).await?;
    // `forget` has already deleted the narrow rows of deleted executions.
    executions
        .iter_mut()
        .filter(|(_, after)| state.is_being_forgotten(&after.id))
        .for_each(|(before, _)| *before = None);
    for narrow in &NARROW_TABLES {
        let (entered, left) = narrow.put_and_deleted(&executions);
        if !left.is_empty() {
            session.remove(narrow.table, left).await?;
        }
        written |= put_all(session, narrow.table, entered).await?;
    }
    Ok(written | delete_all(session, &EXECUTION, state.forgotten().map(key_of).collect()).await?)
}

/// Writes lanes, quotas, turns, usage reports, key queues, schedules, workers, API keys, feeds and events.
async fn write_settings(session: &mut dyn Session, state: &BatchState) -> Result<bool, SqlError> {
    let lanes = state.cache.lanes.written().map(|((partition, _), lane)| lane_of_record(*partition, lane));
    let mut written = put_all(session, &LANE, lanes.collect::<Result<_, _>>()?).await?;
    let quotas = state.cache.quotas.written().map(|((partition, _), set)| quotas_of(*partition, set));
    written |= put_all(session, &QUOTA_SET, quotas.collect::<Result<_, _>>()?).await?;
    // A row may be deleted without having been loaded.
    let gone = state.quota_rows.touched().filter(|(_, row)| row.is_none());
    let gone = gone.map(|((policy_id, name), _)| key_of_quota_row(policy_id, name));
    written |= delete_all(session, &QUOTA_ROW, gone.collect()).await?;
    let rows = state.quota_rows.written().map(|((policy_id, name), row)| quota_row_of(policy_id, name, row));
    written |= put_all(session, &QUOTA_ROW, rows.collect::<Result<_, _>>()?).await?;
    written |= write_turns(session, &state.turns.turns).await?;
    let reports = state.usage_reports.written().map(|(_, entry)| report_of(entry));
    written |= put_all(session, &USAGE_REPORT, reports.collect()).await?;
    let queues = state.key_queues.written().map(|(_, queue)| queue_put(queue));
    written |= put_all(session, &KEY_QUEUE, queues.collect::<Result<_, _>>()?).await?;
    written |= delete_all(session, &KEY_QUEUE, state.key_queues.removed().map(key_of_queue).collect()).await?;
    let schedules = state.schedules.written().map(|(id, schedule)| schedule_of(id, schedule));
    written |= put_all(session, &SCHEDULE, schedules.collect::<Result<_, _>>()?).await?;
    written |= delete_all(session, &SCHEDULE, state.schedules.removed().map(key_of_schedule).collect()).await?;
    let workers = state.workers.written().map(|(_, worker)| worker_of(worker));
    written |= put_all(session, &WORKER, workers.collect::<Result<_, _>>()?).await?;
    let gone = state.workers.removed().map(|instance| vec![instance.as_str().into()]);
    written |= delete_all(session, &WORKER, gone.collect()).await?;
    let keys = state.api_keys.written().map(|(_, key)| api_key_of(key));
    written |= put_all(session, &API_KEY, keys.collect::<Result<_, _>>()?).await?;
    let feeds = state.cache.feeds.written().map(|(partition, feed)| feed_of(*partition, feed));
    written |= put_all(session, &FEED, feeds.collect()).await?;
    written |= record_events(session, &state.events).await?;
    Ok(written)
}

async fn write_flows(session: &mut dyn Session, flows: &Flows) -> Result<bool, SqlError> {
    let put = |(id, after)| flow_put(flows.flows.stored(id), after);
    let mut written = forget_flows(session, flows).await?;
    written |= put_all(session, &FLOW, flows.flows.written().map(put).collect::<Result<_, _>>()?).await?;
    let gone = flows.flows.removed().filter_map(|id| flows.flows.stored(id));
    written |= delete_all(session, &FLOW, gone.map(|flow| key_of_flow(&flow.id, flow.partition)).collect()).await?;
    let put = |(id, after)| edge_put(flows.edges.stored(id), after);
    written |= put_all(session, &EDGE, flows.edges.written().map(put).collect::<Result<_, _>>()?).await?;
    let gone = flows.edges.removed().map(|(flow, edge)| key_of_edge(flow, edge));
    written |= delete_all(session, &EDGE, gone.collect()).await?;
    let put = |(id, after)| group_put(flows.groups.stored(id), after);
    written |= put_all(session, &EDGE_GROUP, flows.groups.written().map(put).collect::<Result<_, _>>()?).await?;
    written |= delete_all(session, &EDGE_GROUP, flows.groups.removed().map(key_of).collect()).await?;
    let keys = flows.keys.written().map(|((flow, _), entry)| flow_key_of(flow, entry));
    written |= put_all(session, &FLOW_KEY, keys.collect::<Result<_, _>>()?).await?;
    let events = flows.events.iter().map(|(flow, event)| flow_event_of(flow, event));
    written |= put_all(session, &FLOW_EVENT, events.collect::<Result<_, _>>()?).await?;
    trim_events(session, &flows.events).await?;
    Ok(written)
}

async fn write_waits(session: &mut dyn Session, suspensions: &SuspensionRecords) -> Result<bool, SqlError> {
    let waitpoints = suspensions.waitpoints.written().map(|(_, waitpoint)| waitpoint_of(waitpoint));
    let mut written = put_all(session, &WAITPOINT, waitpoints.collect::<Result<_, _>>()?).await?;
    let keys = suspensions.suspend_keys.written().map(|(_, entry)| suspend_key_of(entry));
    written |= put_all(session, &SUSPEND_KEY, keys.collect::<Result<_, _>>()?).await?;
    let rings = suspensions.rings.written().map(|(partition, ring)| ring_of(*partition, ring));
    written |= put_all(session, &KEY_RING, rings.collect::<Result<_, _>>()?).await?;
    let signals = suspensions.signals.iter().map(signal_of);
    written |= put_all(session, &SIGNAL, signals.collect::<Result<_, _>>()?).await?;
    let keys = suspensions.signal_keys.written().map(|(_, entry)| signal_key_of(entry));
    written |= put_all(session, &SIGNAL_KEY, keys.collect()).await?;
    record_deliveries(session, &suspensions.signals).await?;
    Ok(written)
}

/// Replaces each payload that is to be another execution's result by that stored result.
async fn inject(reader: &mut dyn Read, payloads: &mut HashMap<ExecutionId, Write<Payload>>) -> Result<(), SqlError> {
    let others = payloads.values().filter_map(|write| match write {
        Write::ResultOf(other) => Some(*other),
        _ => None,
    });
    let results = Body::Result.of(reader, &others.collect::<Vec<_>>()).await?;
    for write in payloads.values_mut() {
        if let Write::ResultOf(other) = write {
            *write = results.get(other).cloned().map_or(Write::Keep, Write::Put);
        }
    }
    Ok(())
}

/// Writes new and changed submissions.
async fn write_submissions(
    session: &mut dyn Session,
    state: &BatchState,
    executions: &[(Option<&Execution>, &Execution)],
    mut payloads: HashMap<ExecutionId, Write<Payload>>,
) -> Result<bool, SqlError> {
    let mut rows = Vec::new();
    for (before, after) in executions {
        let payload = match payloads.remove(&after.id) {
            Some(Write::Put(payload)) => Some(payload),
            // `inject` has replaced the results of other executions, and no rule removes a payload.
            _ => None,
        };
        // The submission row of a deleted execution is gone before a new execution takes its id.
        let row = match before.filter(|_| !state.is_being_forgotten(&after.id)) {
            None => Some(new_submission(after, payload, before.is_none())?),
            Some(before) => changed_submission(before, after, payload)?,
        };
        rows.extend(row);
    }
    for (id, payload) in payloads {
        if let (Write::Put(payload), Ok(Some(execution))) = (payload, state.execution(&id)) {
            rows.extend(changed_submission(execution, execution, Some(payload))?);
        }
    }
    put_all(session, &SUBMISSION, rows).await
}

fn key_entry(entry: &KeyEntry) -> Put {
    Put::under(key_of_entry(entry), [Value::Uuid(entry.execution_id.uuid()), entry.until.into()])
}
