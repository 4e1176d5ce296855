//! Misses of a batch, loaded with one query per kind of record.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::operation::{Conditions, Decision};
use ff_core::partition::PartitionConfig;
use ff_core::rule::change::KeyEntry;
use ff_core::rule::view::{EdgesOf, Miss, Stop, View};
use ff_core::types::{ExecutionId, FlowId, IdempotencyKey, Namespace, TimestampMs};
use uuid::Uuid;

use super::QueuedOperation;
use super::attachments::edges_of_inputs;
use super::eligible::load_waiting;
use super::flows::FlowMisses;
use super::predict::predicted;
use super::registry::RegistryMisses;
use super::steps::StepMisses;
use super::streams::load_streams;
use super::suspensions::SuspensionMisses;
use crate::batch_state::{BatchState, ClaimFilter, IndexPrefix, StreamName, TurnList, all_into, list_of};
use crate::error::SqlError;
use crate::execution::stored_execution;
use crate::fairness::load_turns;
use crate::queries::{DUE, EXECUTION_OF};
use crate::session::{Read, key_of};
use crate::table::record::read_record;
use crate::table::schema::IDEMPOTENCY;
use crate::table::value::{Row, Value};

/// The misses of a batch, each once, and always in the same order.
#[derive(Clone, Default)]
pub(super) struct Misses {
    executions: BTreeSet<ExecutionId>,
    keys: BTreeSet<(Namespace, IdempotencyKey)>,
    /// Lists of waiting executions, each with its length: enough for all claims of the batch.
    waiting: BTreeMap<ClaimFilter, usize>,
    /// Lengths of the due lists of each partition, for executions and for flows. One query loads both.
    due: BTreeMap<u16, usize>,
    due_flows: BTreeMap<u16, usize>,
    turns: BTreeMap<TurnList, usize>,
    suspensions: SuspensionMisses,
    streams: BTreeSet<StreamName>,
    steps: StepMisses,
    flows: FlowMisses,
    registry: RegistryMisses,
}

impl Misses {
    pub(super) fn add(&mut self, state: &BatchState, miss: Miss) {
        let length = state.length_beyond(&miss);
        match miss {
            Miss::Execution(id) => self.executions.extend([id]),
            Miss::Key(namespace, key) => self.keys.extend([(namespace, key)]),
            Miss::KeyQueue(partition, namespace, name) => {
                self.registry.key_queues.extend([(partition, namespace, name)])
            }
            Miss::Eligible(query) => {
                self.waiting.entry(ClaimFilter::by(&query)).and_modify(|more| *more += query.limit).or_insert(length);
            }
            Miss::Due(query) => {
                self.due.entry(query.partition).and_modify(|more| *more += query.limit).or_insert(length);
            }
            Miss::Waitpoint(id, waitpoint) => self.suspensions.waitpoints.extend([(id, waitpoint)]),
            Miss::SuspendKey(id, key) => self.suspensions.suspend_keys.extend([(id, key)]),
            Miss::SignalKey(id, waitpoint, key) => self.suspensions.signal_keys.extend([(id, waitpoint, key)]),
            Miss::UsageReport(id, report) => self.registry.usage_reports.extend([(id, report)]),
            Miss::Stream(id, attempt) => self.streams.extend([(id, attempt)]),
            Miss::Step(id, step) => self.steps.steps.extend([(id, step)]),
            Miss::StepHeads(id) => self.steps.heads.extend([id]),
            Miss::Payload(id) => self.steps.payloads.extend([id]),
            Miss::Ring(partition) => self.suspensions.rings.extend([partition]),
            Miss::DueFlows(query) => {
                self.due_flows.entry(query.partition).and_modify(|more| *more += query.limit).or_insert(length);
            }
            Miss::Flow(id) => self.flows.flows.extend([id]),
            Miss::Edge(flow, edge) => self.flows.edges.extend([(flow, edge)]),
            Miss::Group(id) => self.flows.groups.extend([id]),
            Miss::FlowKey(flow, key) => self.flows.keys.extend([(flow, key)]),
            Miss::Lane(partition, lane) => self.registry.lanes.extend([(partition, lane)]),
            Miss::Active(partition, lane) => self.registry.held_counts.extend([(partition, lane)]),
            Miss::Turn(name) => self.registry.turns.extend([name]),
            Miss::Turns(query) => {
                self.turns.entry(list_of(&query)).and_modify(|more| *more += query.limit).or_insert(length);
            }
            Miss::Quotas(partition, namespace) => self.registry.quotas.extend([(partition, namespace)]),
            Miss::QuotaRow(policy_id, name) => self.registry.quota_rows.extend([(policy_id, name)]),
            Miss::Schedule(partition, schedule) => self.registry.schedules.extend([(partition, schedule)]),
            Miss::Worker(instance) => self.registry.workers.extend([instance]),
            Miss::ApiKey(id) => self.registry.api_keys.extend([id]),
            Miss::Feed(partition) => self.registry.feeds.extend([partition]),
            Miss::Edges(query) => self.flows.ends.want((&query).into(), length),
            Miss::Members(query) => self.flows.members.want((&query).into(), length),
            Miss::All(several) => several.into_iter().for_each(|miss| self.add(state, miss)),
        }
    }

    /// Adds edges into a member, to be loaded without the executions at their other ends.
    pub(super) fn add_bare(&mut self, state: &BatchState, query: &EdgesOf) {
        self.flows.bare.want(query.into(), state.length_beyond(&Miss::Edges(*query)));
    }

    /// Loads all misses into the batch state.
    pub(super) async fn load(
        self,
        reader: &mut dyn Read,
        state: &mut BatchState,
        at: &Conditions,
    ) -> Result<(), SqlError> {
        load_executions(reader, state, self.executions.into_iter().collect()).await?;
        load_keys(reader, state, self.keys.into_iter().collect(), &at.partitions).await?;
        load_waiting(reader, state, self.waiting.into_iter().collect()).await?;
        load_turns(reader, state, self.turns.into_iter().collect()).await?;
        let mut due = self.due;
        for (partition, length) in self.due_flows {
            due.entry(partition).and_modify(|longest| *longest = length.max(*longest)).or_insert(length);
        }
        load_due(reader, state, due.into_iter().collect(), at.now).await?;
        self.registry.load(reader, state).await?;
        self.suspensions.load(reader, &mut state.suspensions).await?;
        load_streams(reader, &mut state.streams, self.streams).await?;
        self.steps.load(reader, state).await?;
        self.flows.load(reader, state, &at.partitions).await
    }
}

async fn load_executions(reader: &mut dyn Read, state: &mut BatchState, ids: Vec<ExecutionId>) -> Result<(), SqlError> {
    let keys: Vec<_> = ids.iter().map(key_of).collect();
    let rows = reader.query(EXECUTION_OF, &keys).await?;
    for (id, rows) in ids.into_iter().zip(rows) {
        state.lay(id, rows.first().map_or(Ok(None), |row| stored_execution(row, 0)));
    }
    Ok(())
}

async fn load_keys(
    reader: &mut dyn Read,
    state: &mut BatchState,
    names: Vec<(Namespace, IdempotencyKey)>,
    partitions: &PartitionConfig,
) -> Result<(), SqlError> {
    let key = |(namespace, key): &(Namespace, IdempotencyKey)| {
        let partition = ExecutionId::place(Uuid::nil(), namespace, Some(key), partitions).partition();
        vec![partition.into(), namespace.as_str().into(), key.as_str().into()]
    };
    let keys: Vec<_> = names.iter().map(key).collect();
    let rows = reader.load(&IDEMPOTENCY, IDEMPOTENCY.named(&["partition", "uuid", "until"]), &keys).await?;
    for ((namespace, key), row) in names.into_iter().zip(rows) {
        let entry = row.map(|row| key_entry(&namespace, &key, &row)).transpose()?;
        state.lay_key(namespace, key, entry);
    }
    Ok(())
}

fn key_entry(namespace: &Namespace, key: &IdempotencyKey, row: &Row) -> Result<KeyEntry, SqlError> {
    let execution_id = row.id(1, row.partition(0)?)?;
    Ok(KeyEntry { namespace: namespace.clone(), key: key.clone(), execution_id, until: row.moment(2)? })
}

async fn load_due(
    reader: &mut dyn Read,
    state: &mut BatchState,
    lists: Vec<(u16, usize)>,
    now: TimestampMs,
) -> Result<(), SqlError> {
    let parameters = |(partition, limit): &(u16, usize)| vec![now.into(), (*partition).into(), Value::number(*limit)];
    let found = reader.query(DUE, &lists.iter().map(parameters).collect::<Vec<_>>()).await?;
    for ((partition, limit), rows) in lists.into_iter().zip(found) {
        let (mut executions, mut flows) = (Vec::with_capacity(rows.len()), Vec::new());
        for row in rows {
            let (uuid, at) = (row.uuid(1)?, row.moment(2)?);
            let has_come = !row.is_null(3);
            if row.int(0)? == 0 {
                let id = ExecutionId::new(partition, uuid);
                executions.push((at, id));
                if has_come {
                    state.lay(id, stored_execution(&row, 3));
                }
            } else {
                let id = FlowId::from_uuid(uuid);
                flows.push((at, id));
                if has_come {
                    state.flows.flows.lay(id, read_record(&row, 3).map(Some));
                }
            }
        }
        state.lay_due(partition, IndexPrefix::new(executions, limit));
        state.flows.lay_due(partition, IndexPrefix::new(flows, limit));
    }
    Ok(())
}

/// Returns the misses of operations that are decided now.
pub(super) fn missed<'b>(
    state: &BatchState,
    rest: impl Iterator<Item = (&'b QueuedOperation, &'b Conditions)>,
) -> Misses {
    let mut misses = Misses::default();
    for (queued_operation, at) in rest {
        match queued_operation.operation.decide(state, at) {
            Err(Stop::Miss(miss)) if state.unreadable(&miss).is_none() => {
                misses.add(state, miss);
                predicted(state, &queued_operation.operation, &at.partitions)
                    .into_iter()
                    .for_each(|miss| misses.add(state, miss));
            }
            Ok(decision) => {
                edges_lacking(state, &decision).for_each(|query| misses.add_bare(state, &query));
                keys_lacking(state, &decision).for_each(|miss| misses.add(state, miss));
            }
            Err(_) => {}
        }
    }
    misses
}

/// Returns whether a decision needs records that are not loaded.
pub(super) fn is_lacking(state: &BatchState, decision: &Decision) -> bool {
    edges_lacking(state, decision).next().is_some() || keys_lacking(state, decision).next().is_some()
}

/// Returns the idempotency keys of deleted executions that are not loaded. A key is freed if it still names its execution.
fn keys_lacking<'d>(state: &'d BatchState, decision: &'d Decision) -> impl Iterator<Item = Miss> + use<'d> {
    let members = decision.flows.iter().flat_map(|change| &change.forgotten);
    let key = |id: &ExecutionId| {
        let execution = state.execution(id).ok()??;
        state.key(&execution.namespace, execution.idempotency_key.as_ref()?).err()
    };
    decision.forgotten.iter().chain(members).filter_map(key)
}

/// Returns the edges that are not loaded among those into deleted members and those that pass inputs to claimed executions.
fn edges_lacking<'d>(state: &'d BatchState, decision: &'d Decision) -> impl Iterator<Item = EdgesOf> + use<'d> {
    let flows = decision.flows.iter();
    let going = flows.flat_map(|change| change.forgotten.iter().map(|member| all_into(change.after.id, *member)));
    going.chain(edges_of_inputs(&decision.reply)).filter(|query| state.edges(query).is_err())
}
