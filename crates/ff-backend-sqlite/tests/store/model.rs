//! The same script on the model and on the store: equal replies, equal contents.

use ff_core::backend::Perform;
use ff_core::contracts::{
    CancelArgs, ClaimArgs, CompleteArgs, DelayArgs, FailArgs, ProgressArgs, RenewArgs, ReplayArgs, RevokeArgs, Start,
    SubmitArgs, Task,
};
use ff_core::execution::Failure;
use ff_core::payload::Payload;
use ff_core::types::{ExecutionId, IdempotencyKey, Kind, Priority};
use uuid::Uuid;

use crate::pair::{Pair, both};
use crate::{Place, claim_on, work};

fn submission(n: u128, kind: &str, priority: i64) -> SubmitArgs {
    SubmitArgs {
        uuid: Uuid::from_u128(n),
        kind: Kind::parse(kind).unwrap(),
        priority: Priority::new(priority).unwrap(),
        ..work()
    }
}

#[tokio::test]
async fn one_script_has_one_outcome() {
    let place = Place::new();
    let mut pair = Pair::new(&place);
    let id = |n| ExecutionId::new(0, Uuid::from_u128(n));
    let any = |max| ClaimArgs { max, ..claim_on(&id(1)) };
    let of = |kinds: &[&str], max| ClaimArgs {
        kinds: kinds.iter().map(|kind| Kind::parse(kind).unwrap()).collect(),
        ..any(max)
    };
    let failure = Failure { category: Kind::parse("network").unwrap(), message: "no".into(), permanent: false };

    both!(pair.submit(submission(1, "resize", 0))).unwrap();
    both!(pair.submit(submission(2, "mail", 5))).unwrap();
    both!(pair.submit(SubmitArgs { start: Start::After(500), ..submission(3, "mail", 9) })).unwrap();
    let mut short = submission(4, "resize", 0);
    short.policy.timeout_policy.attempt_timeout_ms = Some(1_000);
    short.policy.timeout_policy.execution_deadline_ms = Some(60_000);
    short.idempotency_key = Some(IdempotencyKey::parse("order 4").unwrap());
    both!(pair.submit(short.clone())).unwrap();
    assert!(both!(pair.submit(SubmitArgs { uuid: Uuid::from_u128(5), ..short.clone() })).unwrap().duplicate);
    both!(pair.submit(SubmitArgs { payload: Payload::json("2"), ..short })).unwrap_err();

    let resized = pair.claim(of(&["resize", "absent", "resize"], 1)).await;
    pair.clock.advance(10);
    let rest = pair.claim(any(9)).await;
    assert_eq!((resized.len(), rest.len()), (1, 2));
    let held = |task: &Task| (task.execution_id, task.fence);

    let (execution_id, fence) = held(&resized[0]);
    both!(pair.progress(ProgressArgs { execution_id, fence, percent: Some(50), message: None })).unwrap();
    both!(pair.renew(RenewArgs { execution_id, fence, lease_ttl_ms: Some(5_000) })).unwrap();
    let done = CompleteArgs { execution_id, fence, result: Some(Payload::json("3")) };
    both!(pair.complete(done.clone())).unwrap();
    both!(pair.complete(done)).unwrap();
    both!(pair.renew(RenewArgs { execution_id, fence, lease_ttl_ms: None })).unwrap_err();
    both!(pair.replay(ReplayArgs { reason: Some("again".into()), ..ReplayArgs::new(execution_id) })).unwrap();

    let (execution_id, fence) = held(&rest[0]);
    both!(pair.fail(FailArgs { execution_id, fence, failure })).unwrap();
    let (execution_id, fence) = held(&rest[1]);
    both!(pair.delay(DelayArgs { execution_id, fence, start: Start::After(70_000) })).unwrap();

    for step in [500, 1_000, 60_000, 60_000] {
        pair.clock.advance(step);
        pair.pump().await;
    }
    let again = pair.claim(any(2)).await;
    let (execution_id, fence) = held(&again[0]);
    both!(pair.revoke(RevokeArgs { execution_id, lease_id: Some(fence.lease_id), reason: None })).unwrap();
    both!(pair.cancel(CancelArgs { execution_id: held(&again[1]).0, reason: None, requested_by: None })).unwrap();
    both!(pair.cancel(CancelArgs { execution_id: id(99), reason: None, requested_by: None })).unwrap_err();
}
