//! Flows in a snapshot of a partition.

use ff_core::backend::snapshot::Snapshot;
use ff_core::flow::{Flow, FlowIndex, SweepAction, grace_ends};
use ff_core::rule::due::Due;
use ff_core::rule::index::Score;
use ff_core::types::{ExecutionId, FlowId, IdempotencyKey, TimestampMs};

use crate::error::{SqlError, unreadable};
use crate::flow::queries::{FLOW_KEYS_OF, FLOWS_ON};
use crate::flow::{edges_after, events_from, flow_strays, key_of_flow, read_flow_key, read_group};
use crate::session::{Read, key_of};
use crate::table::record;
use crate::table::schema::{EDGE_GROUP, FLOW};
use crate::table::value::{Row, Value};

/// Adds flows to a snapshot that has the executions. An unreadable record becomes a stray, and the rest is still added.
pub(super) async fn add_flows(
    reader: &mut dyn Read,
    snapshot: &mut Snapshot,
    partition: u16,
    ids: &[ExecutionId],
) -> Result<(), SqlError> {
    add_pending(snapshot);
    let rows = reader.query(FLOWS_ON, &[vec![partition.into()]]).await?;
    let flows: Vec<_> =
        rows.iter().flatten().map(|row| row.uuid(0).map(FlowId::from_uuid)).collect::<Result<_, _>>()?;
    let keys: Vec<_> = flows.iter().map(|id| key_of_flow(id, partition)).collect();
    for (id, row) in flows.iter().zip(reader.load(&FLOW, FLOW.all(), &keys).await?) {
        let Some(row) = row else { continue };
        if let Err(error) = add_flow(snapshot, id, &row) {
            snapshot.strays.push(about(id, partition, error));
        }
        for edge in edges_after(reader, id, partition, None, usize::MAX).await? {
            snapshot.edges.insert((*id, edge.id), edge);
        }
        snapshot.flow_events.insert(*id, events_from(reader, id, 0, usize::MAX).await?);
        for row in reader.query(FLOW_KEYS_OF, &[vec![Value::Uuid(*id.as_uuid())]]).await?.iter().flatten() {
            let key = IdempotencyKey::parse(row.text(0)?).map_err(unreadable("a key"))?;
            snapshot.flow_keys.insert((*id, key.clone()), read_flow_key(key, row, 1)?);
        }
    }
    let groups = reader.load(&EDGE_GROUP, EDGE_GROUP.all(), &ids.iter().map(key_of).collect::<Vec<_>>()).await?;
    for (id, row) in ids.iter().zip(groups).filter_map(|(id, row)| Some((id, row?))) {
        snapshot.groups.insert(*id, read_group(*id, &row, EDGE_GROUP.key)?);
    }
    Ok(())
}

/// Adds pending propagations. They have no index of their own: the due index leads to them, and their records say what is pending.
fn add_pending(snapshot: &mut Snapshot) {
    for execution in snapshot.executions.values() {
        for due in [Due::Dependents, Due::Siblings] {
            if let (Some(index), Some(since)) = (due.index(), execution.due_at(due)) {
                snapshot.indexes.entry(index).or_default().insert(execution.id, since.0);
            }
        }
    }
}

fn add_flow(snapshot: &mut Snapshot, id: &FlowId, row: &Row) -> Result<(), SqlError> {
    for (index, score) in entries(row)? {
        snapshot.flow_indexes.entry(index).or_default().insert(*id, score);
    }
    let flow: Flow = record::read(row.text(FLOW.place("record"))?)?;
    let strays = flow_strays(row, &flow).into_iter().map(|what| about(id, flow.partition, what));
    snapshot.strays.extend(strays);
    snapshot.flows.insert(*id, flow);
    Ok(())
}

/// Returns the indexes that the columns of a flow place it in, which are those the store's queries use.
fn entries(row: &Row) -> Result<Vec<(FlowIndex, Score)>, SqlError> {
    let (staged, action, due) = (FLOW.place("staged_until"), FLOW.place("sweep_action"), FLOW.place("due_at"));
    let mut entries = vec![if row.is_null(staged) {
        (FlowIndex::Flows, row.int(FLOW.place("created_at"))?)
    } else {
        (FlowIndex::Staging, row.int(staged)?)
    }];
    if !row.is_null(action) {
        match row.text(action)?.parse().map_err(unreadable("a sweep action"))? {
            SweepAction::Open => entries.push((FlowIndex::Opening, row.int(due)?)),
            SweepAction::Cancel => entries.push((FlowIndex::CancelBacklog, grace_ends(TimestampMs(row.int(due)?)))),
            SweepAction::Forget => entries.push((FlowIndex::Retention, row.int(due)?)),
            // A flow that is being forgotten is in the index of staged flows.
            SweepAction::Discard => {}
        }
    } else if row.is_null(staged) && !row.is_null(due) {
        // A flow that is neither staged nor in a member sweep can only be due for its deletion.
        entries.push((FlowIndex::Retention, row.int(due)?));
    }
    Ok(entries)
}

/// Returns a stray about a flow. Strays have an execution's id, so the flow's uuid takes its place.
fn about(id: &FlowId, partition: u16, what: impl std::fmt::Display) -> (ExecutionId, String) {
    (ExecutionId::new(partition, *id.as_uuid()), format!("flow: {what}"))
}
