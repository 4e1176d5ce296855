//! Budgets that make an execution wait at the usage report that exceeds them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ff_sdk::core::state::PublicState;
use ff_sdk::core::suspension::SuspendReason;
use ff_sdk::core::types::ExecutionId;
use ff_sdk::{Context, Fault, FlowFabric, Job, Signal};

use super::{WaitpointSender, World, in_time};

const ASKS: &str = r#"{"scope":"kind:k","limits":{"tokens":{"hard":100}},"on_hard_limit":"suspend"}"#;

/// Calls a model three times, for 60 tokens each, and once however often the handler runs. Returns the number of calls
/// made.
async fn calls(ctx: Context, made: Arc<AtomicU32>) -> Result<u32, Fault> {
    for turn in 0..3 {
        let call = || {
            made.fetch_add(1, Ordering::Relaxed);
            std::future::ready(Ok::<_, Fault>(turn))
        };
        ctx.step("model", call).key(turn).await?;
        let sender = ctx.state::<WaitpointSender>()?;
        ctx.usage().add("tokens", 60).announce(sender.to()).report().await?;
    }
    Ok(made.load(Ordering::Relaxed))
}

async fn start(ff: FlowFabric) -> World {
    let budget = ff.client().budget("asks").unwrap();
    budget.put(serde_json::from_str(ASKS).unwrap()).await.unwrap();
    let made = Arc::new(AtomicU32::new(0));
    World::start(ff, move |ctx: Context| calls(ctx, made.clone()))
}

async fn tokens(world: &World, id: &ExecutionId) -> (u64, u64) {
    let used = world.client().budget("asks").unwrap().describe().await.unwrap().balance;
    let usage = world.client().usage(id).await.unwrap().usage;
    (used.into_values().next().unwrap().used, usage.into_values().next().unwrap())
}

pub(crate) async fn a_report_over_a_budget_waits_for_approval_and_continues(ff: FlowFabric) {
    let mut world = start(ff).await;
    let id = world.submit().await;
    let waitpoint = world.next_waitpoint().await;
    world.waits(&id).await;
    let info = world.client().get(&id).await.unwrap();
    assert_eq!(info.progress.unwrap().message.as_deref(), Some("May it go on? budget asks is exceeded: tokens"));
    assert_eq!(info.suspension.unwrap().reason, SuspendReason::PausedByBudget);
    assert_eq!(tokens(&world, &id).await, (120, 120));

    // Another execution of the same budget that has not started stays blocked, even when this one continues.
    let other = world.client().submit(Job::new("k", &())).await.unwrap().execution_id;
    let blocked = async {
        while world.client().get(&other).await.unwrap().public_state != PublicState::RateLimited {
            tokio::task::yield_now().await;
        }
    };
    in_time(blocked).await;
    world.client().signal(Signal::new(&waitpoint, "approved")).await.unwrap();
    // The budget was not raised, so the next report asks again.
    world.next_waitpoint().await;
    world.waits(&id).await;
    assert_eq!(tokens(&world, &id).await, (180, 180), "what was reported before the wait counts once");
    assert_eq!(world.client().get(&other).await.unwrap().public_state, PublicState::RateLimited);
    world.client().approve(&id, Some("it is worth it")).await.unwrap();
    assert_eq!(world.end(&id).await.json::<u32>().unwrap(), 3, "no call was made twice");
    assert_eq!(tokens(&world, &id).await, (180, 180));

    let more = ASKS.replace("100", "1000");
    world.client().budget("asks").unwrap().put(serde_json::from_str(&more).unwrap()).await.unwrap();
    assert_eq!(world.end(&other).await.json::<u32>().unwrap(), 6, "with more budget no question is asked");
}

pub(crate) async fn a_report_over_a_budget_that_is_rejected_fails_the_execution(ff: FlowFabric) {
    let mut world = start(ff).await;
    let id = world.submit().await;
    world.next_waitpoint().await;
    world.waits(&id).await;
    world.client().reject(&id, Some("too dear")).await.unwrap();
    let end = world.end(&id).await.0;
    let failure = end.failure.unwrap();
    assert_eq!((failure.category.as_str(), failure.permanent), ("budget_exceeded", true));
    assert!(failure.message.contains("too dear"), "{}", failure.message);
    assert_eq!(tokens(&world, &id).await, (120, 120));
}

pub(crate) async fn reports_before_a_wait_count_once(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        ctx.usage().add("tokens", 1).report().await?;
        ctx.usage().add("tokens", 10).report().await?;
        ctx.sleep("nap", Duration::from_millis(1)).await?;
        ctx.usage().add("tokens", 100).report().await?;
        Ok::<_, Fault>(())
    });
    let id = world.submit().await;
    world.end(&id).await.json::<()>().unwrap();
    assert_eq!(world.client().usage(&id).await.unwrap().usage.into_values().collect::<Vec<_>>(), [111]);
}
