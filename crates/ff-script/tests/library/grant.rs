//! Grants of single executions: every refusal, and claims of one execution by the published names.

use ff_core::backend::entropy::{Entropy, SystemEntropy};
use ff_core::contracts::{AssignArgs, ConfigureLaneArgs, CopyLaneArgs, HoldArgs};
use ff_core::engine_error::Code;
use ff_core::lane::LaneState;
use ff_core::lease::Holder;
use ff_core::types::{ExecutionId, LaneId, Namespace, WorkerInstanceId};
use ff_script::execution::ff_hold_execution;
use ff_script::lane::{ff_configure_lane, ff_copy_lane};
use ff_script::lease::ff_issue_claim_grant;
use ff_script::published::{
    ff_issue_grant_and_claim, ff_issue_reclaim_grant, ff_mark_lease_expired_if_due, ff_reclaim_execution,
};
use ff_script::{LibraryClock, ScriptError};

use crate::refused::assert_refused;
use crate::situation::{LEASE_TTL_MS, ONE_PARTITION, Situation};
use crate::wire::Wire;

pub(crate) const CASES: &[(&str, Code)] = &[
    ("ff_issue_claim_grant", Code::ExecutionNotFound),
    ("ff_issue_claim_grant", Code::ExecutionNotActive),
    ("ff_issue_claim_grant", Code::ExecutionNotEligible),
    ("ff_issue_claim_grant", Code::GrantAlreadyExists),
    ("ff_issue_claim_grant", Code::LeaseConflict),
    ("ff_issue_grant_and_claim", Code::ExecutionNotFound),
    ("ff_issue_grant_and_claim", Code::ExecutionNotActive),
    ("ff_issue_grant_and_claim", Code::ExecutionNotEligible),
    ("ff_issue_grant_and_claim", Code::GrantAlreadyExists),
    ("ff_issue_reclaim_grant", Code::ExecutionNotFound),
    ("ff_issue_reclaim_grant", Code::ExecutionNotActive),
    ("ff_issue_reclaim_grant", Code::ExecutionNotEligible),
    ("ff_issue_reclaim_grant", Code::ExecutionNotReclaimable),
    ("ff_issue_reclaim_grant", Code::GrantAlreadyExists),
    ("ff_issue_reclaim_grant", Code::LeaseConflict),
    ("ff_reclaim_execution", Code::ExecutionNotFound),
    ("ff_reclaim_execution", Code::ExecutionNotActive),
    ("ff_reclaim_execution", Code::ExecutionNotEligible),
    ("ff_reclaim_execution", Code::ExecutionNotReclaimable),
    ("ff_reclaim_execution", Code::InvalidClaimGrant),
    ("ff_reclaim_execution", Code::ClaimGrantExpired),
];

#[tokio::test]
async fn a_refused_grant_writes_nothing() {
    for (function, code) in CASES {
        let wire = Wire::start(LibraryClock::Test).await;
        let id = arrange(&wire, function, *code).await;
        assert_refused(&wire, function, *code, ask(&wire, function, id)).await;
    }
}

/// Arranges an execution so that the call is refused with this code.
async fn arrange(wire: &Wire, function: &str, code: Code) -> ExecutionId {
    let reclaims = function.contains("reclaim");
    let situation = match code {
        Code::ExecutionNotFound => Situation::Absent,
        Code::ExecutionNotActive => Situation::Completed,
        Code::LeaseConflict => Situation::Held,
        Code::ExecutionNotReclaimable | Code::InvalidClaimGrant => Situation::Waiting,
        _ if reclaims => Situation::RanOut,
        _ => Situation::Waiting,
    };
    let id = situation.arrange(wire).await.id;
    match (function, code) {
        (_, Code::GrantAlreadyExists) => ff_issue_claim_grant(wire, grant(id, "w-8")).await.map(drop).unwrap(),
        ("ff_reclaim_execution", Code::ExecutionNotReclaimable | Code::ClaimGrantExpired) => {
            ff_issue_claim_grant(wire, grant(id, "w-7")).await.unwrap();
        }
        ("ff_reclaim_execution", Code::ExecutionNotEligible) => {
            ff_issue_claim_grant(wire, grant(id, "w-7")).await.unwrap();
            pause(wire).await;
        }
        (_, Code::ExecutionNotEligible) => {
            let args = HoldArgs { execution_id: id, reason: None, requested_by: None };
            ff_hold_execution(wire, args).await.unwrap();
        }
        _ => {}
    }
    if code == Code::ClaimGrantExpired {
        wire.advance(30_000).await;
    }
    id
}

async fn ask(wire: &Wire, function: &str, id: ExecutionId) -> Result<(), ScriptError> {
    let (holder, nonce) = (holder(), SystemEntropy.nonce());
    match function {
        "ff_issue_claim_grant" => ff_issue_claim_grant(wire, grant(id, "w-7")).await.map(drop),
        "ff_issue_reclaim_grant" => ff_issue_reclaim_grant(wire, grant(id, "w-7")).await.map(drop),
        "ff_issue_grant_and_claim" => {
            ff_issue_grant_and_claim(wire, &id, &holder, LEASE_TTL_MS, &nonce).await.map(drop)
        }
        "ff_reclaim_execution" => ff_reclaim_execution(wire, &id, &holder, LEASE_TTL_MS, &nonce).await.map(drop),
        other => panic!("{other} is not called here"),
    }
}

/// A worker claims an execution that another worker lost, under its grant.
#[tokio::test]
async fn an_execution_with_an_expired_lease_is_reclaimed_under_a_grant() {
    let wire = Wire::start(LibraryClock::Test).await;
    for is_marked in [false, true] {
        wire.empty().await;
        let id = Situation::RanOut.arrange(&wire).await.id;
        if is_marked {
            ff_mark_lease_expired_if_due(&wire, &id).await.unwrap();
        }
        let granted = ff_issue_reclaim_grant(&wire, grant(id, "w-7")).await.unwrap();
        assert!(!granted.already && ff_issue_reclaim_grant(&wire, grant(id, "w-7")).await.unwrap().already);
        let nonce = SystemEntropy.nonce();
        let claimed = ff_reclaim_execution(&wire, &id, &holder(), LEASE_TTL_MS, &nonce).await.unwrap();
        assert_eq!((claimed.task.execution_id, claimed.task.fence.lease_epoch.0), (id, 2));
    }
}

/// One call assigns and claims a given execution, whether it waits or was assigned before.
#[tokio::test]
async fn an_execution_is_granted_and_claimed_in_one_call() {
    let wire = Wire::start(LibraryClock::Test).await;
    for is_assigned in [false, true] {
        wire.empty().await;
        let id = Situation::Waiting.arrange(&wire).await.id;
        if is_assigned {
            ff_issue_claim_grant(&wire, grant(id, "w-7")).await.unwrap();
        }
        let nonce = SystemEntropy.nonce();
        let claimed = ff_issue_grant_and_claim(&wire, &id, &holder(), LEASE_TTL_MS, &nonce).await.unwrap();
        assert_eq!((claimed.task.execution_id, claimed.task.fence.lease_epoch.0), (id, 1));
    }
}

fn holder() -> Holder {
    Holder::parse("w", "w-7").unwrap()
}

fn grant(execution_id: ExecutionId, instance: &str) -> AssignArgs {
    AssignArgs {
        execution_id,
        worker_instance_id: WorkerInstanceId::parse(instance).unwrap(),
        ttl_ms: 30_000,
        reason: None,
        requested_by: None,
    }
}

async fn pause(wire: &Wire) {
    let args = ConfigureLaneArgs::state(Namespace::default_name(), LaneId::default_name(), LaneState::Paused);
    let lane = ff_configure_lane(wire, &ONE_PARTITION, args).await.unwrap();
    ff_copy_lane(wire, &CopyLaneArgs { partition: 0, lane }).await.unwrap();
}
