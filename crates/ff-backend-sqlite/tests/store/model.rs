//! The same script on the model and on the store: equal replies, equal contents.

use std::sync::Arc;

use ff_backend_sqlite::{SqliteBackend, SqliteOptions};
use ff_core::backend::{Answer, ExecutionRoom, LeaseRoom, Upkeep};
use ff_core::clock::{Clock, ManualClock};
use ff_core::contracts::{
    CancelArgs, ClaimArgs, CompleteArgs, DelayArgs, FailArgs, ProgressArgs, PumpArgs, RenewArgs, ReplayArgs,
    RevokeArgs, Start, SubmitArgs, Task,
};
use ff_core::dice::{Dice, SeededDice};
use ff_core::execution::Failure;
use ff_core::model::Model;
use ff_core::operation::{Ask, Conditions};
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::types::{ExecutionId, IdempotencyKey, Kind, Priority};
use uuid::Uuid;

use crate::{Place, claim_on, findings, options, standing_clock, work};

const ONE: PartitionConfig =
    PartitionConfig { num_flow_partitions: 1, num_budget_partitions: 1, num_quota_partitions: 1 };

/// A store and a model that are asked the same.
struct Pair {
    store: SqliteBackend,
    model: Model,
    clock: Arc<ManualClock>,
    dice: SeededDice,
}

impl Pair {
    fn new(place: &Place) -> Self {
        let clock = standing_clock();
        let dice = Arc::new(SeededDice::new(3));
        let options = SqliteOptions { partitions: Some(ONE), clock: clock.clone(), dice, ..options() };
        let store = SqliteBackend::open(&place.path(), options).unwrap();
        Self { store, model: Model::default(), clock, dice: SeededDice::new(3) }
    }

    /// Asks the model, which draws as many nonces as the store does.
    fn model<A: Ask>(&mut self, args: A) -> Answer<A::Answer> {
        let at = Conditions { partitions: ONE, nonce: self.dice.nonce(), now: self.clock.now() };
        let (reply, _) = self.model.execute(&args.into_operation(), &at)?;
        Ok(A::answer(reply).unwrap())
    }

    async fn claim(&mut self, args: ClaimArgs) -> Vec<Task> {
        let claims = self.store.claim(args.clone()).await.unwrap();
        let taken = self.model(args).unwrap();
        let (tasks, payloads): (Vec<_>, Vec<_>) = claims.claimed.into_iter().map(|c| (c.task, c.payload)).unzip();
        assert_eq!((&tasks, claims.next), (&taken.tasks, taken.next));
        let submitted: Vec<_> =
            tasks.iter().map(|task| self.model.payload(&task.execution_id).unwrap().clone()).collect();
        assert_eq!(payloads, submitted);
        tasks
    }

    async fn compare(&self) {
        assert_eq!(self.store.snapshot(0).await.unwrap(), self.model.snapshot(0));
        let swept = self.store.sweep(0).await.unwrap();
        assert_eq!((swept.ready, swept.next_due), (self.model.ready(0), self.model.next_due(0)));
        assert_eq!(findings(&self.store).await, []);
    }
}

/// Asks both the same, and expects the same.
macro_rules! both {
    ($pair:ident.$operation:ident($args:expr)) => {{
        let args = $args;
        let answer = $pair.store.$operation(args.clone()).await;
        assert_eq!(answer, $pair.model(args));
        $pair.compare().await;
        answer
    }};
}

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
    pair.compare().await;
    let held = |task: &Task| (task.execution_id, task.fence);

    let (execution_id, fence) = held(&resized[0]);
    both!(pair.progress(ProgressArgs { execution_id, fence, percent: Some(50), message: None })).unwrap();
    both!(pair.renew(RenewArgs { execution_id, fence, lease_ttl_ms: Some(5_000) })).unwrap();
    let done = CompleteArgs { execution_id, fence, result: Some(Payload::json("3")) };
    both!(pair.complete(done.clone())).unwrap();
    both!(pair.complete(done)).unwrap();
    both!(pair.renew(RenewArgs { execution_id, fence, lease_ttl_ms: None })).unwrap_err();
    both!(pair.replay(ReplayArgs { execution_id, reason: Some("again".into()), requested_by: None })).unwrap();

    let (execution_id, fence) = held(&rest[0]);
    both!(pair.fail(FailArgs { execution_id, fence, failure })).unwrap();
    let (execution_id, fence) = held(&rest[1]);
    both!(pair.delay(DelayArgs { execution_id, fence, start: Start::After(70_000) })).unwrap();

    for step in [500, 1_000, 60_000, 60_000] {
        pair.clock.advance(step);
        let answer = pair.store.pump(0).await;
        assert_eq!(answer, pair.model(PumpArgs { partition: 0 }));
        pair.compare().await;
    }
    let again = pair.claim(any(2)).await;
    let (execution_id, fence) = held(&again[0]);
    both!(pair.revoke(RevokeArgs { execution_id, lease_id: Some(fence.lease_id), reason: None })).unwrap();
    both!(pair.cancel(CancelArgs { execution_id: held(&again[1]).0, reason: None, requested_by: None })).unwrap();
    both!(pair.cancel(CancelArgs { execution_id: id(99), reason: None, requested_by: None })).unwrap_err();
}
