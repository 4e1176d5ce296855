//! Random operations on a store and on the model: the answers, the contents and the indexes are the same.
//!
//! `FF_STORE_STEPS` sets the number of transitions per store with the full mix, `FF_RANDOM_SEED` the first seed.

use std::sync::Arc;

use ff_core::backend::entropy::{Entropy, Nonce, SystemEntropy};
use ff_random_ops::{Adjustment, Coverage, Mix, Options, Setup, SubjectFactory, SubjectFuture, run};
use ff_testing::number;
use ff_testing::random_ops::{
    http_over_memory, memory, postgres, postgres_without_cache, redis, shared_postgres, sqlite, valkey,
};
use futures_util::stream::{self, StreamExt as _};

/// Transitions of one run: enough for executions to be retried, reclaimed and replayed, few enough to be shortened
/// quickly.
const RUN: usize = 600;

/// Number of concurrent runs. One run makes calls while another waits for its server.
const AT_ONCE: usize = 2;

#[tokio::test]
async fn sqlite_does_what_the_model_does() {
    compare(sqlite, Mix::ALL, runs(9_000), RUN, EVERYTHING).await;
}

#[tokio::test]
async fn postgres_does_what_the_model_does() {
    let _server = shared_postgres();
    compare(postgres, Mix::ALL, runs(9_000), RUN, EVERYTHING).await;
}

#[tokio::test]
async fn postgres_without_its_record_cache_does_what_the_model_does() {
    let _server = shared_postgres();
    compare(postgres_without_cache, Mix::ALL, runs(1_800), RUN, &[]).await;
}

#[tokio::test]
async fn valkey_does_what_the_model_does() {
    compare(valkey, Mix::ALL, runs(9_000), RUN, EVERYTHING).await;
}

#[tokio::test]
async fn valkey_suspends_and_signals_as_the_model_does() {
    compare(valkey, Mix::SUSPENSIONS, 16, 400, &[SUSPENSIONS]).await;
}

#[tokio::test]
async fn valkey_runs_flows_as_the_model_does() {
    compare(valkey, Mix::FLOWS, 10, 200, &[FLOWS]).await;
}

#[tokio::test]
async fn quotas_of_each_store_do_what_those_of_the_model_do() {
    let _server = shared_postgres();
    for make in [memory, sqlite, postgres, valkey] {
        compare(make, Mix::QUOTAS, 12, 700, &[QUOTAS]).await;
    }
}

#[tokio::test]
async fn turns_of_each_store_are_those_of_the_model() {
    let _server = shared_postgres();
    for make in [memory, sqlite, postgres, valkey] {
        compare(make, Mix::FAIR, 8, 400, &["configure_lane_home, taken, several claimed, taken in turn"]).await;
    }
}

/// Redis runs the same functions as Valkey, so few runs are enough.
#[tokio::test]
async fn redis_does_what_the_model_does() {
    compare(redis, Mix::ALL, runs(1_200), RUN, &[]).await;
}

#[tokio::test]
async fn memory_does_what_the_model_does() {
    compare(memory, Mix::ALL, runs(9_000), RUN, EVERYTHING).await;
    compare(memory, Mix::SUSPENSIONS, 16, 400, &[SUSPENSIONS]).await;
    compare(memory, Mix::FLOWS, 10, 200, &[FLOWS]).await;
}

/// A server recounts a lane with a limit whenever a lease ends, so this comparison configures no lanes.
#[tokio::test]
async fn a_store_over_http_does_what_the_model_does() {
    let mix = Mix { lanes: false, ..Mix::ALL };
    compare(http_over_memory, mix, runs(9_000), RUN, &[EXECUTIONS, SUSPENSIONS, FLOWS]).await;
}

/// Checks that the comparison can fail, and that its output is short.
#[tokio::test]
async fn a_store_that_differs_is_shown_by_a_short_script() {
    let setup = Setup { make: Some(with_entropy_of_its_own), mix: Mix::ALL, to_the_end: false };
    let panic = tokio::spawn(run(setup, 1, RUN)).await.unwrap_err().into_panic();
    let message = panic.downcast_ref::<String>().unwrap();
    assert!(message.contains("seed 1"), "{message}");
    let script: Vec<_> = message.lines().filter(|line| line.starts_with("    ")).collect();
    assert!(script.len() <= 3, "{message}");
    assert!(script[0].contains("Submit") && script[script.len() - 1].contains("Claim"), "{message}");
}

/// Returns the number of full-mix runs for this many transitions, or for the number that is set in the environment.
fn runs(transitions: usize) -> usize {
    number("FF_STORE_STEPS", transitions).div_ceil(RUN)
}

/// Performs random runs and compares the store with the model throughout. Every named event must have occurred.
async fn compare(make: SubjectFactory, mix: Mix, runs: usize, transitions: usize, events: &[&str]) {
    let (setup, first) = (Setup { make: Some(make), mix, to_the_end: false }, number("FF_RANDOM_SEED", 1));
    let mut coverage = Coverage::default();
    let all = (first..first + runs).map(|seed| run(setup, seed as u64, transitions));
    let mut side_by_side = stream::iter(all).buffer_unordered(AT_ONCE);
    while let Some(covered) = side_by_side.next().await {
        coverage.add(&covered);
    }
    println!("{runs} runs of {transitions} transitions\n{coverage}");
    // All domains share the transitions, so the rarest events occur in few runs.
    let at_least = (runs / 8).max(1);
    coverage.assert_at_least(events.iter().flat_map(|names| names.split(", ")).map(|name| (name, at_least)));
    coverage.assert_at_least(Adjustment::each_at_least(at_least).filter(|_| mix.operators > 0));
}

/// Creates a store that hands out other leases than the model.
fn with_entropy_of_its_own(options: Options) -> SubjectFuture {
    memory(Options { entropy: Arc::new(OtherNonces(options.entropy)), ..options })
}

/// Entropy with the secret of the run, but different nonces.
struct OtherNonces(Arc<dyn Entropy>);

impl Entropy for OtherNonces {
    fn nonce(&self) -> Nonce {
        SystemEntropy.nonce()
    }

    fn secret(&self) -> [u8; 32] {
        self.0.secret()
    }
}

/// Events that runs of the full mix must contain.
const EVERYTHING: &[&str] = &[EXECUTIONS, SUSPENSIONS, RARE_SUSPENSIONS, FLOWS, RARE_FLOWS, OPERATORS];

/// Required events of executions and leases.
const EXECUTIONS: &str = "submit, submitted duplicate, taken, several claimed, claimed for a first try, claimed for a retry, \
    claimed after a lost lease, claimed for a replay, claimed again after a wait, renew, progress, complete, \
    record_step, step recorded before, claimed with steps, forked with steps, \
    failed for good, failed with a retry, delay, cancel, cancelled already, replay, revoke, revoked already, pump_partition, \
    reopened the store, ended by its holder, ended by cancel, ended by deadline, ended by timeouts, ended by reclaims, \
    execution_not_found, execution_not_active, execution_not_terminal, max_replays_exhausted, idempotency_conflict, \
    invalid_execution_id, invalid_policy_json, stale_lease, lease_expired, lease_revoked, no_active_lease, invalid_input, \
    limit_exceeded, payload_too_large";

/// Required events of suspensions, signals and secrets, also in shorter comparisons.
const SUSPENSIONS: &str = "suspended, already satisfied, create_waitpoint, close_waitpoint, resume, rotated, replay, \
    resumed by signals, resumed by operator, resumed by timeout, appended_to_waitpoint, resume_condition_satisfied, \
    buffered_for_pending_waitpoint, appended_to_waitpoint_duplicate, signal_ignored_not_in_condition, \
    signal_ignored_matcher_failed, duplicate, execution_not_active, stale_lease, lease_expired, lease_revoked, \
    execution_not_suspended, waitpoint_not_found, waitpoint_not_pending, waitpoint_already_exists, waitpoint_closed, \
    pending_waitpoint_expired, invalid_waitpoint_key, target_not_signalable, missing_token, invalid_token, token_expired, \
    invalid_input, limit_exceeded";

/// Further events of suspensions, required only with the full mix.
const RARE_SUSPENSIONS: &str = "waitpoint closed already, resumed already, rotated noop, claimed with several signals, \
    claimed with bytes of signals, escalated by a timeout, failed by a timeout of its wait, cancelled by a timeout of its wait, \
    expired by a timeout of its wait, rotation_conflict, invalid_grace_ms";

/// Required events of flows, also in shorter comparisons.
const FLOWS: &str = "flow submitted, create_flow, grow_flow, close_flow, cancel_flow, set_flow_tags, waits for children, \
    children have succeeded, cascade, replay, cancel_all, cancel_pending, let_active_finish, flow_only, flow_not_found, \
    flow_already_terminal, idempotency_conflict, stale_graph_revision, self_referencing_edge, cycle_detected, \
    dependency_already_exists, execution_already_in_flow, not_runnable, deps_not_satisfied, invalid_dependency, \
    execution_not_terminal";

/// Further events of flows, required only with the full mix.
const RARE_FLOWS: &str = "flow submitted duplicate, flow created duplicate, flow grown before, flow closed with members left, \
    flow closed already, edge settled as satisfied, edge settled as failed, edge settled as skipped, flow cancelled already, \
    children have failed, claimed with inputs, went on after its children, a cascade was left, ended by its upstreams, \
    ended by its flow, ended by a join, join met, join impossible, all_of, any_of, quorum, a later round, payload replaced, \
    flow left open, flow left running, flow completed, flow failed, flow left cancelled, flow reopened, \
    execution_not_in_flow";

/// Required events of quotas.
const QUOTAS: &str = "put_quota_home, define_quota, copy_quotas, admission listed, admitted, refused for a slot, \
    refused until a moment, reserved for another claim, asked about another definition, taken as admitted, \
    taken nothing as admitted, slots given back, a waiter woken, invalid_quota_spec";

/// Required events of operators, worker processes and readers of events.
const OPERATORS: &str = "configure_lane_home, register_worker, heartbeat, leave, sweep_worker, \
    follow, event read, taken with a grant, granted nothing, forgotten, not_found, execution_not_eligible";
