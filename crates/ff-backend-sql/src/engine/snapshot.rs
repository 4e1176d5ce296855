//! Everything a partition holds. Its indexes are taken from the columns as they are stored, so that a doctor can hold them
//! against the records.

use std::collections::BTreeMap;

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::change::KeyEntry;
use ff_core::event::Feed;
use ff_core::execution::Execution;
use ff_core::index::{Index, eligible_score, has_state_index};
use ff_core::lane::Lane;
use ff_core::payload::Payload;
use ff_core::query::TakeSnapshot;
use ff_core::signal::Position;
use ff_core::snapshot::Snapshot;
use ff_core::state::PublicState;
use ff_core::types::{
    ExecutionId, IdempotencyKey, Kind, Namespace, Priority, TagKey, TagValue, TimestampMs, WorkerInstanceId,
};
use ff_core::worker::Worker;

use super::flows::add_flows;
use super::streams::add_streams;
use super::suspensions::add_waits;
use crate::error::{SqlError, unreadable};
use crate::event::read_told;
use crate::execution::{STAGED, attempts_of, lane_of, leases_of, read_body, strays};
use crate::queries::{EXECUTIONS_ON, KEYS_ON, LABELS_ON, LANES_ON, WORKERS_ON};
use crate::schema::{EXECUTION, FEED, PAYLOAD, RESULT};
use crate::session::{Question, Read, key_of};
use crate::table::Table;
use crate::value::{Row, Value};
use crate::{ReadContext, record};

#[async_trait]
impl Question for TakeSnapshot {
    type Answer = Snapshot;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<Snapshot> {
        let ids = executions_on(reader, self.partition).await?;
        let keys: Vec<_> = ids.iter().map(key_of).collect();
        let mut snapshot = Snapshot::default();
        for (id, row) in ids.iter().zip(reader.load(&EXECUTION, EXECUTION.all(), &keys).await?) {
            let Some(row) = row else { continue };
            let stored = StoredRow { id: *id, row: &row };
            stored.file(&mut snapshot)?;
            match record::read::<Execution>(stored.text("record")?) {
                Ok(execution) => {
                    snapshot.strays.extend(strays(&row, &execution).into_iter().map(|what| (*id, what)));
                    snapshot.executions.insert(*id, execution);
                }
                Err(error) => snapshot.strays.push((*id, error.to_string())),
            }
        }
        snapshot.payloads = bodies(reader, &PAYLOAD, &ids).await?;
        snapshot.results = bodies(reader, &RESULT, &ids).await?;
        snapshot.attempts = present(&ids, attempts_of(reader, &ids).await?);
        snapshot.leases = present(&ids, leases_of(reader, &ids).await?);
        snapshot.keys = keys_on(reader, self.partition).await?;
        add_waits(reader, &mut snapshot, self.partition, &ids).await?;
        add_streams(reader, &mut snapshot, self.partition).await?;
        add_flows(reader, &mut snapshot, self.partition, &ids).await?;
        add_operating(reader, &mut snapshot, self.partition).await?;
        Ok(snapshot)
    }
}

async fn executions_on(reader: &mut dyn Read, partition: u16) -> Result<Vec<ExecutionId>, SqlError> {
    let rows = reader.query(EXECUTIONS_ON, &[vec![partition.into()]]).await?;
    rows.iter().flatten().map(|row| row.id(0, partition)).collect()
}

async fn bodies(
    reader: &mut dyn Read,
    table: &'static Table,
    ids: &[ExecutionId],
) -> Result<BTreeMap<ExecutionId, Payload>, SqlError> {
    let rows = reader.load(table, table.all(), &ids.iter().map(key_of).collect::<Vec<_>>()).await?;
    let found = ids.iter().zip(rows).filter_map(|(id, row)| Some((*id, row?)));
    found.map(|(id, row)| Ok((id, read_body(&row)?))).collect()
}

fn present<T>(ids: &[ExecutionId], lists: Vec<Vec<T>>) -> BTreeMap<ExecutionId, Vec<T>> {
    ids.iter().copied().zip(lists).filter(|(_, list)| !list.is_empty()).collect()
}

async fn keys_on(reader: &mut dyn Read, partition: u16) -> Result<BTreeMap<(String, String), KeyEntry>, SqlError> {
    let rows = reader.query(KEYS_ON, &[vec![partition.into()]]).await?;
    let entry = |row: &Row| {
        let (namespace, key) = (row.text(0)?.to_owned(), row.text(1)?.to_owned());
        let entry = KeyEntry {
            namespace: Namespace::parse(&namespace).map_err(unreadable("a namespace"))?,
            key: IdempotencyKey::parse(&key).map_err(unreadable("a key"))?,
            execution_id: row.id(2, partition)?,
            until: row.moment(3)?,
        };
        Ok(((namespace, key), entry))
    };
    rows.iter().flatten().map(entry).collect()
}

/// A row of an execution as it is stored, whatever its record says.
struct StoredRow<'r> {
    id: ExecutionId,
    row: &'r Row,
}

impl StoredRow<'_> {
    /// Puts the execution where its columns place it, as one of the store's own queries would find it there.
    fn file(&self, snapshot: &mut Snapshot) -> Result<(), SqlError> {
        if self.text("state")? == STAGED {
            return Ok(());
        }
        let mut enter = |index, score| {
            snapshot.indexes.entry(index).or_default().insert(self.id, score);
        };
        let lane = lane_of(self.text("lane")?)?;
        let created_at = self.int("created_at")?.unwrap_or_default();
        enter(Index::AllExecutions, created_at);
        let namespace = Namespace::parse(self.text("namespace")?).map_err(unreadable("a namespace"))?;
        let state: PublicState = self.text("state")?.parse().map_err(unreadable("a state"))?;
        if !namespace.is_default() {
            enter(Index::NamespaceExecutions(namespace.clone()), created_at);
        }
        if has_state_index(state) {
            enter(Index::InState(namespace, state), created_at);
        }
        // What has finished and is in no flow has nothing to wait for but to be forgotten.
        let forgotten_at = self.int("due_at")?.filter(|_| state.is_terminal());
        if let (Some(at), true) = (forgotten_at, self.row.is_null(EXECUTION.place("flow_id"))) {
            enter(Index::Retention, at);
        }
        if self.int("eligible")? == Some(1) {
            let priority =
                Priority::new(self.int("priority")?.unwrap_or_default()).map_err(unreadable("a priority"))?;
            let score = eligible_score(priority, TimestampMs(created_at));
            let kind = Kind::parse(self.text("kind")?).map_err(unreadable("a kind"))?;
            enter(Index::LaneEligible(lane.clone()), score);
            enter(Index::LaneEligibleKind(lane.clone(), kind), score);
        }
        if let Some(acquired_at) = self.int("acquired_at")? {
            let holder = WorkerInstanceId::parse(self.text("holder")?).map_err(unreadable("a holder"))?;
            enter(Index::WorkerLeases(holder), acquired_at);
        }
        let is_suspended = state == PublicState::Suspended;
        if is_suspended {
            // A suspension begins when the execution enters it, and nothing changes its phase before its end.
            enter(Index::LaneSuspended(lane.clone()), self.int("changed_at")?.unwrap_or_default());
        }
        if state == PublicState::WaitingChildren {
            enter(Index::LaneBlockedDependencies(lane.clone()), created_at);
        }
        let times_out = if is_suspended { Index::SuspensionTimeout } else { Index::AttemptTimeout };
        for (column, index) in [
            ("delayed_until", Index::LaneDelayed(lane.clone())),
            ("acquired_at", Index::LaneActive(lane.clone())),
            ("finished_at", Index::LaneTerminal(lane)),
            ("lease_until", Index::LeaseExpiry),
            ("timeout_at", times_out),
            ("deadline_at", Index::ExecutionDeadline),
        ] {
            if let Some(at) = self.int(column)? {
                enter(index, at);
            }
        }
        Ok(())
    }

    fn text(&self, column: &str) -> Result<&str, SqlError> {
        self.row.text(EXECUTION.place(column))
    }

    fn int(&self, column: &str) -> Result<Option<i64>, SqlError> {
        match self.row.values().get(EXECUTION.place(column)) {
            Some(Value::Null) => Ok(None),
            _ => self.row.int(EXECUTION.place(column)).map(Some),
        }
    }
}

/// Adds them to a snapshot.
pub(super) async fn add_operating(
    reader: &mut dyn Read,
    snapshot: &mut Snapshot,
    partition: u16,
) -> Result<(), SqlError> {
    let here = || [vec![partition.into()]];
    for row in reader.query(LABELS_ON, &here()).await?.iter().flatten() {
        let (index, id) = (label(row)?, row.id(4, partition)?);
        snapshot.indexes.entry(index).or_default().insert(id, row.int(3)?);
    }
    for row in reader.query(LANES_ON, &here()).await?.iter().flatten() {
        snapshot.lanes.insert(lane_of(row.text(0)?)?, record::read::<Lane>(row.text(1)?)?);
    }
    for row in reader.query(WORKERS_ON, &here()).await?.iter().flatten() {
        let worker: Worker = record::read(row.text(0)?)?;
        snapshot.workers.insert(worker.worker_instance_id.clone(), worker);
    }
    let feed = reader.load(&FEED, FEED.named(&["since", "until"]), &here()).await?;
    let feed = feed.iter().flatten().next();
    snapshot.feed =
        feed.map(|row| Ok::<_, SqlError>(Feed { since: row.moment(0)?, until: row.moment(1)? })).transpose()?;
    let start = Position { at: TimestampMs(i64::MIN), nth: 0 };
    let told = read_told(reader, &[(partition, start)], usize::MAX).await?;
    snapshot.told = told.into_iter().flat_map(|(_, told)| told).collect();
    Ok(())
}

fn label(row: &Row) -> Result<Index, SqlError> {
    let namespace = Namespace::parse(row.text(0)?).map_err(unreadable("a namespace"))?;
    let key = TagKey::parse(row.text(1)?).map_err(unreadable("a label"))?;
    Ok(Index::Tag(namespace, key, TagValue::parse(row.text(2)?).map_err(unreadable("a label"))?))
}
