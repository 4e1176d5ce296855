//! Compensations.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ff_sdk::core::execution::Outcome;
use ff_sdk::{Context, Fault, FlowFabric};
use tokio::sync::Notify;

use super::{World, did, in_time, later, step};

/// Runs a step whose compensation adds the result of the step to the ledger.
async fn reversible(ctx: &Context, name: &'static str) -> Result<String, Fault> {
    let own = ctx.clone();
    let undo = move |result: String| {
        let own = own.clone();
        async move { did(&own, &format!("undo {result}")).map(drop) }
    };
    ctx.step(name, || async { did(ctx, name) }).undo(undo).await
}

fn never<T>() -> Result<T, Fault> {
    Err(Fault::permanent("never", "it cannot be"))
}

pub(crate) async fn completed_steps_are_undone_in_reverse_order(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        reversible(&ctx, "a").await?;
        step(&ctx, "b").await?;
        reversible(&ctx, "c").await?;
        never::<()>()
    });
    let id = world.submit(3).await;
    assert_eq!(world.failure(&id).await, ("never".to_owned(), "it cannot be".to_owned()));
    assert_eq!(world.ledger.all(), ["a", "b", "c", "undo C", "undo A"]);
    assert_eq!(world.steps(&id).await, ["step a", "step b", "step c", "undo (failed)", "undo c", "undo a"]);
}

pub(crate) async fn nothing_is_undone_while_the_execution_is_retried(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        reversible(&ctx, "a").await?;
        did(&ctx, "fail")?;
        later::<()>()
    });
    let id = world.submit(2).await;
    assert_eq!(world.failure(&id).await.0, "later");
    assert_eq!(world.ledger.all(), ["a", "fail", "fail", "fail", "undo A"]);

    let only_of_others =
        world.submit_with(|policy| policy.retry_policy.retryable_categories = vec!["network".to_owned()]).await;
    assert_eq!(world.failure(&only_of_others).await.0, "later");
    assert_eq!(world.ledger.all()[5..], ["a", "fail", "undo A"], "this category is not retried");
}

pub(crate) async fn a_compensation_that_fails_keeps_no_other_from_running(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        reversible(&ctx, "a").await?;
        ctx.step("b", || async { did(&ctx, "b") }).undo(|_| async { never() }).await?;
        reversible(&ctx, "c").await?;
        never::<()>()
    });
    let id = world.submit(0).await;
    assert_eq!(world.failure(&id).await.0, "never");
    assert_eq!(world.ledger.all(), ["a", "b", "c", "undo C", "undo A"]);
    assert_eq!(world.steps(&id).await[3..], ["undo (failed)", "undo c", "undo b failed: never", "undo a"]);
}

pub(crate) async fn a_compensation_is_tried_again(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        let (own, attempts) = (ctx.clone(), Arc::new(AtomicU32::new(0)));
        let undo = move |_: String| {
            let (own, attempts) = (own.clone(), attempts.clone());
            async move {
                did(&own, "undo")?;
                if attempts.fetch_add(1, Ordering::SeqCst) == 0 { later() } else { Ok(()) }
            }
        };
        ctx.step("a", || async { did(&ctx, "a") }).undo(undo).await?;
        never::<()>()
    });
    let id = world.submit(0).await;
    assert_eq!(world.failure(&id).await.0, "never");
    assert_eq!(world.ledger.all(), ["a", "undo", "undo"]);
    assert_eq!(world.steps(&id).await[1..], ["undo (failed)", "undo a"]);
}

pub(crate) async fn undoing_continues_in_the_next_run(ff: FlowFabric) {
    let gate = Arc::new((Notify::new(), Notify::new()));
    let held = gate.clone();
    let world = World::start(ff, move |ctx: Context| {
        let gate = held.clone();
        async move {
            reversible(&ctx, "a").await?;
            let own = ctx.clone();
            let undo = move |_: String| {
                let (own, gate) = (own.clone(), gate.clone());
                async move {
                    did(&own, "undo b")?;
                    if own.task().attempt_index.0 == 0 {
                        gate.0.notify_one();
                        gate.1.notified().await;
                    }
                    Ok(())
                }
            };
            ctx.step("b", || async { did(&ctx, "b") }).undo(undo).await?;
            reversible(&ctx, "c").await?;
            if ctx.task().attempt_index.0 == 0 {
                return never();
            }
            step(&ctx, "new").await?;
            did(&ctx, "it goes on")
        }
    });
    let id = world.submit(3).await;
    in_time(gate.0.notified()).await;
    world.client().revoke(&id, None).await.unwrap();
    gate.1.notify_one();
    assert_eq!(world.failure(&id).await, ("never".to_owned(), "it cannot be".to_owned()));
    assert_eq!(world.ledger.all(), ["a", "b", "c", "undo C", "undo b", "undo b", "undo A"]);
    assert_eq!(world.steps(&id).await[3..], ["undo (failed)", "undo c", "undo b", "undo a"]);
}

pub(crate) async fn a_panic_of_the_handler_is_undone(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        let a = reversible(&ctx, "a").await?;
        assert!(a.is_empty(), "a wire was cut");
        Ok::<_, Fault>(())
    });
    let id = world.submit(0).await;
    assert_eq!(world.failure(&id).await, ("panic".to_owned(), "a wire was cut".to_owned()));
    assert_eq!(world.ledger.all(), ["a", "undo A"]);
    assert_eq!(world.end(&id).await.0.outcome, Outcome::Failed);
}

pub(crate) async fn a_run_that_is_over_keeps_no_compensation(ff: FlowFabric) {
    let marker = Arc::new(());
    let seen = Arc::downgrade(&marker);
    let world = World::start(ff, move |ctx: Context| {
        let marker = marker.clone();
        async move {
            let own = (ctx.clone(), marker);
            let undo = move |_: String| std::future::ready(did(&own.0, "undo").map(drop));
            ctx.step("a", || async { did(&ctx, "a") }).undo(undo).await?;
            ctx.sleep("nap", Duration::from_millis(1)).await?;
            Ok::<_, Fault>(())
        }
    });
    let id = world.submit(0).await;
    assert_eq!(world.end(&id).await.0.outcome, Outcome::Success);
    let dropped = async {
        // The handler itself holds the last reference.
        while seen.strong_count() > 1 {
            tokio::task::yield_now().await;
        }
    };
    in_time(dropped).await;
}
