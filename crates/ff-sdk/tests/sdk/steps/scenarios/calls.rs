//! Calls: another execution and its result.

use ff_sdk::core::contracts::{NextArgs, RecordStepArgs};
use ff_sdk::core::execution::Outcome;
use ff_sdk::core::lease::{Holder, LeaseEnding};
use ff_sdk::core::payload::Payload;
use ff_sdk::core::step::{StepOutcome, StepRef};
use ff_sdk::core::types::{ExecutionId, IdempotencyKey, StepName};
use ff_sdk::{Context, Fault, FlowFabric, Job, Search};
use serde_json::json;
use uuid::Uuid;

use super::{World, did, in_time, later};

/// The handler of a callee.
async fn double(ctx: Context, number: u64) -> Result<u64, Fault> {
    did(&ctx, "double")?;
    if number == 13 { Err(Fault::permanent("superstition", "not that one")) } else { Ok(number * 2) }
}

/// Starts a worker for a caller and its callees. It runs `at_once` executions at the same time.
fn world<A>(ff: FlowFabric, at_once: usize, handler: impl ff_sdk::Handler<A>) -> World {
    let large = |_: Context| async { Ok::<_, Fault>("x".repeat(300_000)) };
    let worker = ff.worker("w").concurrency(at_once).on("k", handler).on("double", double).on("large", large);
    World::with(ff, worker)
}

async fn called(world: &World, kind: &str) -> Vec<ExecutionId> {
    let mut found = world.client().search(Search::all().kind(kind)).unwrap();
    let mut ids = Vec::new();
    while let Some(info) = found.next().await {
        ids.push(info.unwrap().execution_id);
    }
    ids
}

pub(crate) async fn a_call_returns_the_result_of_another_execution(ff: FlowFabric) {
    let world = world(ff, 2, |ctx: Context| async move {
        let mut sum = 0;
        for number in [20_u64, 1] {
            sum += ctx.call::<u64>("twice as much", Job::new("double", &number)).await?;
        }
        if ctx.task().attempt_index.0 == 0 { later() } else { Ok(sum) }
    });
    let id = world.submit(1).await;
    assert_eq!(world.end(&id).await.json::<u64>().unwrap(), 42);
    assert_eq!(world.ledger.all(), ["double", "double"], "a retry does not call again");
    let steps = world.steps(&id).await;
    let numbered = ["step twice as much", "wait twice as much", "step twice as much [1]", "wait twice as much [1]"];
    assert_eq!(steps, numbered);
}

pub(crate) async fn a_call_occupies_no_worker(ff: FlowFabric) {
    let world =
        world(ff, 1, |ctx: Context| async move { ctx.call::<u64>("double", Job::new("double", &21_u64)).await });
    let id = world.submit(0).await;
    assert_eq!(world.end(&id).await.json::<u64>().unwrap(), 42);
    assert_eq!(called(&world, "double").await.len(), 1);
    let attempts = world.client().attempts(&id).await.unwrap();
    assert_eq!(attempts.attempts.len(), 1, "the same attempt goes on");
    assert!(attempts.leases.iter().all(|lease| lease.ended == LeaseEnding::Suspended), "{:?}", attempts.leases);
    assert!(!attempts.leases.is_empty(), "the callee could not have run otherwise");
}

pub(crate) async fn a_callee_that_was_only_chosen_is_submitted(ff: FlowFabric) {
    // This run ends after it has chosen its callee and before it submits it.
    let id = ff.client().submit(Job::new("k", &())).await.unwrap().execution_id;
    let next = NextArgs { wait_ms: 10_000, ..NextArgs::new(Holder::parse("dead", "dead-1").unwrap()) };
    let task = in_time(ff.long_poll().next(next)).await.unwrap().remove(0).task;
    let uuid = Uuid::now_v7();
    let key = IdempotencyKey::parse(&format!("call/{}/{uuid}", id.uuid())).unwrap();
    let callee = ExecutionId::place(uuid, &task.namespace, Some(&key), &ff.backend().partitions());
    let result = Payload::json(json!({ "execution_id": callee }).to_string());
    let chosen = RecordStepArgs {
        execution_id: id,
        fence: task.fence,
        step: StepRef::new(StepName::parse("double").unwrap()),
        started_at: None,
        outcome: StepOutcome::Succeeded { result },
    };
    ff.backend().record_step(chosen).await.unwrap();
    ff.client().revoke(&id, None).await.unwrap();

    let world =
        world(ff, 2, |ctx: Context| async move { ctx.call::<u64>("double", Job::new("double", &21_u64)).await });
    assert_eq!(world.end(&id).await.json::<u64>().unwrap(), 42);
    assert_eq!(called(&world, "double").await, [callee]);
}

pub(crate) async fn a_callee_that_fails_is_a_permanent_fault(ff: FlowFabric) {
    let world =
        world(ff, 2, |ctx: Context| async move { ctx.call::<u64>("double", Job::new("double", &13_u64)).await });
    let id = world.submit(3).await;
    let (category, message) = world.failure(&id).await;
    let callee = called(&world, "double").await[0];
    assert_eq!(category, "call_failed");
    assert!(message.contains(&callee.to_string()) && message.contains("not that one"), "{message}");
    assert_eq!(world.steps(&id).await, ["step double", "wait double failed: call_failed"]);
}

pub(crate) async fn a_large_result_of_a_callee_is_read_from_it(ff: FlowFabric) {
    let world = world(ff, 2, |ctx: Context| async move {
        let text: String = ctx.call("large", Job::new("large", &())).await?;
        if ctx.task().attempt_index.0 == 0 { later() } else { Ok(text.len()) }
    });
    let id = world.submit(1).await;
    assert_eq!(world.end(&id).await.json::<usize>().unwrap(), 300_000);
}

pub(crate) async fn a_job_with_a_key_of_its_own_is_not_called(ff: FlowFabric) {
    let world = world(ff, 2, |ctx: Context| async move {
        ctx.call::<u64>("double", Job::new("double", &1_u64).idempotency_key("mine")).await
    });
    let id = world.submit(3).await;
    let (category, message) = world.failure(&id).await;
    assert_eq!(category, "invalid_step");
    assert!(message.contains("\"double\"") && message.contains("idempotency key"), "{message}");
    assert_eq!(called(&world, "double").await, []);
    assert_eq!(world.end(&id).await.0.outcome, Outcome::Failed);
}
