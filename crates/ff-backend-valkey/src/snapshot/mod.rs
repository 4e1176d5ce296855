//! All contents of a partition, read piece by piece while work continues.

mod flow;
mod steps;
mod streams;
mod suspension;
mod turns;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::str::FromStr;

use ff_core::backend::Answer;
use ff_core::backend::snapshot::Snapshot;
use ff_core::engine_error::{Code, EngineError};
use ff_core::execution::{Blocker, Execution, Phase};
use ff_core::keys::{FlowIndexKeys, IndexKeys, idempotency_key};
use ff_core::limits;
use ff_core::partition::{Partition, PartitionFamily, worker_partition};
use ff_core::rule::change::KeyEntry;
use ff_core::rule::due::Due;
use ff_core::rule::index::{Index, Score, has_reason_index, has_state_index};
use ff_core::state::{BlockingReason, PublicState};
use ff_core::types::{
    ExecutionId, FairKey, Kind, LaneId, Namespace, RequirementClass, TagKey, TagValue, WorkerInstanceId,
};
use ff_script::event::ff_read_feed;
use ff_script::execution::{ExtraReads, ff_read_execution, index_keys};
use ff_script::lane::{ff_read_lanes, lane_of_index};
use futures_util::{StreamExt, TryStreamExt, stream};
use redis::{FromRedisValue, cmd};

use crate::ValkeyBackend;

/// Maximum number of records read at the same time.
const AT_ONCE: usize = 64;

impl ValkeyBackend {
    pub(crate) async fn take_snapshot(&self, partition: u16) -> Answer<Snapshot> {
        let keys = index_keys(partition);
        let mut snapshot = Snapshot::default();
        let mut names = Names::default();
        let flows = self.flows_of(partition).await?;
        let all = self.scores::<ExecutionId>(&keys.all_executions()).await?;
        let all: BTreeSet<_> = all.keys().copied().chain(flows.members()).collect();
        self.records(&mut snapshot, &mut names, all).await?;
        self.keys(&mut snapshot, &keys).await?;
        self.shared_waits(&mut snapshot, partition, &keys).await?;
        self.operating(&mut snapshot, partition).await?;
        self.add_turns(&mut snapshot, &keys).await?;
        self.indexes(&mut snapshot, names, partition, &keys).await?;
        self.strays(&mut snapshot, &keys).await?;
        self.sibling_strays(&mut snapshot, &flows, partition).await?;
        flows.enter(&mut snapshot);
        Ok(snapshot)
    }

    async fn records(&self, snapshot: &mut Snapshot, names: &mut Names, ids: BTreeSet<ExecutionId>) -> Answer<()> {
        let read =
            ids.into_iter().map(|id| async move { (id, ff_read_execution(&*self.calls, &id, ExtraReads::ALL).await) });
        let mut read = stream::iter(read).buffered(AT_ONCE);
        let (mut waited, mut streamed, mut stepped) = (Vec::new(), Vec::new(), Vec::new());
        while let Some((id, record)) = read.next().await {
            let record = match record.map_err(EngineError::from) {
                Err(error) if error.code() == Code::ExecutionNotFound => continue,
                record => record?,
            };
            names.add(&record.execution);
            let holders = record.attempts.iter().map(|attempt| &attempt.holder);
            names.instances.extend(holders.map(|holder| holder.worker_instance_id.clone()));
            if let Phase::Running { lease } = &record.execution.phase {
                names.instances.insert(lease.holder.worker_instance_id.clone());
            }
            names.instances.extend(record.leases.iter().map(|lease| lease.holder.worker_instance_id.clone()));
            snapshot.payloads.extend(record.payload.map(|payload| (id, payload)));
            snapshot.results.extend(record.result.map(|result| (id, result)));
            snapshot.attempts.extend(Some((id, record.attempts)).filter(|(_, attempts)| !attempts.is_empty()));
            snapshot.leases.extend(Some((id, record.leases)).filter(|(_, leases)| !leases.is_empty()));
            snapshot.strays.extend(record.strays.into_iter().map(|what| (id, what)));
            waited.extend(record.waited.then_some(id));
            streamed.extend(record.execution.streamed.then_some(id));
            stepped.extend(record.execution.steps.map(|_| id));
            snapshot.executions.insert(id, record.execution);
        }
        let mut waits = stream::iter(waited).map(|id| self.waits_of(id)).buffered(AT_ONCE);
        while let Some(waits) = waits.next().await {
            waits?.enter(snapshot);
        }
        for id in streamed {
            self.add_streams(snapshot, id).await?;
        }
        for id in stepped {
            self.add_steps(snapshot, id).await?;
        }
        Ok(())
    }

    async fn indexes(&self, snapshot: &mut Snapshot, names: Names, partition: u16, keys: &IndexKeys) -> Answer<()> {
        let executions = &snapshot.executions;
        let flow_keys = &FlowIndexKeys::new(&Partition::new(PartitionFamily::Flow, partition));
        let read = |index: Index| async move {
            let members = match &index {
                Index::WorkerLeases(instance) => self.leases(&keys.worker_leases(instance), executions).await?,
                Index::PendingCancelGroups => self.scores(&flow_keys.sibling_backlog()).await?,
                _ => self.scores(&index.key(keys)).await?,
            };
            Ok::<_, EngineError>((index, members))
        };
        let read: Vec<_> = stream::iter(names.indexes()).map(read).buffered(AT_ONCE).try_collect().await?;
        snapshot.indexes.extend(read.into_iter().filter(|(_, members)| !members.is_empty()));
        Ok(())
    }

    /// Adds the idempotency keys with their executions, and the queues of singleton and debounce keys.
    async fn keys(&self, snapshot: &mut Snapshot, keys: &IndexKeys) -> Answer<()> {
        let keyed = snapshot
            .executions
            .values()
            .filter_map(|execution| Some((execution.namespace.clone(), execution.idempotency_key.clone()?)));
        let keyed: BTreeSet<_> = keyed.collect();
        for (namespace, key) in keyed {
            let name = idempotency_key(keys.hash_tag(), namespace.as_str(), key.as_str());
            let id = Option::<String>::from_redis_value(self.calls.plain(&name, cmd("GET").arg(&name)).await?);
            let id = id.ok().flatten().and_then(|id| id.parse::<ExecutionId>().ok());
            let Some(execution) = id.and_then(|id| snapshot.executions.get(&id)) else { continue };
            let until = execution.created_at + execution.policy.dedup_window_ms;
            let entry = KeyEntry { namespace: namespace.clone(), key: key.clone(), execution_id: execution.id, until };
            snapshot.keys.insert((namespace.to_string(), key.to_string()), entry);
        }
        let place = |execution: &Execution| {
            execution.queue_place.as_ref().map(|place| (execution.namespace.clone(), place.queue.clone()))
        };
        let queues: BTreeSet<_> = snapshot.executions.values().filter_map(place).collect();
        for (namespace, queue) in queues {
            let name = keys.key_queue(&namespace, &queue);
            let ids = self.calls.plain(&name, cmd("LRANGE").arg(&name).arg(0).arg(-1)).await?;
            let ids = Vec::<String>::from_redis_value(ids).unwrap_or_default();
            let ids: Vec<_> = ids.iter().filter_map(|id| id.parse::<ExecutionId>().ok()).collect();
            if !ids.is_empty() {
                snapshot.key_queues.insert((namespace, queue), ids);
            }
        }
        Ok(())
    }

    /// Checks the index that does not follow from the records alone: the times at which the delayed and blocked
    /// executions of all lanes are ready.
    async fn strays(&self, snapshot: &mut Snapshot, keys: &IndexKeys) -> Answer<()> {
        let delayed = self.scores::<ExecutionId>(&keys.delayed()).await?;
        let in_lanes = snapshot.indexes.iter().filter(|(index, _)| matches!(index, Index::LaneDelayed(_)));
        let mut expected: BTreeMap<_, _> = in_lanes.flat_map(|(_, members)| members.clone()).collect();
        let until = |execution: &Execution| Some((execution.id, execution.due_at(Due::Unblock)?.0));
        expected.extend(snapshot.executions.values().filter_map(until));
        for id in delayed.keys().chain(expected.keys()).collect::<BTreeSet<_>>() {
            if delayed.get(id) != expected.get(id) {
                let what = format!("among all delays is {:?}, by itself {:?}", delayed.get(id), expected.get(id));
                snapshot.strays.push((*id, what));
            }
        }
        Ok(())
    }

    /// Reads a sorted index.
    async fn scores<Member>(&self, key: &str) -> Answer<BTreeMap<Member, Score>>
    where
        Member: FromStr<Err: Display> + Ord,
    {
        let reply = self.calls.plain(key, cmd("ZRANGE").arg(key).arg(0).arg(-1).arg("WITHSCORES")).await?;
        let rows = Vec::<(String, f64)>::from_redis_value(reply).unwrap_or_default();
        #[allow(clippy::cast_possible_truncation, reason = "scores are whole and exact in a double")]
        rows.into_iter().map(|(id, score)| Ok((member(key, &id)?, score as Score))).collect()
    }

    /// Returns the executions that a worker instance holds. The set has no scores, so the times of acquisition are
    /// taken from the records.
    async fn leases(
        &self,
        key: &str,
        executions: &BTreeMap<ExecutionId, Execution>,
    ) -> Answer<BTreeMap<ExecutionId, Score>> {
        let reply = self.calls.plain(key, cmd("SMEMBERS").arg(key)).await?;
        let members = Vec::<String>::from_redis_value(reply).unwrap_or_default();
        let acquired = |id: &ExecutionId| match executions.get(id).map(|execution| &execution.phase) {
            Some(Phase::Running { lease }) => lease.acquired_at.0,
            _ => 0,
        };
        members.into_iter().map(|id| member(key, &id).map(|id| (id, acquired(&id)))).collect()
    }
}

fn member<Member: FromStr<Err: Display>>(key: &str, id: &str) -> Answer<Member> {
    id.parse().map_err(|error| EngineError::Corrupt(format!("{key} has a member {id:?}: {error}")))
}

/// The names from which indexes are built, as they occur in the records.
#[derive(Default)]
struct Names {
    lanes: BTreeSet<LaneId>,
    queues: BTreeSet<(LaneId, Kind, RequirementClass)>,
    keys: BTreeSet<(LaneId, Kind, RequirementClass, FairKey)>,
    instances: BTreeSet<WorkerInstanceId>,
    tenants: BTreeSet<Namespace>,
    labels: BTreeSet<(Namespace, TagKey, TagValue)>,
}

impl Names {
    fn add(&mut self, execution: &Execution) {
        let namespace = &execution.namespace;
        self.lanes.insert(execution.lane_key());
        let classes = [Some(execution.class()), execution.queue_class()].into_iter().flatten();
        self.queues.extend(classes.map(|class| (execution.lane_key(), execution.kind.clone(), class)));
        if !execution.fair_key.is_empty() {
            let (kind, class) = (execution.kind.clone(), execution.class());
            self.keys.insert((execution.lane_key(), kind, class, execution.fair_key.clone()));
        }
        self.tenants.insert(namespace.clone());
        let labels = execution.tags.iter().map(|(key, value)| (namespace.clone(), key.clone(), value.clone()));
        self.labels.extend(labels);
    }

    /// Returns every index that may exist.
    fn indexes(self) -> Vec<Index> {
        let mut indexes = vec![
            Index::AllExecutions,
            Index::LeaseExpiry,
            Index::AttemptTimeout,
            Index::ExecutionDeadline,
            Index::SuspensionTimeout,
            Index::DispatchBacklog,
            Index::PendingCancelGroups,
            Index::Retention,
        ];
        for lane in self.lanes {
            indexes.push(Index::LaneDelayed(lane.clone()));
            indexes.push(Index::LaneActive(lane.clone()));
            indexes.push(Index::LaneSuspended(lane.clone()));
            let blockers = Blocker::ADMISSION.into_iter().filter(|on| *on != Blocker::Assignment);
            let blockers = blockers.chain([Blocker::Dependencies]);
            indexes.extend(blockers.map(|on| Index::LaneBlocked(lane.clone(), on)));
            indexes.push(Index::LaneKeyed(lane.clone()));
            indexes.push(Index::LaneTerminal(lane));
        }
        let classes = self.queues.iter().map(|(lane, _, class)| (lane.clone(), class.clone())).collect::<BTreeSet<_>>();
        indexes.extend(classes.into_iter().map(|(lane, class)| Index::LaneEligible(lane, class)));
        for (lane, kind, class) in self.queues {
            if class.has_requirements() {
                indexes.push(Index::LaneUnroutable(lane.clone(), kind.clone(), class.clone()));
            }
            indexes.push(Index::LaneEligibleKind(lane, kind, class));
        }
        let of_key = |(lane, kind, class, key)| Index::queue(lane, kind, class, key);
        indexes.extend(self.keys.into_iter().map(of_key));
        indexes.extend(self.instances.into_iter().map(Index::WorkerLeases));
        for tenant in self.tenants {
            let states = PublicState::ALL.iter().filter(|state| has_state_index(**state));
            indexes.extend(states.map(|state| Index::InState(tenant.clone(), *state)));
            let reasons = BlockingReason::ALL.iter().filter(|reason| has_reason_index(**reason));
            indexes.extend(reasons.map(|reason| Index::InReason(tenant.clone(), *reason)));
            indexes.push(Index::UsageBacklog(tenant.clone()));
            indexes.extend((!tenant.is_default()).then_some(Index::NamespaceExecutions(tenant)));
        }
        indexes.extend(self.labels.into_iter().map(|(namespace, key, value)| Index::Tag(namespace, key, value)));
        indexes
    }
}

/// Maximum number of lanes read with one call, and of feed entries.
const LANES_AT_ONCE: usize = 16;
const EVENTS_AT_ONCE: usize = 1_000;

impl ValkeyBackend {
    pub(super) async fn operating(&self, snapshot: &mut Snapshot, partition: u16) -> Answer<()> {
        let lanes = self.calls.directory.lanes(&self.calls.link).await?;
        let lanes: Vec<_> = lanes.iter().filter_map(|lane| lane_of_index(lane)).collect();
        for some in lanes.chunks(LANES_AT_ONCE) {
            let read = ff_read_lanes(&*self.calls, partition, some).await?;
            let known = some.iter().zip(read).filter_map(|(key, fields)| Some((key.clone(), fields.lane?)));
            snapshot.lanes.extend(known);
        }
        for id in self.listed_workers().await? {
            if worker_partition(&id, &self.partitions) == partition
                && let Some(worker) = self.worker(id.clone()).await?
            {
                snapshot.workers.insert(id, worker);
            }
        }
        while snapshot.events.len() < limits::FEED {
            let after = snapshot.events.last().map(|event| event.position);
            let (feed, events) = ff_read_feed(&*self.calls, partition, after, EVENTS_AT_ONCE).await?;
            snapshot.feed = feed;
            if events.is_empty() {
                break;
            }
            snapshot.events.extend(events);
        }
        Ok(())
    }
}
