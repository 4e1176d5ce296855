//! The safety net for dependencies: it sometimes checks a few blocked members whose upstreams may have ended without a
//! notification.
//!
//! The function that ends an execution notifies its dependents in the same step, or records the rest as pending. So the
//! check finds something only when a server has lost a part of its writes. It then repairs and logs it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};

use ff_core::backend::Answer;
use ff_core::engine_error::EngineError;
use ff_core::execution::Blocker;
use ff_core::keys::{ExecKeyContext, FlowIndexKeys, FlowKeyContext};
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::rule::index::Index;
use ff_core::types::{EdgeId, ExecutionId, FlowId, LaneId, Namespace};
use ff_script::execution::index_keys;
use ff_script::flow::ff_promote_blocked_to_eligible;
use redis::{Cmd, cmd};

use crate::ValkeyBackend;
use crate::cascade::{fields, run_cascade};

/// Number of sweeps of a partition per check: one check every five minutes, or more often when hints cause sweeps.
const ONE_SWEEP_IN: u32 = 10;

/// Maximum number of flows, of members, and of upstreams of a member that one check looks at.
const FEW: usize = 4;

/// The number of sweeps of each partition by this process.
pub(crate) struct Sweeps(Vec<AtomicU32>);

impl Sweeps {
    pub(crate) fn of(partitions: u16) -> Self {
        Self((0..partitions).map(|_| AtomicU32::new(0)).collect())
    }

    /// Counts a sweep, and returns whether it includes a check. The first sweep does not, because a starting program
    /// sweeps everything.
    fn takes_its_turn(&self, partition: u16) -> bool {
        let sweeps =
            self.0.get(usize::from(partition)).map(|count| count.fetch_add(1, Ordering::Relaxed).wrapping_add(1));
        sweeps.is_some_and(|sweeps| sweeps.is_multiple_of(ONE_SWEEP_IN))
    }
}

impl ValkeyBackend {
    /// Checks a few members, when it is the partition's turn. A failure is only logged, so that the sweep does not fail
    /// with it; other members are checked later.
    pub(crate) async fn reconcile(&self, partition: u16) {
        if !self.sweeps.takes_its_turn(partition) {
            return;
        }
        match self.forgotten(partition).await {
            Ok(0) => {}
            Ok(found) => tracing::warn!(partition, found, "repaired members that missed the end of an upstream"),
            Err(error) => {
                tracing::debug!(partition, %error, "cannot check for members that missed the end of an upstream")
            }
        }
    }

    /// Repairs a few members that wait in vain. Returns the number of edges and joins that had been forgotten.
    async fn forgotten(&self, partition: u16) -> Answer<u32> {
        let keys = index_keys(partition);
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

    /// Returns the lanes of a few members of flows. Where members of these flows wait, members of other flows wait as
    /// well.
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
            // This is normal: the member waits rightly, or has moved on or gone meanwhile.
            Err(EngineError::Refused(_)) => Ok(found),
            Err(error) => Err(error),
        }
    }

    /// Returns a few upstreams whose end a member has not been notified of.
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

    /// Returns the readable members of a reply.
    async fn some<T: std::str::FromStr>(&self, key: &str, command: &Cmd) -> Answer<Vec<T>> {
        let members: Vec<String> = self.calls.read(key, command, "has members that are not text").await?;
        Ok(members.iter().filter_map(|member| member.parse().ok()).collect())
    }
}
