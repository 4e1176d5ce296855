//! Guarantees for handlers that wait, on every store. The server's tests run the same scenarios over HTTP.

mod answers;
mod budgets;
mod waits;

use std::future::Future;
use std::time::Duration;

use ff_sdk::core::policy::{Backoff, Policy};
use ff_sdk::core::state::PublicState;
use ff_sdk::core::types::ExecutionId;
use ff_sdk::{Client, End, Fault, FlowFabric, Handler, Job, Waitpoint};
use tokio::sync::{mpsc, oneshot};

pub(crate) use answers::*;
pub(crate) use budgets::*;
pub(crate) use waits::*;

/// Defines one test per scenario. `$connect` returns its connection, and a guard that lives as long as the test.
macro_rules! all {
    ($connect:expr) => {
        scenarios::all! { $connect =>
            a_wait_returns_the_signal_that_ended_it
            consecutive_waits_are_distinguished_by_name
            the_same_name_again_is_the_next_wait
            two_waits_at_once_are_one_after_the_other
            a_signal_that_came_early_is_returned_at_once
            a_waitpoint_made_ahead_is_handed_out_once
            a_waitpoint_an_earlier_run_made_is_waited_on
            a_wait_that_times_out_is_an_error_the_handler_may_handle
            a_timeout_may_end_the_execution_instead
            an_approval_is_heard_with_its_comment
            a_rejection_is_never_taken_for_an_approval
            of_two_early_answers_the_first_counts
            an_operator_stands_for_a_signal_unless_he_rejects
            a_wait_for_several_returns_what_met_it
            a_retry_hears_what_was_said_before
            a_wait_that_cannot_be_announced_has_not_begun
            a_handler_that_drops_its_wait_is_dropped_all_the_same
            a_spawned_task_gets_an_error_when_the_run_suspends
            a_callback_is_believed_once_and_only_when_signed
            followers_receive_deliveries
            a_wait_set_up_wrongly_says_what_is_wrong
            a_report_over_a_budget_waits_for_approval_and_continues
            a_report_over_a_budget_that_is_rejected_fails_the_execution
            reports_before_a_wait_count_once
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

/// A worker with one handler, and a channel of the waitpoints that it announces.
struct World {
    ff: FlowFabric,
    waitpoints: mpsc::UnboundedReceiver<Waitpoint>,
    _stop: oneshot::Sender<()>,
}

/// The channel to which handlers send their waitpoints.
#[derive(Clone)]
struct WaitpointSender(mpsc::UnboundedSender<Waitpoint>);

impl WaitpointSender {
    /// Returns an announcement that sends the waitpoint to the test.
    fn to(&self) -> impl FnOnce(Waitpoint) -> std::future::Ready<Result<(), Fault>> + Send + 'static {
        let sender = self.0.clone();
        move |waitpoint| {
            sender.send(waitpoint).unwrap();
            std::future::ready(Ok(()))
        }
    }
}

impl World {
    fn start<A>(ff: FlowFabric, handler: impl Handler<A>) -> Self {
        let (tell, waitpoints) = mpsc::unbounded_channel();
        let (stop, stopped) = oneshot::channel();
        let worker = ff.worker("w").state(WaitpointSender(tell)).on("k", handler);
        tokio::spawn(worker.run_until(async move {
            let _ = stopped.await;
        }));
        Self { ff, waitpoints, _stop: stop }
    }

    fn client(&self) -> Client {
        self.ff.client()
    }

    async fn submit(&self) -> ExecutionId {
        let mut policy = Policy::default();
        policy.retry_policy.backoff = Backoff::Fixed { delay_ms: 1, jitter: false };
        self.client().submit(Job::new("k", &()).policy(policy)).await.unwrap().execution_id
    }

    /// Waits for the next waitpoint that a handler announces.
    async fn next_waitpoint(&mut self) -> Waitpoint {
        in_time(self.waitpoints.recv()).await.unwrap()
    }

    /// Waits until the execution is suspended. The handler announces its waitpoint before that.
    async fn waits(&self, id: &ExecutionId) {
        let waits = async {
            while self.client().get(id).await.unwrap().public_state != PublicState::Suspended {
                tokio::task::yield_now().await;
            }
        };
        in_time(waits).await;
    }

    async fn end(&self, id: &ExecutionId) -> End {
        in_time(self.client().wait(id)).await.unwrap()
    }
}

/// Awaits a future with a time limit, so that a test fails instead of hanging.
pub(crate) async fn in_time<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), what).await.expect("it did not happen within twenty seconds")
}
