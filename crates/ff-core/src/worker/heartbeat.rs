//! Heartbeats: a worker instance says that it is still there.

use super::contracts::{HeartbeatArgs, SeenWorker};
use super::{Worker, WorkerChange};
use crate::engine_error::{Code, Refusal};
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, worker_partition};
use crate::view::{Stop, View};

impl Command for HeartbeatArgs {
    type Reply = SeenWorker;

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        worker_partition(&self.worker_instance_id, partitions)
    }

    /// Notes that a worker instance is there. One that counts as gone is told so, and registers again.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<SeenWorker>, Stop> {
        let now = at.now;
        let known = view.worker(&self.worker_instance_id)?.filter(|known| known.namespace == self.namespace);
        let known = known.filter(|known| !known.is_gone(now)).ok_or_else(gone)?;
        let worker = Worker { seen_at: now, ..known.clone() };
        let seen = SeenWorker { expires_at: worker.expires_at() };
        Ok(Decision::about_worker(seen, Some(WorkerChange::Put(worker))))
    }
}

fn gone() -> Refusal {
    let why = "was never registered, or was not heard of for too long; register again";
    Code::NotFound.refusal().at("worker_instance_id").because(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::examine;
    use crate::limits;
    use crate::model::Model;
    use crate::operation::Ask;
    use crate::samples::{at, conditions};
    use crate::types::{Capability, LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};
    use crate::worker::contracts::{LeaveArgs, LeftWorker, RegisterWorkerArgs, SweepWorkerArgs, SweptWorker};

    #[derive(Default)]
    struct Registry(Model);

    impl Registry {
        fn ask<A: Ask>(&mut self, args: A, now: TimestampMs) -> Result<A::Answer, Refusal> {
            let at = conditions(now);
            let (reply, _) = self.0.execute(&args.into_operation(), &at)?;
            let home = worker_partition(&instance(), &at.partitions);
            assert_eq!(examine(&self.0.snapshot(home), home, now), []);
            Ok(A::answer(reply).unwrap())
        }
    }

    fn instance() -> WorkerInstanceId {
        WorkerInstanceId::parse("resizer-1").unwrap()
    }

    fn registration() -> RegisterWorkerArgs {
        RegisterWorkerArgs {
            worker_instance_id: instance(),
            worker_id: WorkerId::parse("resizer").unwrap(),
            namespace: Namespace::default_name(),
            lanes: [LaneId::default_name()].into(),
            kinds: [].into(),
            capabilities: [Capability::parse("gpu=a100").unwrap()].into(),
            ttl_ms: 1_000,
        }
    }

    fn beat() -> HeartbeatArgs {
        HeartbeatArgs { namespace: Namespace::default_name(), worker_instance_id: instance() }
    }

    fn leave() -> LeaveArgs {
        LeaveArgs { namespace: Namespace::default_name(), worker_instance_id: instance() }
    }

    #[test]
    fn a_worker_that_is_heard_of_stays_and_one_that_is_gone_is_told_so() {
        let mut registry = Registry::default();
        assert_eq!(registry.ask(beat(), at(0)).unwrap_err().code, Code::NotFound);
        registry.ask(registration(), at(0)).unwrap();
        assert_eq!(registry.ask(beat(), at(999)).unwrap().expires_at, at(1_999));
        assert_eq!(registry.ask(beat(), at(1_999)).unwrap_err().code, Code::NotFound);
        let again = registry.ask(registration(), at(2_000)).unwrap();
        assert!(!again.already, "it begins anew");
    }

    #[test]
    fn registering_again_renews_what_is_known() {
        let mut registry = Registry::default();
        registry.ask(registration(), at(0)).unwrap();
        let other = RegisterWorkerArgs { lanes: [LaneId::parse("mail").unwrap()].into(), ..registration() };
        assert!(registry.ask(other, at(500)).unwrap().already);
        let worker = registry.0.workers().next().unwrap();
        assert_eq!((worker.registered_at, worker.seen_at), (at(0), at(500)));
        assert_eq!(worker.lanes.first().unwrap().as_str(), "mail");
    }

    #[test]
    fn the_name_of_a_worker_that_is_there_cannot_be_taken() {
        let mut registry = Registry::default();
        registry.ask(registration(), at(0)).unwrap();
        let acme = Namespace::parse("acme").unwrap();
        let thief = RegisterWorkerArgs { namespace: acme.clone(), ..registration() };
        assert_eq!(registry.ask(thief.clone(), at(1)).unwrap_err().code, Code::IdempotencyConflict);
        let spy = HeartbeatArgs { namespace: acme.clone(), ..beat() };
        assert_eq!(registry.ask(spy, at(1)).unwrap_err().code, Code::NotFound, "another tenant's is not there");
        let theirs = LeaveArgs { namespace: acme, ..leave() };
        assert_eq!(registry.ask(theirs, at(1)), Ok(LeftWorker { already: true }));
        assert!(registry.ask(thief, at(1_000)).is_ok(), "that one is gone");
    }

    #[test]
    fn leaving_twice_is_one_leave() {
        let mut registry = Registry::default();
        registry.ask(registration(), at(0)).unwrap();
        assert_eq!(registry.ask(leave(), at(1)), Ok(LeftWorker { already: false }));
        assert_eq!(registry.ask(leave(), at(2)), Ok(LeftWorker { already: true }));
        assert_eq!(registry.0.workers().count(), 0);
    }

    #[test]
    fn a_sweep_takes_out_only_what_is_gone() {
        let mut registry = Registry::default();
        let sweep = || SweepWorkerArgs { worker_instance_id: instance() };
        registry.ask(registration(), at(0)).unwrap();
        assert_eq!(registry.ask(sweep(), at(999)), Ok(SweptWorker { gone: false }));
        assert_eq!(registry.ask(sweep(), at(1_000)), Ok(SweptWorker { gone: true }));
        assert_eq!(registry.ask(sweep(), at(1_000)), Ok(SweptWorker { gone: false }), "another sweep was first");
    }

    #[test]
    fn a_namespace_has_room_for_so_many_that_are_there() {
        assert_eq!(registration().check_room(limits::WORKERS - 1), Ok(()));
        let refusal = registration().check_room(limits::WORKERS).unwrap_err();
        assert_eq!((refusal.code, refusal.limit), (Code::LimitExceeded, Some((10_000, 10_001))));
        let mut registry = Registry::default();
        registry.ask(registration(), at(0)).unwrap();
        let known = registry.0.workers().next().unwrap();
        let other = RegisterWorkerArgs { worker_instance_id: WorkerInstanceId::parse("b").unwrap(), ..registration() };
        assert!(other.is_beside(known, at(999)) && !other.is_beside(known, at(1_000)), "who is gone takes up no room");
        assert!(!registration().is_beside(known, at(0)), "nobody is in its own way");
        let theirs = RegisterWorkerArgs { namespace: Namespace::parse("acme").unwrap(), ..other };
        assert!(!theirs.is_beside(known, at(0)), "each tenant has its own room");
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
