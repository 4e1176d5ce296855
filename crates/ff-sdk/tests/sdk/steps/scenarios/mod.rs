//! Guarantees for handlers with steps, on every store. The server's tests run the same scenarios over HTTP.

mod again;
mod calls;
mod running;
mod sleeping;
mod undoing;

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ff_sdk::core::policy::{Backoff, Policy};
use ff_sdk::core::step::StepOutcome;
use ff_sdk::core::types::ExecutionId;
use ff_sdk::{Client, Context, End, Fault, FlowFabric, Handler, Job, Worker};
use tokio::sync::oneshot;

pub(crate) use again::*;
pub(crate) use calls::*;
pub(crate) use running::*;
pub(crate) use sleeping::*;
pub(crate) use undoing::*;

/// Defines one test per scenario. `$connect` returns its connection, and a guard that lives as long as the test.
macro_rules! all {
    ($connect:expr) => {
        scenarios::all! { $connect =>
            a_recorded_step_is_not_run_again
            steps_in_a_loop_are_distinguished_by_key
            the_same_step_twice_in_a_run_is_a_fault
            a_step_is_retried_within_its_run
            a_step_whose_retries_are_used_up_has_failed_for_good
            an_error_without_retries_is_left_to_the_execution
            a_permanent_fault_of_a_step_is_recorded
            a_panic_in_a_step_is_an_error_of_the_step
            the_order_of_steps_may_change
            a_result_that_no_longer_reads_names_its_step
            a_step_whose_recording_is_refused_stops_the_handler
            steps_that_did_not_come_with_the_claim_are_read
            a_result_is_taken_at_its_limit_and_refused_past_it
            a_step_over_the_limit_is_not_run
            a_step_over_the_limit_after_a_wait_is_not_run
            a_name_that_is_none_is_refused
            a_sleep_is_a_step
            an_operator_may_end_a_sleep
            more_than_a_hundred_waits_are_remembered
            a_wait_not_repeated_by_a_later_run_is_kept
            a_wait_begun_by_an_older_sdk_is_recorded_as_a_step
            a_step_may_tell_of_a_waitpoint
            a_call_returns_the_result_of_another_execution
            a_call_occupies_no_worker
            a_callee_that_was_only_chosen_is_submitted
            a_callee_that_fails_is_a_permanent_fault
            a_large_result_of_a_callee_is_read_from_it
            a_job_with_a_key_of_its_own_is_not_called
            completed_steps_are_undone_in_reverse_order
            nothing_is_undone_while_the_execution_is_retried
            a_compensation_that_fails_keeps_no_other_from_running
            a_compensation_is_tried_again
            undoing_continues_in_the_next_run
            a_panic_of_the_handler_is_undone
            a_run_that_is_over_keeps_no_compensation
            a_replay_of_a_success_does_everything_again
            a_replay_of_a_failure_repeats_nothing_that_succeeded
            a_replay_asks_again_when_nothing_was_heard
            a_replay_begins_at_a_step
            a_fork_begins_with_the_steps_before_one
        }
    };
    ($connect:expr => $($name:ident)*) => {$(
        #[tokio::test]
        async fn $name() {
            let (ff, _guard) = $connect;
            scenarios::$name(ff).await;
        }
    )*};
}
pub(crate) use all;

/// The actions of handlers, in order. Handlers get the ledger from the worker's state.
#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<Vec<String>>>);

impl Ledger {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Adds an action to the ledger, and returns its name in capitals.
fn did(ctx: &Context, what: &str) -> Result<String, Fault> {
    ctx.state::<Ledger>()?.note(what);
    Ok(what.to_uppercase())
}

/// Runs a step that adds its name to the ledger and returns it in capitals.
async fn step(ctx: &Context, name: &str) -> Result<String, Fault> {
    ctx.step(name, || async { did(ctx, name) }).await
}

/// Returns a retryable error.
fn later<T>() -> Result<T, Fault> {
    Err(Fault::retryable("later", "not yet"))
}

/// A worker with one handler, which runs until this is dropped.
struct World {
    ff: FlowFabric,
    ledger: Ledger,
    _stop: oneshot::Sender<()>,
}

impl World {
    fn start<A>(ff: FlowFabric, handler: impl Handler<A>) -> Self {
        let worker = ff.worker("w").on("k", handler);
        Self::with(ff, worker)
    }

    fn with(ff: FlowFabric, worker: Worker) -> Self {
        let (ledger, (stop, stopped)) = (Ledger::default(), oneshot::channel());
        tokio::spawn(worker.state(ledger.clone()).state(ff.client()).run_until(async move {
            let _ = stopped.await;
        }));
        Self { ff, ledger, _stop: stop }
    }

    fn client(&self) -> Client {
        self.ff.client()
    }

    /// Submits an execution with this many retries, without a delay between them.
    async fn submit(&self, retries: u32) -> ExecutionId {
        self.submit_with(|policy| policy.retry_policy.max_retries = retries).await
    }

    async fn submit_with(&self, change: impl FnOnce(&mut Policy)) -> ExecutionId {
        let mut policy = Policy::default();
        policy.retry_policy.backoff = Backoff::Fixed { delay_ms: 0, jitter: false };
        change(&mut policy);
        self.client().submit(Job::new("k", &()).policy(policy)).await.unwrap().execution_id
    }

    async fn end(&self, id: &ExecutionId) -> End {
        in_time(self.client().wait(id)).await.unwrap()
    }

    /// Returns the category and the message of an execution's failure.
    async fn failure(&self, id: &ExecutionId) -> (String, String) {
        let failure = self.end(id).await.0.failure.expect("it did not fail");
        (failure.category.to_string(), failure.message)
    }

    /// Returns the recorded steps in short form: kind, name, key and, for a failed step, the category of the failure.
    async fn steps(&self, id: &ExecutionId) -> Vec<String> {
        let describe = |step: ff_sdk::core::step::Step| {
            let key = if step.step.key.is_empty() { String::new() } else { format!(" [{}]", step.step.key) };
            let failed = match step.outcome {
                StepOutcome::Succeeded { .. } => String::new(),
                StepOutcome::Failed { failure } => format!(" failed: {}", failure.category),
            };
            format!("{} {}{key}{failed}", step.step.kind, step.step.name)
        };
        self.client().steps(id).await.unwrap().into_iter().map(describe).collect()
    }
}

/// Awaits a future with a time limit, so that a test fails instead of hanging.
async fn in_time<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), what).await.expect("it did not happen within thirty seconds")
}
