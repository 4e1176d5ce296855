//! The guarantees of a worker for its handlers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ff_sdk::core::execution::Outcome;
use ff_sdk::core::policy::{Backoff, Policy};
use ff_sdk::core::types::ExecutionId;
use ff_sdk::{Context, Fault, FlowFabric, Job, Reply};
use tokio::sync::{Notify, Semaphore};

use crate::fixture::{fabric, in_time, start, submit};

/// A place in a handler: the test waits until the handler has reached it, and lets it go on.
#[derive(Default)]
struct Gate {
    reached: Notify,
    opened: Notify,
}

/// A handler that waits at the gate of its test.
async fn slow(ctx: Context) -> Result<&'static str, Fault> {
    let gate = ctx.state::<Arc<Gate>>()?;
    gate.reached.notify_one();
    gate.opened.notified().await;
    Ok("done")
}

/// Lets this much real time pass, and checks that the execution does not end during that time.
async fn let_pass(ff: &FlowFabric, id: &ExecutionId, ms: u64) {
    assert_eq!(ff.long_poll().ended(id, ms).await.unwrap(), None, "it ended too early");
}

#[tokio::test]
async fn a_typed_handler_gets_its_payload_and_gives_its_result() {
    let ff = fabric().await;
    let worker = ff.worker("w").on("double", |_: Context, n: u64| async move { Ok::<_, Fault>(n * 2) });
    let (_stop, _running) = start(worker);
    let id = submit(&ff, Job::new("double", &21)).await;
    let end = in_time(ff.client().wait(&id)).await.unwrap();
    assert_eq!(end.json::<u64>().unwrap(), 42);
}

#[tokio::test]
async fn a_payload_that_cannot_be_read_fails_for_good() {
    let ff = fabric().await;
    let worker = ff.worker("w").on("double", |_: Context, n: u64| async move { Ok::<_, Fault>(n) });
    let (_stop, _running) = start(worker);
    let id = submit(&ff, Job::new("double", &"not a number")).await;
    let end = in_time(ff.client().wait(&id)).await.unwrap();
    assert_eq!(end.0.outcome, Outcome::Failed);
    assert_eq!(end.0.failure.unwrap().category.as_str(), "invalid_payload");
    assert_eq!(ff.client().get(&id).await.unwrap().retries, 0);
}

#[tokio::test]
async fn a_panic_fails_the_execution_and_the_worker_continues() {
    let ff = fabric().await;
    let worker = ff
        .worker("w")
        .on("explode", |ctx: Context| async move {
            assert!(ctx.is_cancelled(), "a wire was cut");
            Ok::<_, Fault>(Reply::done())
        })
        .on("work", |_: Context| async { Ok::<_, Fault>(Reply::done()) });
    let (_stop, _running) = start(worker);
    let mut policy = Policy::default();
    policy.retry_policy.max_retries = 0;
    let bad = submit(&ff, Job::new("explode", &()).policy(policy)).await;
    let end = in_time(ff.client().wait(&bad)).await.unwrap();
    let failure = end.0.failure.unwrap();
    assert_eq!((failure.category.as_str(), failure.message.as_str()), ("panic", "a wire was cut"));
    let good = submit(&ff, Job::new("work", &())).await;
    assert_eq!(in_time(ff.client().wait(&good)).await.unwrap().0.outcome, Outcome::Success);
}

#[tokio::test]
async fn kinds_without_a_handler_are_left_to_others() {
    let ff = fabric().await;
    let (_stop, _running) = start(ff.worker("a").on("known", |_: Context| async { Ok::<_, Fault>(1) }));
    let foreign = submit(&ff, Job::new("foreign", &())).await;
    let known = submit(&ff, Job::new("known", &())).await;
    in_time(ff.client().wait(&known)).await.unwrap();
    assert_eq!(ff.client().get(&foreign).await.unwrap().attempts_made, 0);
    let (_stop, _running) = start(ff.worker("b").on("foreign", |_: Context| async { Ok::<_, Fault>(2) }));
    assert_eq!(in_time(ff.client().wait(&foreign)).await.unwrap().json::<u8>().unwrap(), 2);
}

#[tokio::test]
async fn a_worker_runs_no_more_handlers_than_its_concurrency() {
    struct Count {
        now: AtomicUsize,
        most: AtomicUsize,
    }
    let ff = fabric().await;
    let worker = ff
        .worker("w")
        .concurrency(3)
        .state(Count { now: AtomicUsize::new(0), most: AtomicUsize::new(0) })
        .state(Semaphore::new(0))
        .on("count", |ctx: Context| async move {
            let count = ctx.state::<Count>()?;
            let now = count.now.fetch_add(1, Ordering::SeqCst) + 1;
            count.most.fetch_max(now, Ordering::SeqCst);
            tokio::task::yield_now().await;
            count.now.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, Fault>(count.most.load(Ordering::SeqCst))
        });
    let (_stop, _running) = start(worker);
    let jobs = (0..60).map(|n| Job::new("count", &n));
    let submitted = ff.client().submit_many(jobs).await.unwrap();
    let mut most = 0;
    for submitted in submitted {
        let end = in_time(ff.client().wait(&submitted.unwrap().execution_id)).await.unwrap();
        most = most.max(end.json::<usize>().unwrap());
    }
    assert!((1..=3).contains(&most), "{most} at once");
}

#[tokio::test]
async fn a_cancellation_reaches_the_handler_at_once() {
    let ff = fabric().await;
    let told = Arc::new(Gate::default());
    let worker = ff.worker("w").state(told.clone()).on("wait", |ctx: Context| async move {
        let told = ctx.state::<Arc<Gate>>()?;
        told.reached.notify_one();
        ctx.cancelled().await;
        told.opened.notify_one();
        Ok::<_, Fault>("this no longer counts")
    });
    let (_stop, _running) = start(worker);
    let id = submit(&ff, Job::new("wait", &())).await;
    in_time(told.reached.notified()).await;
    ff.client().cancel(&id, None).await.unwrap();
    in_time(told.opened.notified()).await;
    let end = ff.client().result(&id).await.unwrap();
    assert_eq!((end.0.outcome, end.0.result), (Outcome::Cancelled, None));
}

#[tokio::test]
async fn a_lease_is_kept_alive_past_its_ttl() {
    let ff = fabric().await;
    let gate = Arc::new(Gate::default());
    let worker = ff.worker("w").lease_ttl(Duration::from_secs(1)).state(gate.clone()).on("slow", slow);
    let (_stop, _running) = start(worker);
    let id = submit(&ff, Job::new("slow", &())).await;
    in_time(gate.reached.notified()).await;
    let_pass(&ff, &id, 1_800).await;
    gate.opened.notify_one();
    in_time(ff.client().wait(&id)).await.unwrap();
    let info = ff.client().get(&id).await.unwrap();
    assert_eq!((info.attempts_made, info.reclaims), (1, 0));
}

#[tokio::test]
async fn a_stopping_worker_finishes_what_it_holds() {
    let ff = fabric().await;
    let gate = Arc::new(Gate::default());
    let (stop, running) = start(ff.worker("w").state(gate.clone()).on("slow", slow));
    let held = submit(&ff, Job::new("slow", &())).await;
    in_time(gate.reached.notified()).await;
    stop.send(()).unwrap();
    let later = submit(&ff, Job::new("slow", &())).await;
    gate.opened.notify_one();
    in_time(running).await.unwrap().unwrap();
    assert_eq!(ff.client().result(&held).await.unwrap().json::<String>().unwrap(), "done");
    assert_eq!(ff.client().get(&later).await.unwrap().attempts_made, 0);
}

#[tokio::test]
async fn delayed_work_continues_in_the_same_attempt() {
    let ff = fabric().await;
    let worker = ff.worker("w").on("nap", |ctx: Context| async move {
        let reply = if ctx.task().resumed { Reply::done() } else { Reply::Later(Duration::from_millis(20)) };
        Ok::<_, Fault>(reply)
    });
    let (_stop, _running) = start(worker);
    let id = submit(&ff, Job::new("nap", &())).await;
    in_time(ff.client().wait(&id)).await.unwrap();
    let attempts = ff.client().attempts(&id).await.unwrap();
    assert_eq!((attempts.attempts.len(), attempts.leases.len()), (1, 1));
}

#[tokio::test]
async fn an_error_is_retried_and_a_permanent_fault_is_not() {
    let ff = fabric().await;
    let worker = ff
        .worker("w")
        .on("parse", |ctx: Context| async move {
            if ctx.task().attempt_index.0 == 0 {
                "x".parse::<u8>()?;
            }
            Ok(Reply::done())
        })
        .on("refuse", |_: Context| async { Err::<Reply, _>(Fault::permanent("policy", "never")) });
    let (_stop, _running) = start(worker);
    let mut policy = Policy::default();
    policy.retry_policy.backoff = Backoff::Fixed { delay_ms: 1, jitter: false };
    let retried = submit(&ff, Job::new("parse", &()).policy(policy)).await;
    assert_eq!(in_time(ff.client().wait(&retried)).await.unwrap().0.outcome, Outcome::Success);
    assert_eq!(ff.client().get(&retried).await.unwrap().retries, 1);
    let refused = submit(&ff, Job::new("refuse", &())).await;
    assert_eq!(in_time(ff.client().wait(&refused)).await.unwrap().0.outcome, Outcome::Failed);
    assert_eq!(ff.client().get(&refused).await.unwrap().retries, 0);
}

#[tokio::test]
async fn progress_is_seen_while_the_work_runs() {
    let ff = fabric().await;
    let gate = Arc::new(Gate::default());
    let worker = ff.worker("w").state(gate.clone()).on("read", |ctx: Context| async move {
        ctx.progress(Some(40), Some("reading")).await?;
        slow(ctx).await
    });
    let (_stop, _running) = start(worker);
    let id = submit(&ff, Job::new("read", &())).await;
    in_time(gate.reached.notified()).await;
    let progress = ff.client().get(&id).await.unwrap().progress.unwrap();
    assert_eq!((progress.percent, progress.message.as_deref()), (Some(40), Some("reading")));
    gate.opened.notify_one();
    in_time(ff.client().wait(&id)).await.unwrap();
}

#[tokio::test]
async fn a_worker_set_up_wrongly_says_what_is_wrong() {
    let ff = fabric().await;
    let handler = |_: Context| async { Ok::<_, Fault>(Reply::done()) };
    for (worker, field) in [
        (ff.worker("w"), "handlers"),
        (ff.worker("no spaces").on("a", handler), "worker"),
        (ff.worker("w").on("no spaces", handler), "kind"),
        (ff.worker("w").on("a", handler).lane("no spaces"), "lane"),
        (ff.worker("w").on("a", handler).concurrency(0), "concurrency"),
        (ff.worker("w").on("a", handler).lease_ttl(Duration::from_millis(999)), "lease_ttl_ms"),
    ] {
        let error = worker.run_until(std::future::pending()).await.unwrap_err().to_string();
        assert!(error.contains(field), "{error} does not name {field}");
    }
}
