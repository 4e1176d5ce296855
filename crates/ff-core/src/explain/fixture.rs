//! Fixtures for explanations: executions in each state that is explained.

use super::{Facts, QueueFacts, Upstream};
use crate::execution::contracts::{CancelArgs, CompleteArgs, ExecutionInfo};
use crate::execution::{
    AttemptSlot, BlockDetail, DelayReason, Execution, Failure, Hold, Origin, Phase, cancel, complete,
};
use crate::lane::LaneSettings;
use crate::rule::fixture::ExecutionFixture;
use crate::rule::samples::{at, held, running, waiting, work};
use crate::state::PublicState;
use crate::types::{
    AttemptIndex, Capability, Kind, LaneId, Namespace, QuotaPolicyId, TimestampMs, WorkerId, WorkerInstanceId,
};
use crate::worker::Worker;

/// An execution that one worker takes and that nothing else keeps from running.
pub(super) fn facts(execution: Execution) -> Facts {
    let info: ExecutionInfo = execution.info();
    let workers = vec![worker("default", "resize")];
    Facts { info, queue: QueueFacts::default(), workers, more_workers: false, upstreams: vec![], holders: vec![] }
}

pub(super) fn queue(change: impl FnOnce(&mut LaneSettings)) -> QueueFacts {
    let mut facts = QueueFacts::default();
    change(&mut facts.settings);
    facts
}

pub(super) fn full(facts: Facts) -> Facts {
    Facts { queue: QueueFacts { active: 2, ..queue(|lane| lane.concurrency = Some(2)) }, ..facts }
}

pub(super) fn worker(lane: &str, kind: &str) -> Worker {
    Worker {
        worker_instance_id: WorkerInstanceId::parse("w-1").unwrap(),
        worker_id: WorkerId::parse("w").unwrap(),
        namespace: Namespace::default_name(),
        lanes: [LaneId::parse(lane).unwrap()].into(),
        kinds: [Kind::parse(kind).unwrap()].into(),
        capabilities: [].into(),
        registered_at: at(0),
        seen_at: at(0),
        ttl_ms: 30_000,
        partition: 0,
    }
}

pub(super) fn upstream(public_state: PublicState) -> Upstream {
    Upstream { node: None, execution_id: running().id, public_state }
}

pub(super) fn phase(execution: Execution, phase: Phase) -> Execution {
    Execution { phase, ..execution }
}

pub(super) fn with_deadline(mut execution: Execution, at: TimestampMs) -> Execution {
    execution.deadline_at = Some(at);
    execution
}

pub(super) fn with_hold(execution: Execution) -> Execution {
    let hold = Hold { at: at(5), requested_by: Some("ada".into()), reason: Some("bad images".into()) };
    Execution { hold: Some(Box::new(hold)), ..execution }
}

pub(super) fn quota() -> BlockDetail {
    let policy_id = QuotaPolicyId::from_uuid(uuid::Uuid::nil());
    BlockDetail::Quota { policy_id, name: "api".into(), key: "acme".into(), used: 2, limit: 2, retry_at: Some(at(700)) }
}

pub(super) fn blocked(detail: BlockDetail) -> Execution {
    let phase = Phase::Blocked { on: detail.blocker(), until: detail.retry_at() };
    Execution { phase, blocked_by: Some(Box::new(detail)), ..waiting() }
}

pub(super) fn retried() -> Execution {
    let failure = Failure { category: Kind::parse("network").unwrap(), message: "no".into(), permanent: false };
    let phase = Phase::Delayed { until: at(900), why: DelayReason::Backoff };
    let attempt = AttemptSlot::Next(Origin::Retry { of: AttemptIndex(0) });
    Execution { phase, attempt, attempts_made: 1, retries: 1, failure: Some(failure), ..waiting() }
}

pub(super) fn suspended() -> Execution {
    let mut fixture = ExecutionFixture::with(&work(), at(0));
    fixture.suspend("a", at(1));
    fixture.execution().clone()
}

pub(super) fn completed() -> Execution {
    let args = CompleteArgs { execution_id: running().id, fence: held(&running()), result: None };
    complete(&running(), &args, at(5)).unwrap().after
}

pub(super) fn cancelled() -> Execution {
    let args = CancelArgs { execution_id: waiting().id, reason: None, requested_by: None };
    cancel(&waiting(), &args, at(5)).unwrap().after
}

/// An execution that requires a GPU, with a worker that has none.
pub(super) fn requiring(execution: Execution) -> Facts {
    let mut facts = facts(execution);
    facts.info.policy.routing_requirements.required_capabilities = [Capability::parse("gpu").unwrap()].into();
    facts
}

/// The same worker with a GPU.
pub(super) fn capable() -> Worker {
    Worker { capabilities: [Capability::parse("gpu").unwrap()].into(), ..worker("default", "resize") }
}
