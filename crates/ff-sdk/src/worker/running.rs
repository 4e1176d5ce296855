//! The main loop of a worker: it claims executions, runs their handlers, renews leases, reports ends and drains.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use ff_core::contracts::{ClaimedExecution, RenewArgs, Task};
use ff_core::engine_error::EngineError;
use ff_core::lease::Holder;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_util::task::AbortOnDropHandle;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use super::claiming::Claims;
use super::context::{Context, Work};
use super::handler::{SharedHandler, panicked};
use super::held_executions::{HeldExecution, HeldExecutions, listen};
use super::output::OutputBuffer;
use super::registration::Registration;
use super::setup::Setup;
use super::slots::{Slot, Slots};
use super::step::{DropCompensations, StepLog, settle};
use super::suspension::WaitLog;
use super::{Fault, Reply, report};

/// Number of times the loop yields to other tasks before it counts the free slots again.
const YIELDS: usize = 4;

/// Runs a worker until `stop` is ready or its API key is refused, and then lets its executions finish. Boxed, so that it
/// is compiled here, and not again in every program that has a worker.
#[inline(never)]
pub(super) fn run(setup: Setup, stop: BoxFuture<'_, ()>) -> BoxFuture<'_, Result<(), EngineError>> {
    Box::pin(work(setup, stop))
}

async fn work(setup: Setup, mut stop: BoxFuture<'_, ()>) -> Result<(), EngineError> {
    let setup = Arc::new(setup);
    let held = HeldExecutions::default();
    let listener = {
        let (setup, held) = (setup.clone(), held.clone());
        tokio::spawn(async move { listen(&setup, &held).await })
    };
    let registration = Registration::begin(&setup);
    let slots = Slots::new(setup.concurrency);
    let mut at_work = JoinSet::new();
    let mut claims = Claims::new(setup.clone());
    tracing::info!(worker = %setup.holder.worker_instance_id, lanes = ?setup.lanes, "working");
    let ended = loop {
        if !slots.has_unstarted() {
            claims.begin(slots.room(at_work.len()));
        }
        tokio::select! {
            () = &mut stop => break Ok(()),
            Some(_) = at_work.join_next() => while at_work.try_join_next().is_some() {},
            () = slots.freed() => let_handlers_end(&slots, at_work.len()).await,
            Some(claimed) = claims.answer() => {
                let claimed = match claimed {
                    Ok(claimed) => claimed,
                    Err(error) => break Err(error),
                };
                for claimed in claimed {
                    let span = span_of(&setup.holder, &claimed.task);
                    at_work.spawn(handle(setup.clone(), held.clone(), slots.take(), claimed).instrument(span));
                }
            }
        }
    };
    drain(&setup, &held, at_work).await;
    listener.abort();
    registration.end().await;
    ended
}

/// Lets other handlers that end at the same time finish, so that one claim asks for all the slots they free. Repeats as
/// long as the number of free slots grows. This does not delay a process that has nothing else to do.
async fn let_handlers_end(slots: &Slots, in_hand: usize) {
    let mut room = 0;
    while slots.room(in_hand) > room {
        room = slots.room(in_hand);
        for _ in 0..YIELDS {
            tokio::task::yield_now().await;
        }
    }
}

/// Lets running handlers finish. Handlers that exceed the drain time are asked to stop. Handlers that also exceed the
/// grace time are dropped, and their executions are left to other workers.
async fn drain(setup: &Setup, held: &HeldExecutions, mut at_work: JoinSet<()>) {
    tracing::info!(held = at_work.len(), "stopping: finishing running executions");
    let all_done = async { while at_work.join_next().await.is_some() {} };
    if timeout(setup.drain, all_done).await.is_err() {
        tracing::warn!("running executions take too long; cancelling them");
        held.cancel_all();
        let all_done = async { while at_work.join_next().await.is_some() {} };
        if timeout(setup.cancel_grace, all_done).await.is_err() {
            at_work.abort_all();
        }
    }
}

/// Runs one handler from claim to report.
async fn handle(setup: Arc<Setup>, held: HeldExecutions, slot: Slot, claimed: ClaimedExecution) {
    let ClaimedExecution { task, payload, signals, inputs, steps } = claimed;
    let Some(handler) = setup.handlers.get(&task.kind).cloned() else {
        tracing::error!(kind = %task.kind, execution = %task.execution_id, "claimed a kind without a handler");
        return;
    };
    tracing::debug!("at work");
    let hold = HeldExecution::new(task.fence);
    held.insert(task.execution_id, hold.clone());
    let output = OutputBuffer::new(setup.backend.clone(), &task, hold.clone());
    let context = Context::new(Work {
        task: task.clone(),
        payload,
        inputs,
        backend: setup.backend.clone(),
        states: setup.states.clone(),
        hold: hold.clone(),
        outages: setup.outages.clone(),
        long_poll: setup.long_poll.clone(),
        steps: StepLog::new(steps),
        waits: WaitLog::of(&task, signals),
        output: output.clone(),
        unnamed_reports: AtomicU64::default(),
    });
    let handling = slot.hold(async move {
        let _over = DropCompensations(&context);
        context.steps().load(&context).await?;
        let end = output.finish(run_handler(&handler, &context).await).await;
        let end = context.waits().recorded().await.and(end);
        settle(&context, end).await
    });
    let mut handling = AbortOnDropHandle::new(tokio::spawn(handling.in_current_span()));
    let end = keep_lease(&setup, &task, &hold, &mut handling).await;
    if let Some(end) = end {
        report::report(&setup, &task, end).await;
    }
    held.remove(&task.execution_id, &task.fence);
}

/// Runs a handler to its end. If the execution has failed and is being undone, the handler is dropped before it begins
/// a new step or wait, and its end is the failure.
async fn run_handler(handler: &SharedHandler, context: &Context) -> Result<Reply, Fault> {
    let running = AssertUnwindSafe(async { handler(context.clone()).await }).catch_unwind();
    tokio::select! {
        end = running => end.unwrap_or_else(|panic| Err(panicked(&*panic))),
        () = context.steps().stopped() => Err(Fault::permanent("failed", "the execution has failed and is being undone")),
    }
}

/// Renews the lease while the handler runs, and returns the handler's end; `None` when the lease was lost, or was given
/// up for a wait.
async fn keep_lease(
    setup: &Setup,
    task: &Task,
    hold: &HeldExecution,
    handling: &mut AbortOnDropHandle<Result<Reply, Fault>>,
) -> Option<Result<Reply, Fault>> {
    let ttl = Duration::from_millis(task.lease_ttl_ms);
    let mut expires = Instant::now() + ttl;
    let mut renewals = interval_at(Instant::now() + ttl / 3, ttl / 3);
    renewals.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            // A result after the handler has given up its lease does not count.
            () = hold.suspended.cancelled() => {
                leave_waiting(setup, task, hold, handling).await;
                return None;
            }
            // After the lease is lost there is no end to report, even if the handler stops by itself.
            () = hold.lost.cancelled() => break,
            finished = &mut *handling => return Some(finished.unwrap_or_else(|error| Err(join_fault(error)))),
            () = hold.renew_now.notified() => {}
            _ = renewals.tick() => {}
        }
        let _alone = hold.lease.lock().await;
        if hold.suspended.is_cancelled() {
            continue;
        }
        let start = Instant::now();
        match renew(setup, task).await {
            Ok(()) => expires = start + ttl,
            Err(EngineError::Refused(refusal)) => {
                tracing::warn!(execution = %task.execution_id, %refusal, "the lease is lost");
                break;
            }
            Err(error) if Instant::now() >= expires => {
                tracing::warn!(execution = %task.execution_id, %error, "could not renew the lease in time; another worker may claim the execution");
                break;
            }
            Err(error) => {
                setup.outages.log_failure("renew", &error);
                renewals.reset_after((ttl / 30).max(Duration::from_millis(50)));
            }
        }
    }
    hold.lost.cancel();
    if timeout(setup.cancel_grace, &mut *handling).await.is_err() {
        tracing::warn!(execution = %task.execution_id, "the handler did not stop; dropping it");
        handling.abort();
    }
    hold.dropped.cancel();
    None
}

/// Drops a handler whose execution waits. When the wait is over, the handler is called again from its start.
async fn leave_waiting(
    setup: &Setup,
    task: &Task,
    hold: &HeldExecution,
    handling: &mut AbortOnDropHandle<Result<Reply, Fault>>,
) {
    handling.abort();
    if timeout(setup.cancel_grace, &mut *handling).await.is_err() {
        tracing::warn!(execution = %task.execution_id, "the handler continues although its execution waits");
    }
    hold.dropped.cancel();
}

async fn renew(setup: &Setup, task: &Task) -> Result<(), EngineError> {
    let args = RenewArgs { execution_id: task.execution_id, fence: task.fence, lease_ttl_ms: None };
    let renewing = setup.backend.renew(args);
    match timeout(Duration::from_millis(task.lease_ttl_ms / 3), renewing).await {
        Ok(answer) => answer.map(|_| ()),
        Err(_) => Err(EngineError::Unknown("the renewal was not answered in time".into())),
    }
}

/// Converts the error of a task that was aborted, or that panicked outside of its handler, to a fault.
fn join_fault(error: JoinError) -> Fault {
    match error.try_into_panic() {
        Ok(panic) => panicked(&*panic),
        Err(error) => Fault::retryable("panic", error.to_string()),
    }
}

/// Creates the span of one run, at level error: warnings must name the execution even if only warnings are logged.
fn span_of(holder: &Holder, task: &Task) -> Span {
    let span = tracing::error_span!(
        "work",
        execution = %task.execution_id,
        lane = %task.lane_id,
        kind = %task.kind,
        attempt = %task.attempt_index,
        worker = %holder.worker_instance_id,
        trace_id = Empty,
    );
    if let Some(trace) = &task.trace {
        span.record("trace_id", trace.trace_id());
    }
    span
}
