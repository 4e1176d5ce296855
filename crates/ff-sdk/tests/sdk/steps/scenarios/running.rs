//! Steps: run once, distinguished by name and key, retried, refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ff_sdk::core::execution::Outcome;
use ff_sdk::core::limits;
use ff_sdk::core::policy::Backoff;
use ff_sdk::{Context, Fault, FlowFabric};
use tokio::sync::Notify;

use super::{Ledger, World, did, in_time, later, step};

const AT_ONCE: Backoff = Backoff::Fixed { delay_ms: 0, jitter: false };

pub(crate) async fn a_recorded_step_is_not_run_again(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        let (a, b) = (step(&ctx, "a").await?, step(&ctx, "send b").await?);
        if ctx.task().attempt_index.0 < 2 { later() } else { Ok(a + &b) }
    });
    let id = world.submit(3).await;
    assert_eq!(world.end(&id).await.json::<String>().unwrap(), "ASEND B");
    assert_eq!(world.ledger.all(), ["a", "send b"]);
    assert_eq!(world.steps(&id).await, ["step a", "step send b"]);
    let recorded = world.client().steps(&id).await.unwrap();
    assert!(recorded.iter().all(|step| step.attempt.0 == 0 && step.started_at <= step.recorded_at));
}

pub(crate) async fn steps_in_a_loop_are_distinguished_by_key(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        let mut sum = 0;
        for nth in 0..3_u64 {
            let add = || async { did(&ctx, &format!("add {nth}")).map(|_| nth) };
            sum += ctx.step("add", add).key(nth).await?;
        }
        if ctx.task().attempt_index.0 == 0 { later() } else { Ok(sum) }
    });
    let id = world.submit(1).await;
    assert_eq!(world.end(&id).await.json::<u64>().unwrap(), 3);
    assert_eq!(world.ledger.all(), ["add 0", "add 1", "add 2"]);
    assert_eq!(world.steps(&id).await, ["step add [0]", "step add [1]", "step add [2]"]);
}

pub(crate) async fn the_same_step_twice_in_a_run_is_a_fault(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        step(&ctx, "a").await?;
        step(&ctx, "a").await
    });
    let id = world.submit(3).await;
    let (category, message) = world.failure(&id).await;
    assert_eq!(category, "duplicate_step");
    assert!(message.contains("\"a\"") && message.contains(".key("), "{message}");
    assert_eq!(world.ledger.all(), ["a"], "it is not retried either");
}

pub(crate) async fn a_step_is_retried_within_its_run(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        let attempts = AtomicU32::new(0);
        let flaky = || async {
            did(&ctx, "try")?;
            if attempts.fetch_add(1, Ordering::SeqCst) < 2 { later() } else { Ok(7) }
        };
        ctx.step("flaky", flaky).retries(2).backoff(AT_ONCE).await
    });
    let id = world.submit(0).await;
    assert_eq!(world.end(&id).await.json::<u32>().unwrap(), 7);
    assert_eq!(world.ledger.all().len(), 3);
    assert_eq!(world.client().get(&id).await.unwrap().attempts_made, 1);
}

pub(crate) async fn a_step_whose_retries_are_used_up_has_failed_for_good(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        let broken = || async { did(&ctx, "try").and_then(|_| later::<()>()) };
        let error = ctx.step("broken", broken).retries(1).backoff(AT_ONCE).await.unwrap_err();
        assert_eq!((error.category.as_str(), error.permanent), ("later", true));
        if ctx.task().attempt_index.0 == 0 { later() } else { Err::<(), _>(error) }
    });
    let id = world.submit(3).await;
    assert_eq!(world.failure(&id).await, ("later".to_owned(), "not yet".to_owned()));
    assert_eq!(world.ledger.all(), ["try", "try"], "the second attempt is told the first one's error");
    assert_eq!(world.steps(&id).await, ["step broken failed: later"]);
    assert_eq!(world.client().get(&id).await.unwrap().retries, 1);
}

pub(crate) async fn an_error_without_retries_is_left_to_the_execution(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        let attempt = ctx.task().attempt_index.0;
        let action = || async { if attempt == 0 { later() } else { did(&ctx, "done") } };
        ctx.step("a", action).await
    });
    let id = world.submit(1).await;
    assert_eq!(world.end(&id).await.json::<String>().unwrap(), "DONE");
    assert_eq!(world.steps(&id).await, ["step a"]);
    assert_eq!(world.client().get(&id).await.unwrap().retries, 1);
}

pub(crate) async fn a_permanent_fault_of_a_step_is_recorded(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        let never = || async { Err::<(), _>(Fault::permanent("policy", "never")) };
        ctx.step("ask", never).retries(9).await
    });
    let id = world.submit(3).await;
    assert_eq!(world.failure(&id).await, ("policy".to_owned(), "never".to_owned()));
    assert_eq!(world.steps(&id).await, ["step ask failed: policy"]);
}

pub(crate) async fn a_panic_in_a_step_is_an_error_of_the_step(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        let (panics, attempt) = (AtomicU32::new(0), ctx.task().attempt_index.0);
        let caught = || async {
            assert!(panics.fetch_add(1, Ordering::SeqCst) > 0, "a wire was cut");
            did(&ctx, "repaired")
        };
        ctx.step("repair", caught).retries(1).backoff(AT_ONCE).await?;
        let uncaught = || async {
            assert!(attempt > 0, "another wire was cut");
            did(&ctx, "done")
        };
        ctx.step("work", uncaught).await
    });
    let id = world.submit(1).await;
    assert_eq!(world.end(&id).await.0.outcome, Outcome::Success);
    assert_eq!(world.ledger.all(), ["repaired", "done"]);
    let attempts = world.client().attempts(&id).await.unwrap().attempts;
    let failure = attempts[0].end.as_ref().unwrap().failure.as_ref().unwrap();
    assert_eq!((failure.category.as_str(), failure.message.as_str()), ("panic", "another wire was cut"));
}

pub(crate) async fn the_order_of_steps_may_change(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        let names: &[&str] = if ctx.task().attempt_index.0 == 0 { &["a", "gone", "b"] } else { &["b", "new", "a"] };
        let mut results = Vec::new();
        for name in names {
            results.push(step(&ctx, name).await?);
        }
        if ctx.task().attempt_index.0 == 0 { later() } else { Ok(results) }
    });
    let id = world.submit(1).await;
    assert_eq!(world.end(&id).await.json::<Vec<String>>().unwrap(), ["B", "NEW", "A"]);
    assert_eq!(world.ledger.all(), ["a", "gone", "b", "new"]);
}

pub(crate) async fn a_result_that_no_longer_reads_names_its_step(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        if ctx.task().attempt_index.0 == 0 {
            ctx.step("count", || async { Ok("many".to_owned()) }).key("k-1").await?;
            return later();
        }
        ctx.step("count", || async { Ok(1_u64) }).key("k-1").await
    });
    let id = world.submit(3).await;
    let (category, message) = world.failure(&id).await;
    assert_eq!(category, "invalid_step");
    assert!(message.contains("\"count\" of the key \"k-1\"") && message.contains("u64"), "{message}");
    assert_eq!(world.client().get(&id).await.unwrap().retries, 1, "reading it again would not help");
}

pub(crate) async fn a_step_whose_recording_is_refused_stops_the_handler(ff: FlowFabric) {
    let gate = Arc::new((Notify::new(), Notify::new()));
    let held = gate.clone();
    let world = World::start(ff, move |ctx: Context| {
        let gate = held.clone();
        async move {
            let charge = || async {
                did(&ctx, "charge")?;
                if ctx.task().attempt_index.0 == 0 {
                    gate.0.notify_one();
                    gate.1.notified().await;
                }
                Ok(())
            };
            let charged = ctx.step("charge", charge).await;
            if charged.is_err() {
                assert!(ctx.is_cancelled());
                assert!(step(&ctx, "more").await.is_err(), "nothing is begun without the lease");
            }
            did(&ctx, if charged.is_ok() { "charged" } else { "stopped" })
        }
    });
    let id = world.submit(0).await;
    in_time(gate.0.notified()).await;
    world.client().revoke(&id, None).await.unwrap();
    gate.1.notify_one();
    assert_eq!(world.end(&id).await.json::<String>().unwrap(), "CHARGED");
    assert_eq!(world.ledger.all(), ["charge", "stopped", "charge", "charged"]);
    let recorded = world.client().steps(&id).await.unwrap();
    assert_eq!(recorded.iter().map(|step| step.attempt.0).collect::<Vec<_>>(), [1]);
}

pub(crate) async fn steps_that_did_not_come_with_the_claim_are_read(ff: FlowFabric) {
    const STEPS: usize = 8;
    let world = World::start(ff, |ctx: Context| async move {
        let mut bytes = 0;
        for nth in 0..STEPS {
            let large = || async { did(&ctx, &nth.to_string()).map(|_| "x".repeat(200_000)) };
            bytes += ctx.step("large", large).key(nth).await?.len();
        }
        if ctx.task().attempt_index.0 == 0 { later() } else { Ok(bytes) }
    });
    let id = world.submit(1).await;
    assert_eq!(world.end(&id).await.json::<usize>().unwrap(), STEPS * 200_000);
    assert_eq!(world.ledger.all().len(), STEPS);
}

pub(crate) async fn a_result_is_taken_at_its_limit_and_refused_past_it(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        // As JSON a text is two bytes longer, because of its quotes.
        let text = |bytes: usize| async move { Ok("x".repeat(bytes - 2)) };
        ctx.step("at the limit", || text(limits::STEP_RESULT_BYTES)).await?;
        ctx.step("past it", || text(limits::STEP_RESULT_BYTES + 1)).await.map(drop)
    });
    let id = world.submit(3).await;
    let (category, message) = world.failure(&id).await;
    assert_eq!(category, "invalid_step");
    assert!(message.contains("\"past it\"") && message.contains("262144"), "{message}");
    assert_eq!(world.steps(&id).await, ["step at the limit"]);
}

pub(crate) async fn a_step_over_the_limit_is_not_run(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        for name in ["a", "b", "c"] {
            step(&ctx, name).await?;
        }
        Ok(())
    });
    let id = world.submit_with(|policy| policy.max_steps = Some(2)).await;
    let (category, message) = world.failure(&id).await;
    assert_eq!(category, "invalid_step");
    assert!(message.contains("\"c\"") && message.contains('2'), "{message}");
    assert_eq!(world.ledger.all(), ["a", "b"]);
    let id = world.submit_with(|policy| policy.max_steps = Some(3)).await;
    assert_eq!(world.end(&id).await.0.outcome, Outcome::Success);
}

/// The end of a wait is recorded while the handler continues, unless it is the last step within the limit.
pub(crate) async fn a_step_over_the_limit_after_a_wait_is_not_run(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        step(&ctx, "a").await?;
        ctx.sleep("nap", Duration::from_millis(1)).await?;
        step(&ctx, "b").await
    });
    let id = world.submit_with(|policy| policy.max_steps = Some(2)).await;
    assert_eq!(world.failure(&id).await.0, "invalid_step");
    assert_eq!(world.ledger.all(), ["a"]);
}

pub(crate) async fn a_name_that_is_none_is_refused(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        let ledger = ctx.state::<Ledger>()?;
        let long = "x".repeat(limits::NAME_BYTES + 1);
        for (name, key) in [("", ""), ("a\nb", ""), (long.as_str(), ""), ("(failed)", ""), ("a", "\u{7}")] {
            let error = ctx.step(name, || async { did(&ctx, "run") }).key(key).await.unwrap_err();
            assert!(error.permanent, "{name:?}: {error:?}");
            let field = if key.is_empty() { "name" } else { "key" };
            assert!(error.message.contains(field), "{name:?}: {}", error.message);
            ledger.note("refused");
        }
        Ok::<_, Fault>(())
    });
    let id = world.submit(0).await;
    assert_eq!(world.end(&id).await.0.outcome, Outcome::Success);
    assert_eq!(world.ledger.all(), ["refused"; 5]);
}
