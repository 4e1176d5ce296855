//! Registration: a worker instance announces itself and the work that it takes.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Worker, WorkerChange};
use crate::engine_error::{Code, Refusal, check_limit, check_range};
use crate::limits;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, worker_partition};
use crate::rule::view::{Stop, View};
use crate::types::{Capability, Kind, LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};

/// Registers a worker instance and the work that it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterWorkerArgs {
    pub worker_instance_id: WorkerInstanceId,
    pub worker_id: WorkerId,
    pub namespace: Namespace,
    pub lanes: BTreeSet<LaneId>,
    /// Kinds that it handles; any kind when empty.
    pub kinds: BTreeSet<Kind>,
    pub capabilities: BTreeSet<Capability>,
    /// Time after which it counts as gone without a heartbeat.
    pub ttl_ms: u64,
}

impl RegisterWorkerArgs {
    /// Creates the registration of a worker instance that takes any kind from the lane `default` of the namespace `default`.
    pub fn new(worker_instance_id: WorkerInstanceId, worker_id: WorkerId) -> Self {
        Self {
            worker_instance_id,
            worker_id,
            namespace: Namespace::default_name(),
            lanes: BTreeSet::from([LaneId::default_name()]),
            kinds: BTreeSet::new(),
            capabilities: BTreeSet::new(),
            ttl_ms: limits::WORKER_TTL_MS,
        }
    }

    pub fn check(&self) -> Result<(), Refusal> {
        if self.lanes.is_empty() {
            return Err(Refusal::invalid("lanes", "must name at least one lane"));
        }
        check_limit(Code::LimitExceeded, "lanes", limits::CLAIM_LANES, self.lanes.len())?;
        check_limit(Code::LimitExceeded, "kinds", limits::CLAIM_KINDS, self.kinds.len())?;
        check_capabilities(&self.capabilities)?;
        check_range("ttl_ms", self.ttl_ms, limits::WORKER_TTL_MIN_MS, limits::WORKER_TTL_MAX_MS)
    }

    /// Returns whether another worker counts towards the limit of this worker's namespace: it is in the namespace and alive.
    pub fn counts_towards_limit(&self, other: &Worker, now: TimestampMs) -> bool {
        other.namespace == self.namespace && other.worker_instance_id != self.worker_instance_id && !other.is_gone(now)
    }

    /// Refuses a worker when its namespace has too many others. Stores count them before the step that registers the
    /// worker, so a few concurrent registrations may exceed the limit.
    pub fn check_capacity(&self, others: usize) -> Result<(), Refusal> {
        if others < limits::WORKERS {
            return Ok(());
        }
        let refusal = Refusal::over_limit(Code::LimitExceeded, "worker_instance_id", limits::WORKERS, others + 1);
        let why =
            format!("the namespace {} has {} registered workers; others must leave first", self.namespace, others);
        Err(refusal.because(why))
    }
}

/// Refuses more capabilities than a worker may have.
pub fn check_capabilities(capabilities: &BTreeSet<Capability>) -> Result<(), Refusal> {
    check_limit(Code::InvalidCapabilities, "capabilities", limits::CAPABILITIES, capabilities.len())?;
    let bytes = capabilities.iter().map(|capability| capability.as_str().len()).sum();
    check_limit(Code::InvalidCapabilities, "capabilities", limits::CAPABILITY_BYTES, bytes)
}

/// The worker instance is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RegisteredWorker {
    /// When the registration expires without a heartbeat.
    pub expires_at: TimestampMs,
    /// True when it was registered before; its registration was updated.
    pub already: bool,
}

impl Command for RegisterWorkerArgs {
    type Reply = RegisteredWorker;

    fn check(&self, _: &PartitionConfig) -> Result<(), Refusal> {
        self.check()
    }

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        worker_partition(&self.worker_instance_id, partitions)
    }

    /// Registers a worker instance, or updates its registration. The id of another
    /// worker cannot be taken while that worker is alive.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<RegisteredWorker>, Stop> {
        let now = at.now;
        let known = view.worker(&self.worker_instance_id)?.filter(|known| !known.is_gone(now));
        if known.is_some_and(|known| (&known.worker_id, &known.namespace) != (&self.worker_id, &self.namespace)) {
            let refusal = Code::IdempotencyConflict.refusal().at("worker_instance_id");
            return Err(refusal.because("is the name of another worker that is there").into());
        }
        let worker = Worker {
            worker_instance_id: self.worker_instance_id.clone(),
            worker_id: self.worker_id.clone(),
            namespace: self.namespace.clone(),
            lanes: self.lanes.clone(),
            kinds: self.kinds.clone(),
            capabilities: self.capabilities.clone(),
            registered_at: known.map_or(now, |known| known.registered_at),
            seen_at: now,
            ttl_ms: self.ttl_ms,
            partition: self.partition(&at.partitions),
        };
        let registered = RegisteredWorker { expires_at: worker.expires_at(), already: known.is_some() };
        Ok(Decision::about_worker(registered, Some(WorkerChange::Put(worker))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::samples::at;
    use crate::worker::contracts::{HeartbeatArgs, LeaveArgs, LeftWorker};
    use crate::worker::fixture::{WorkerFixture, instance, registration};

    #[test]
    fn registering_again_renews_what_is_known() {
        let mut workers = WorkerFixture::default();
        workers.ask(registration(), at(0)).unwrap();
        let other = RegisterWorkerArgs { lanes: [LaneId::parse("mail").unwrap()].into(), ..registration() };
        assert!(workers.ask(other, at(500)).unwrap().already);
        let worker = workers.model.workers().next().unwrap();
        assert_eq!((worker.registered_at, worker.seen_at), (at(0), at(500)));
        assert_eq!(worker.lanes.first().unwrap().as_str(), "mail");
    }

    #[test]
    fn the_name_of_a_worker_that_is_there_cannot_be_taken() {
        let mut workers = WorkerFixture::default();
        workers.ask(registration(), at(0)).unwrap();
        let acme = Namespace::parse("acme").unwrap();
        let thief = RegisterWorkerArgs { namespace: acme.clone(), ..registration() };
        assert_eq!(workers.ask(thief.clone(), at(1)).unwrap_err().code, Code::IdempotencyConflict);
        let spy = HeartbeatArgs { namespace: acme.clone(), worker_instance_id: instance() };
        assert_eq!(workers.ask(spy, at(1)).unwrap_err().code, Code::NotFound, "another tenant's is not there");
        let theirs = LeaveArgs { namespace: acme, worker_instance_id: instance() };
        assert_eq!(workers.ask(theirs, at(1)), Ok(LeftWorker { already: true }));
        assert!(workers.ask(thief, at(1_000)).is_ok(), "that one is gone");
    }

    #[test]
    fn a_namespace_has_room_for_so_many_that_are_there() {
        assert_eq!(registration().check_capacity(limits::WORKERS - 1), Ok(()));
        let refusal = registration().check_capacity(limits::WORKERS).unwrap_err();
        assert_eq!((refusal.code, refusal.limit), (Code::LimitExceeded, Some((10_000, 10_001))));
        let mut workers = WorkerFixture::default();
        workers.ask(registration(), at(0)).unwrap();
        let known = workers.model.workers().next().unwrap();
        let other = RegisterWorkerArgs { worker_instance_id: WorkerInstanceId::parse("b").unwrap(), ..registration() };
        assert!(
            other.counts_towards_limit(known, at(999)) && !other.counts_towards_limit(known, at(1_000)),
            "a worker that is gone does not count"
        );
        assert!(!registration().counts_towards_limit(known, at(0)), "a worker does not count against itself");
        let theirs = RegisterWorkerArgs { namespace: Namespace::parse("acme").unwrap(), ..other };
        assert!(!theirs.counts_towards_limit(known, at(0)), "each tenant has its own limit");
    }

    #[test]
    fn a_registration_is_taken_at_its_limits_and_refused_past_them() {
        let lasting = |ttl_ms| RegisterWorkerArgs { ttl_ms, ..registration() }.check();
        assert_eq!((lasting(limits::WORKER_TTL_MIN_MS), lasting(limits::WORKER_TTL_MAX_MS)), (Ok(()), Ok(())));
        assert_eq!(lasting(limits::WORKER_TTL_MIN_MS - 1).unwrap_err().field.as_deref(), Some("ttl_ms"));
        let able = |count: usize| {
            let capabilities = (0..count).map(|nth| Capability::parse(&format!("{nth:03}")).unwrap()).collect();
            RegisterWorkerArgs { capabilities, ..registration() }.check()
        };
        assert_eq!(able(limits::CAPABILITIES), Ok(()));
        assert_eq!(able(limits::CAPABILITIES + 1).unwrap_err().code, Code::InvalidCapabilities);
        let wordy = (0..17).map(|nth| Capability::parse(&format!("{nth:0>250}")).unwrap()).collect();
        let refusal = RegisterWorkerArgs { capabilities: wordy, ..registration() }.check().unwrap_err();
        assert_eq!(refusal.limit, Some((4_096, 4_250)));
        let nowhere = RegisterWorkerArgs { lanes: [].into(), ..registration() };
        assert_eq!(nowhere.check().unwrap_err().field.as_deref(), Some("lanes"));
    }
}
