//! Random operations on the model alone. The laws hold after each operation, and every run that continues until nothing
//! is left to do terminates.
//!
//! `FF_MODEL_STEPS` sets the number of transitions of each test, `FF_RANDOM_SEED` the first seed.

use ff_random_ops::laws::{ADMISSION_MOVES, EXECUTION_MOVES, KEY_MOVES, SUSPENSION_MOVES, adjustment_moves};
use ff_random_ops::{Adjustment, Coverage, Mix, Setup, number, runs};

/// Default number of transitions of all runs together, enough for all events below to occur.
const TRANSITIONS: usize = 36_000;
/// Number of transitions of one run.
const RUN: usize = 100;

#[test]
fn the_laws_hold_for_executions() {
    let coverage = take(Mix::EXECUTIONS, TRANSITIONS, RUN, false);
    let moves = EXECUTION_MOVES.iter().chain(ADMISSION_MOVES).chain(KEY_MOVES).map(|name| (*name, 1));
    let least = EXECUTIONS.iter().copied().chain(Adjustment::each_at_least(100));
    coverage.assert_at_least(least.chain(moves).chain(once(EXECUTIONS_ONCE)));
    coverage.assert_at_least(adjustment_moves().iter().map(|name| (name.as_str(), 1)));
}

#[test]
fn the_laws_hold_for_suspensions() {
    let coverage = take(Mix::SUSPENSIONS, TRANSITIONS, RUN, false);
    let moves = SUSPENSION_MOVES.iter().map(|name| (*name, 1));
    coverage.assert_at_least(SUSPENSIONS.iter().copied().chain(moves).chain(once(SUSPENSIONS_ONCE)));
}

#[test]
fn the_laws_hold_for_flows_and_every_flow_ends() {
    let coverage = take(Mix::FLOWS, 14_000, RUN, true);
    coverage.assert_at_least(FLOWS.iter().copied().chain(once(FLOWS_ONCE)));
}

#[test]
fn a_limit_holds_whatever_is_lost_late_or_repeated() {
    take(Mix::LANES, TRANSITIONS, RUN, true).assert_at_least(LANES.iter().copied());
}

#[test]
fn the_laws_hold_for_fair_lanes() {
    take(Mix::FAIR, 12_000, RUN, true).assert_at_least([("taken in turn", 300), ("configure_lane_home", 50)]);
}

#[test]
fn the_laws_hold_for_everything_at_once() {
    take(Mix::GROUPS, 5_000, RUN, true);
}

/// Events that the runs must contain, each with its minimum count.
const EXECUTIONS: &[(&str, usize)] = &[
    ("lease steal", 20),
    ("stale_lease", 200),
    ("lease_expired", 200),
    ("lease_revoked", 30),
    ("execution_not_active", 200),
    ("execution_not_found", 30),
    ("execution_not_terminal", 100),
    ("execution_not_eligible", 20),
    ("no_active_lease", 100),
    ("max_replays_exhausted", 30),
    ("idempotency_conflict", 50),
    ("invalid_execution_id", 30),
    ("invalid_policy_json", 30),
    ("invalid_input", 30),
    ("limit_exceeded", 100),
    ("submitted duplicate", 200),
    ("append_frames", 40),
    ("invalid_offset", 2),
    ("invalid_frame_type", 2),
    ("record_step", 200),
    ("step recorded before", 20),
    ("claimed with steps", 20),
    ("replayed from a step", 2),
    ("forked with steps", 10),
    ("forked before", 10),
    ("replay", 50),
    ("forgotten", 50),
    ("follow", 50),
    ("waiting -claim retry-> running", 10),
    ("waiting -claim reclaim-> running", 20),
    ("waiting -claim resumed-> running", 10),
    ("running -fail-> waiting", 2),
    ("running -reclaim cap-> failed", 10),
    ("running -timed out-> delayed", 5),
    ("running -timed out-> failed", 5),
    ("running -timed out-> waiting", 2),
    ("waiting -deadline-> expired", 30),
    ("running -deadline-> expired", 10),
];

/// Events that must occur at least once.
const EXECUTIONS_ONCE: &str = "submit, taken, taken nothing, renew, progress, complete, failed for good, failed with a retry, \
    delay, cancel, cancelled already, revoke, revoked already, pump_partition, pumped nothing";

/// Minimum counts for suspensions.
const SUSPENSIONS: &[(&str, usize)] = &[
    ("already satisfied", 5),
    ("resume_condition_satisfied", 50),
    ("duplicate", 50),
    ("invalid_token", 100),
    ("missing_token", 50),
    ("token_expired", 20),
    ("waitpoint_closed", 100),
    ("target_not_signalable", 20),
    ("pending_waitpoint_expired", 10),
    ("execution_not_suspended", 50),
    ("waitpoint_not_pending", 10),
    ("waitpoint_already_exists", 5),
    ("rotation_conflict", 5),
    ("payload_too_large", 5),
];

const SUSPENSIONS_ONCE: &str = "suspended, create_waitpoint, close_waitpoint, waitpoint closed already, appended_to_waitpoint, \
    buffered_for_pending_waitpoint, appended_to_waitpoint_duplicate, signal_ignored_not_in_condition, \
    signal_ignored_matcher_failed, resume, resumed already, rotated, rotated noop";

/// Minimum counts for flows.
const FLOWS: &[(&str, usize)] = &[
    ("flow staged", 10),
    ("flow submitted", 100),
    ("flow submitted duplicate", 80),
    ("create_flow", 20),
    ("grow_flow", 100),
    ("close_flow", 20),
    ("flow closed already", 50),
    ("cancel_flow", 50),
    ("flow cancelled already", 3),
    ("set_flow_tags", 50),
    ("waits for children", 3),
    ("cascade", 50),
    ("replay", 80),
    ("flow_not_found", 50),
    ("flow_already_terminal", 50),
    ("stale_graph_revision", 10),
    ("self_referencing_edge", 10),
    ("cycle_detected", 10),
    ("dependency_already_exists", 5),
    ("not_runnable", 20),
    ("deps_not_satisfied", 10),
    ("invalid_dependency", 10),
    ("ended by its upstreams", 100),
    ("ended by its flow", 30),
    ("ended by a join", 50),
    ("member ended by its deadline", 20),
    ("went on after its children", 2),
    ("reopened by a replay upstream", 10),
    ("propagation left to do", 3),
    ("flow completed", 50),
    ("flow failed", 50),
];

const FLOWS_ONCE: &str = "children have succeeded, execution_not_found";

/// Minimum counts for lanes.
const LANES: &[(&str, usize)] = &[
    ("taken with a grant", 200),
    ("granted nothing", 200),
    ("taken nothing with a grant", 20),
    ("configure_lane_home", 50),
    ("recount_lane", 50),
    ("settle_lane", 50),
];

fn once(names: &str) -> impl Iterator<Item = (&str, usize)> {
    names.split(", ").map(|name| (name, 1))
}

fn take(mix: Mix, transitions: usize, of_one_run: usize, to_the_end: bool) -> Coverage {
    let (all, first) = (number("FF_MODEL_STEPS", transitions), number("FF_RANDOM_SEED", 1) as u64);
    let seeds = first..first + all.div_ceil(of_one_run) as u64;
    let coverage = pollster::block_on(runs(Setup { make: None, mix, to_the_end }, seeds, of_one_run));
    println!("{coverage}");
    coverage
}
