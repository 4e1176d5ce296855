//! A worker of a world: it claims, waits for work, and listens for lost leases.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{LeasedExecution, World};
use crate::records::*;

/// A worker that takes work from the lanes of one namespace.
#[derive(Clone)]
pub struct Worker {
    world: World,
    holder: Holder,
    namespace: Namespace,
    lanes: Vec<LaneId>,
    kinds: Vec<Kind>,
    capabilities: BTreeSet<Capability>,
    lease_ttl_ms: u64,
}

impl Worker {
    pub(super) fn new(world: World, name: &str) -> Self {
        let holder = Holder::parse(name, &format!("{name}-1")).unwrap();
        Self {
            world,
            holder,
            namespace: Namespace::default_name(),
            lanes: vec![LaneId::default_name()],
            kinds: Vec::new(),
            capabilities: BTreeSet::new(),
            lease_ttl_ms: limits::LEASE_TTL_MS,
        }
    }

    /// Sets the namespace.
    pub fn namespace(mut self, name: &str) -> Self {
        self.namespace = Namespace::parse(name).unwrap();
        self
    }

    /// Sets the lanes, in order of preference.
    pub fn lanes(mut self, names: &[&str]) -> Self {
        self.lanes = names.iter().map(|name| LaneId::parse(name).unwrap()).collect();
        self
    }

    /// Sets the kinds: the worker takes only these.
    pub fn kinds(mut self, kinds: &[&str]) -> Self {
        self.kinds = kinds.iter().map(|kind| Kind::parse(kind).unwrap()).collect();
        self
    }

    /// Sets the capabilities of the worker.
    pub fn capabilities(mut self, words: &[&str]) -> Self {
        self.capabilities = words.iter().map(|word| Capability::parse(word).unwrap()).collect();
        self
    }

    /// Sets the length of the leases.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.lease_ttl_ms = u64::try_from(ttl.as_millis()).unwrap();
        self
    }

    /// Returns the identity of the worker.
    pub fn holder(&self) -> &Holder {
        &self.holder
    }

    /// Claims one execution, from any partition that has one.
    pub async fn claim(&self) -> LeasedExecution {
        self.claim_up_to(1).await.pop().expect("there should be something to claim")
    }

    /// Claims up to `max` executions, partition by partition.
    pub async fn claim_up_to(&self, max: usize) -> Vec<LeasedExecution> {
        let mut held = Vec::new();
        for partition in self.world.partitions() {
            if held.len() < max {
                held.extend(self.claim_on(partition, max - held.len()).await);
            }
        }
        held
    }

    /// Claims up to `max` executions of one partition.
    pub async fn claim_on(&self, partition: u16, max: usize) -> Vec<LeasedExecution> {
        let mut held = Vec::new();
        loop {
            let claims = self.world.backend.claim(self.claim_args(partition, max - held.len())).await.unwrap();
            let taken = claims.claimed.len();
            held.extend(self.hold(claims.claimed));
            if taken < limits::CLAIM_AT_ONCE || held.len() == max {
                return held;
            }
        }
    }

    /// Claims the executions assigned to this worker on one partition.
    pub async fn claim_assigned(&self, partition: u16) -> Vec<LeasedExecution> {
        let args = ClaimArgs { assigned: true, ..self.claim_args(partition, 9) };
        let claims = self.world.backend.claim(args).await.unwrap();
        self.hold(claims.claimed)
    }

    /// Returns the arguments of a claim of this worker.
    pub fn claim_args(&self, partition: u16, max: usize) -> ClaimArgs {
        ClaimArgs {
            partition,
            namespace: self.namespace.clone(),
            lane: self.lanes[0].clone(),
            kinds: self.kinds.clone(),
            capabilities: self.capabilities.clone(),
            assigned: false,
            max,
            holder: self.holder.clone(),
            lease_ttl_ms: self.lease_ttl_ms,
        }
    }

    /// Claims work from any partition, and waits for it.
    pub async fn next(&self, max: usize, wait: Duration) -> Vec<LeasedExecution> {
        let claimed = self.world.long_poll.next(self.next_args(max, wait)).await.unwrap();
        self.hold(claimed)
    }

    /// Returns the arguments of a waiting claim of this worker.
    pub fn next_args(&self, max: usize, wait: Duration) -> NextArgs {
        NextArgs {
            namespace: self.namespace.clone(),
            lanes: self.lanes.clone(),
            kinds: self.kinds.clone(),
            capabilities: self.capabilities.clone(),
            max,
            holder: self.holder.clone(),
            lease_ttl_ms: self.lease_ttl_ms,
            wait_ms: u64::try_from(wait.as_millis()).unwrap(),
        }
    }

    /// Returns the leases lost since `after`, and waits for some.
    pub async fn control(&self, after: Option<&str>, wait: Duration) -> Answer<Control> {
        let args = ControlArgs {
            worker_instance_id: self.holder.worker_instance_id.clone(),
            after: after.map(str::to_owned),
            wait_ms: u64::try_from(wait.as_millis()).unwrap(),
        };
        self.world.long_poll.control(args).await
    }

    fn hold(&self, claimed: Vec<ClaimedExecution>) -> Vec<LeasedExecution> {
        claimed.into_iter().map(|claimed| LeasedExecution::new(self.world.clone(), claimed)).collect()
    }
}
