//! Guarantees for flows and their handlers, on every store. The server's tests run the same scenarios over HTTP.

mod children;
mod graphs;
mod operator;

use std::future::Future;
use std::time::Duration;

use ff_sdk::core::policy::{Backoff, Policy};
use ff_sdk::{Flow, FlowEnd, FlowFabric, FlowHandle, Worker};
use tokio::sync::oneshot;

pub(crate) use children::*;
pub(crate) use graphs::*;
pub(crate) use operator::*;

/// Defines one test per scenario. `$connect` returns its connection, and a guard that lives as long as the test.
macro_rules! all {
    ($connect:expr) => {
        scenarios::all! { $connect =>
            a_diamond_runs_in_order_and_passes_its_results
            a_result_takes_the_place_of_the_payload_byte_for_byte
            inputs_too_large_to_come_along_are_read
            the_first_of_two_upstreams_suffices_and_the_other_is_cancelled
            a_failure_skips_what_can_no_longer_run
            an_input_that_is_not_there_says_which_are
            a_flow_in_a_file_runs
            the_same_flow_again_is_the_same_flow
            flow_events_are_read_in_order_until_the_end
            flows_are_found_by_what_they_are
            a_flow_held_open_grows_until_it_is_closed
            a_cancelled_flow_ends_and_starts_nothing
            a_node_runs_again_with_what_depends_on_it
            members_and_edges_are_shown
            a_handler_waits_for_its_children_and_hears_how_they_ended
            children_that_fail_are_for_the_handler_to_judge
            waits_for_children_and_signals_come_one_after_the_other
            more_children_than_one_call_takes_are_one_wait
            an_any_of_join_needs_only_the_first_child
            a_retry_adds_no_child_twice
            children_have_children
            a_handler_grows_its_flow_without_waiting
            a_handler_in_no_flow_has_no_children
            children_set_up_wrongly_say_what_is_wrong
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

/// A worker that runs until this is dropped.
struct World {
    ff: FlowFabric,
    _stop: oneshot::Sender<()>,
}

impl World {
    fn start(ff: FlowFabric, handlers: impl FnOnce(Worker) -> Worker) -> Self {
        let (stop, stopped) = oneshot::channel();
        let worker = handlers(ff.worker("w"));
        tokio::spawn(worker.run_until(async move {
            let _ = stopped.await;
        }));
        Self { ff, _stop: stop }
    }

    async fn submit(&self, flow: Flow) -> FlowHandle {
        self.ff.client().submit_flow(flow).await.unwrap()
    }

    /// Submits a flow and waits for its end.
    async fn run(&self, flow: Flow) -> (FlowHandle, FlowEnd) {
        let flow = self.submit(flow).await;
        let end = in_time(flow.wait()).await.unwrap();
        (flow, end)
    }
}

/// Returns the state of each node, sorted by name.
async fn states(flow: &FlowHandle) -> Vec<(String, &'static str)> {
    let members = flow.members().await.unwrap();
    let mut states: Vec<_> =
        members.into_iter().map(|member| (member.node.to_string(), member.public_state.as_str())).collect();
    states.sort();
    states
}

/// Returns a policy with this many retries, one millisecond apart.
fn retries(max_retries: u32) -> Policy {
    let mut policy = Policy::default();
    policy.retry_policy.max_retries = max_retries;
    policy.retry_policy.backoff = Backoff::Fixed { delay_ms: 1, jitter: false };
    policy
}

/// Awaits a future with a time limit, so that a test fails instead of hanging.
pub(crate) async fn in_time<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), what).await.expect("it did not happen within thirty seconds")
}
