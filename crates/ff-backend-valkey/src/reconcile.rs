//! The safety net under dependencies: now and then it checks a few blocked members whose upstreams may have ended
//! without a notification.
//!
//! The function that ends an execution notifies its dependents in the same step or records the rest as pending, so
//! there is nothing to find. When something is found, it is repaired and logged: a server has lost a part of what it
//! had written.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};

use ff_core::backend::Answer;
use ff_core::engine_error::EngineError;
use ff_core::execution::Blocker;
use ff_core::index::Index;
use ff_core::keys::{ExecKeyContext, FlowIndexKeys, FlowKeyContext, IndexKeys};
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::types::{EdgeId, ExecutionId, FlowId, LaneId, Namespace};
use ff_script::flow::ff_promote_blocked_to_eligible;
use redis::{Cmd, FromRedisValue, cmd};

use crate::ValkeyBackend;
use crate::cascade::{fields, run_cascade};

/// A partition is looked at with one in so many of its sweeps: every five minutes, when nothing calls for more.
const ONE_SWEEP_IN: u32 = 10;

/// Flows, members and upstreams of a member that are looked at, at most of each.
const FEW: usize = 4;

/// How often each partition was swept by this process.
pub(crate) struct Sweeps(Vec<AtomicU32>);

impl Sweeps {
    pub(crate) fn of(partitions: u16) -> Self {
        Self((0..partitions).map(|_| AtomicU32::new(0)).collect())
    }

    /// Counts a sweep; true when it is the turn of the safety net. Not with the first: a program that starts sweeps
    /// everything.
    fn takes_its_turn(&self, partition: u16) -> bool {
        let sweeps =
            self.0.get(usize::from(partition)).map(|count| count.fetch_add(1, Ordering::Relaxed).wrapping_add(1));
        sweeps.is_some_and(|sweeps| sweeps.is_multiple_of(ONE_SWEEP_IN))
    }
}

impl ValkeyBackend {
    /// Looks at a few members, when it is the partition's turn. After a failure they are looked at another time: a
    /// sweep is not to fail with it.
    pub(crate) async fn reconcile(&self, partition: u16) {
        if !self.sweeps.takes_its_turn(partition) {
            return;
        }
        match self.forgotten(partition).await {
            Ok(0) => {}
            Ok(found) => tracing::warn!(partition, found, "members waited for what had happened; they go on now"),
            Err(error) => tracing::debug!(partition, %error, "whether members wait in vain cannot be looked at now"),
        }
    }

    /// Lets members go on that wait in vain; how many edges and joins had been forgotten.
    async fn forgotten(&self, partition: u16) -> Answer<u32> {
        let keys = IndexKeys::new(&Partition::new(PartitionFamily::Execution, partition));
        let mut found = 0;
        for lane in self.some_lanes(partition).await? {
            let blocked = Index::LaneBlocked(lane, Blocker::Dependencies).key(&keys);
            let members: Vec<ExecutionId> = self.some(&blocked, cmd("ZRANDMEMBER").arg(&blocked).arg(FEW)).await?;
            for member in members {
                found += self.reconcile_member(&member).await?;
            }
        }
        Ok(found)
    }

    /// A few lanes in which members of flows wait, or did: where one flow's do, those of others do as well.
    async fn some_lanes(&self, partition: u16) -> Answer<BTreeSet<LaneId>> {
        let partition = Partition::new(PartitionFamily::Flow, partition);
        let flows = FlowIndexKeys::new(&partition).flows();
        let mut lanes = BTreeSet::new();
        for flow in self.some::<FlowId>(&flows, cmd("ZRANDMEMBER").arg(&flows).arg(FEW)).await? {
            let members = FlowKeyContext::new(&partition, &flow).members();
            for member in self.some(&members, cmd("SRANDMEMBER").arg(&members).arg(FEW)).await? {
                let core = ExecKeyContext::new(&partition, &member).core();
                let [namespace, lane] = fields(self, &core, ["namespace", "lane_id"]).await?;
                let namespace = namespace.map_or_else(|| Ok(Namespace::default_name()), |name| name.parse());
                let lane = lane.map_or_else(|| Ok(LaneId::default_name()), |name| name.parse());
                if let (Ok(namespace), Ok(lane)) = (namespace, lane) {
                    lanes.insert(lane.within(&namespace));
                }
            }
        }
        Ok(lanes)
    }

    async fn reconcile_member(&self, member: &ExecutionId) -> Answer<u32> {
        let mut found = 0;
        for upstream in self.some_upstreams(member).await? {
            let core = ExecKeyContext::new(&Partition::of(&upstream), &upstream).core();
            let [outcome, propagation] = fields(self, &core, ["terminal_outcome", "pending_propagation"]).await?;
            if outcome.is_some() && propagation.is_none() {
                found += run_cascade(self, &upstream).await?.resolved;
            }
        }
        match ff_promote_blocked_to_eligible(&*self.calls, member).await.map_err(EngineError::from) {
            Ok(_) => Ok(found + 1),
            // As it should be: it waits, or went on or away meanwhile.
            Err(EngineError::Refused(_)) => Ok(found),
            Err(error) => Err(error),
        }
    }

    /// A few upstreams whose end a member has not been notified of.
    async fn some_upstreams(&self, member: &ExecutionId) -> Answer<Vec<ExecutionId>> {
        let keys = ExecKeyContext::new(&Partition::of(member), member);
        let unresolved = keys.deps_unresolved();
        let edges: Vec<EdgeId> = self.some(&unresolved, cmd("SRANDMEMBER").arg(&unresolved).arg(FEW)).await?;
        let mut upstreams = Vec::new();
        for edge in edges {
            let [upstream] = fields(self, &keys.dep_edge(&edge), ["upstream_execution_id"]).await?;
            upstreams.extend(upstream.and_then(|id| id.parse::<ExecutionId>().ok()));
        }
        Ok(upstreams)
    }

    /// Some members of a collection, those that can be read.
    async fn some<T: std::str::FromStr>(&self, key: &str, command: &Cmd) -> Answer<Vec<T>> {
        let reply = self.calls.plain(key, command.clone()).await?;
        let members = Vec::<String>::from_redis_value(reply)
            .map_err(|_| EngineError::Corrupt(format!("{key} has members that are not text")))?;
        Ok(members.iter().filter_map(|member| member.parse().ok()).collect())
    }
}
