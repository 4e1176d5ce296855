//! The whole contents of a partition. Indexes with tables of their own are read from those tables, so that the doctor can compare
//! them with the records.

use std::collections::BTreeMap;

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::backend::snapshot::Snapshot;
use ff_core::event::Feed;
use ff_core::execution::{Execution, Phase};
use ff_core::lane::Lane;
use ff_core::operation::query::TakeSnapshot;
use ff_core::rule::change::KeyEntry;
use ff_core::rule::index::{self, Index, eligible_score};
use ff_core::signal::Position;
use ff_core::types::{ExecutionId, FairKey, IdempotencyKey, Kind, Namespace, Priority, TagKey, TagValue, TimestampMs};
use ff_core::worker::Worker;

use super::flows::add_flows;
use super::steps::add_steps;
use super::streams::add_streams;
use super::suspensions::add_waits;
use crate::ReadContext;
use crate::error::{SqlError, unreadable};
use crate::event::read_events;
use crate::execution::{Body, USAGE_BACKLOG, attempts_of, class_of_queue, lane_of, leases_of, read_execution, strays};
use crate::fairness::add_turns;
use crate::queries::{
    DUE_ON, EXECUTION_OF, EXECUTIONS_ON, KEYS_ON, LANES_ON, LEASES_ON, READY_ON, TAGS_ON, WORKERS_ON,
};
use crate::session::{Question, Read, key_of};
use crate::singleton::queues_on;
use crate::table::record;
use crate::table::schema::{EXECUTION, FEED};
use crate::table::value::Row;

#[async_trait]
impl Question for TakeSnapshot {
    type Answer = Snapshot;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<Snapshot> {
        let ids = executions_on(reader, self.partition).await?;
        let keys: Vec<_> = ids.iter().map(key_of).collect();
        let mut snapshot = Snapshot::default();
        let mut entries = Entries::on(reader, &mut snapshot, self.partition).await?;
        let stored = reader.query(EXECUTION_OF, &keys).await?;
        let rows = reader.load(&EXECUTION, EXECUTION.all(), &keys).await?;
        for (id, (stored, row)) in ids.iter().zip(stored.into_iter().zip(rows)) {
            let (Some(stored), Some(row)) = (stored.first(), row) else { continue };
            match read_execution(stored, 0) {
                Ok(execution) => {
                    // Indexes with tables of their own are read from those.
                    for (index, score) in index::entries(&execution).into_iter().filter(|(index, _)| !is_table(index)) {
                        snapshot.indexes.entry(index).or_default().insert(*id, score);
                    }
                    let strays = strays(&row, &execution).into_iter().chain(entries.stray(&execution));
                    snapshot.strays.extend(strays.map(|what| (*id, what)));
                    snapshot.executions.insert(*id, execution);
                }
                Err(error) => snapshot.strays.push((*id, error.to_string())),
            }
        }
        snapshot.strays.extend(entries.orphans());
        snapshot.payloads = Body::Payload.of(reader, &ids).await?.into_iter().collect();
        snapshot.results = Body::Result.of(reader, &ids).await?.into_iter().collect();
        snapshot.attempts = present(&ids, attempts_of(reader, &ids).await?);
        snapshot.leases = present(&ids, leases_of(reader, &ids).await?);
        snapshot.keys = keys_on(reader, self.partition).await?;
        snapshot.key_queues = queues_on(reader, self.partition).await?;
        add_waits(reader, &mut snapshot, self.partition, &ids).await?;
        add_streams(reader, &mut snapshot, self.partition).await?;
        add_steps(reader, &mut snapshot, self.partition).await?;
        add_flows(reader, &mut snapshot, self.partition, &ids).await?;
        add_operating(reader, &mut snapshot, self.partition).await?;
        Ok(snapshot)
    }
}

async fn executions_on(reader: &mut dyn Read, partition: u16) -> Result<Vec<ExecutionId>, SqlError> {
    let rows = reader.query(EXECUTIONS_ON, &[vec![partition.into()]]).await?;
    rows.iter().flatten().map(|row| row.id(0, partition)).collect()
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

/// The due time of an execution and, while it runs, its lane and the beginning of its lease.
type Moment = (i64, Option<(String, i64)>);

/// Rows of the tables `lease` and `due`. An execution should have one at most.
#[derive(Default)]
struct Entries {
    due: BTreeMap<ExecutionId, Vec<Moment>>,
}

impl Entries {
    /// Reads the rows, and adds waiting executions to the indexes of their lanes.
    async fn on(reader: &mut dyn Read, snapshot: &mut Snapshot, partition: u16) -> Result<Self, SqlError> {
        let mut entries = Self::default();
        let here = || [vec![partition.into()]];
        for row in reader.query(READY_ON, &here()).await?.iter().flatten() {
            let (id, lane) = (row.id(0, partition)?, lane_of(row.text(1)?)?);
            let (class, key) = row.text(2)?.split_once(' ').unwrap_or((row.text(2)?, ""));
            let (class, is_unroutable) = class_of_queue(class).map_err(unreadable("a requirement class"))?;
            let key = FairKey::parse(key).map_err(unreadable("a key of a fair lane"))?;
            let kind = Kind::parse(row.text(3)?).map_err(unreadable("a kind"))?;
            if is_unroutable {
                let index = Index::LaneUnroutable(lane, kind, class);
                snapshot.indexes.entry(index).or_default().insert(id, row.moment(5)?.0);
                continue;
            }
            let priority = Priority::new(row.int(4)?).map_err(unreadable("a priority"))?;
            let score = eligible_score(priority, row.moment(5)?);
            let of_any_kind = if key.is_empty() {
                Index::LaneEligible(lane.clone(), class.clone())
            } else {
                Index::LaneKeyed(lane.clone())
            };
            for index in [of_any_kind, Index::queue(lane, kind, class, key)] {
                snapshot.indexes.entry(index).or_default().insert(id, score);
            }
        }
        for row in reader.query(LEASES_ON, &here()).await?.iter().flatten() {
            let lease = (row.text(2)?.to_owned(), row.int(3)?);
            entries.due.entry(row.id(0, partition)?).or_default().push((row.int(1)?, Some(lease)));
        }
        for row in reader.query(DUE_ON, &here()).await?.iter().flatten() {
            entries.due.entry(row.id(0, partition)?).or_default().push((row.int(1)?, None));
        }
        Ok(entries)
    }

    /// Removes the rows of an execution, and describes how they differ from its record.
    fn stray(&mut self, execution: &Execution) -> Option<String> {
        let lease = match &execution.phase {
            Phase::Running { lease } => Some((execution.lane_key().to_string(), lease.acquired_at.0)),
            _ => None,
        };
        let follows: Vec<_> = execution.next_due().map(|(at, _)| (at.0, lease)).into_iter().collect();
        let stored = self.due.remove(&execution.id).unwrap_or_default();
        (stored != follows).then(|| format!("its moments should be {follows:?}, are {stored:?}"))
    }

    /// Returns the rows that are left: those without an execution.
    fn orphans(self) -> impl Iterator<Item = (ExecutionId, String)> {
        self.due.into_iter().map(|(id, moments)| (id, format!("there is no execution for the moments {moments:?}")))
    }
}

/// Returns whether an index has a table of its own, apart from the rows of executions.
fn is_table(index: &Index) -> bool {
    matches!(
        index,
        Index::LaneEligible(..)
            | Index::LaneEligibleKind(..)
            | Index::LaneKeyed(..)
            | Index::LaneEligibleKey(..)
            | Index::LaneUnroutable(..)
            | Index::InState(..)
            | Index::InReason(..)
            | Index::UsageBacklog(..)
            | Index::Tag(..)
    )
}

/// Adds tags, lanes, turns, workers, the feed and its events to a snapshot.
pub(super) async fn add_operating(
    reader: &mut dyn Read,
    snapshot: &mut Snapshot,
    partition: u16,
) -> Result<(), SqlError> {
    let here = || [vec![partition.into()]];
    for row in reader.query(TAGS_ON, &here()).await?.iter().flatten() {
        let (index, id) = (label(row)?, row.id(4, partition)?);
        snapshot.indexes.entry(index).or_default().insert(id, row.int(3)?);
    }
    for row in reader.query(LANES_ON, &here()).await?.iter().flatten() {
        snapshot.lanes.insert(lane_of(row.text(0)?)?, record::read::<Lane>(row.text(1)?)?);
    }
    add_turns(reader, snapshot, partition).await?;
    for row in reader.query(WORKERS_ON, &here()).await?.iter().flatten() {
        let worker: Worker = record::read(row.text(0)?)?;
        snapshot.workers.insert(worker.worker_instance_id.clone(), worker);
    }
    let feed = reader.load(&FEED, FEED.named(&["since", "until"]), &here()).await?;
    let feed = feed.iter().flatten().next();
    snapshot.feed =
        feed.map(|row| Ok::<_, SqlError>(Feed { since: row.moment(0)?, until: row.moment(1)? })).transpose()?;
    let start = Position { at: TimestampMs(i64::MIN), nth: 0 };
    let events = read_events(reader, &[(partition, start)], usize::MAX).await?;
    snapshot.events = events.into_iter().flat_map(|(_, events)| events).collect();
    Ok(())
}

fn label(row: &Row) -> Result<Index, SqlError> {
    let namespace = Namespace::parse(row.text(0)?).map_err(unreadable("a namespace"))?;
    if row.text(1)?.is_empty() {
        let word = row.text(2)?;
        if word == USAGE_BACKLOG {
            return Ok(Index::UsageBacklog(namespace));
        }
        return match word.parse() {
            Ok(reason) => Ok(Index::InReason(namespace, reason)),
            Err(_) => Ok(Index::InState(namespace, word.parse().map_err(unreadable("a state"))?)),
        };
    }
    let key = TagKey::parse(row.text(1)?).map_err(unreadable("a label"))?;
    Ok(Index::Tag(namespace, key, TagValue::parse(row.text(2)?).map_err(unreadable("a label"))?))
}
