//! Random walks over the rules: a few executions, two workers that forget no fence, and a clock that lands before, at
//! and after what is due. After every step the invariants hold.
//!
//! `FF_WALK_STEPS` makes the walk longer, `FF_WALK_SEED` starts it elsewhere.

use crate::walk::play::Play;
use crate::walk::script::{Line, improvise, improvise_waiting};
use crate::walk::tally::{REPLIES, Tally};
use crate::walk::transition::{OPERATED_TABLE, TABLE, WAITING_TABLE};

/// Steps of a walk nobody asked to be longer: enough for everything below to happen.
const STEPS: u64 = 20_000;
/// Steps from one empty store to the next.
const SCRIPT: usize = 40;

/// What must have happened, and how often at least, for a walk to have shown anything.
const LEAST: &[(&str, u64)] = &[
    ("lease steal", 20),
    ("stale_lease", 200),
    ("lease_expired", 200),
    ("lease_revoked", 30),
    ("execution_not_active", 200),
    ("execution_not_found", 30),
    ("execution_not_terminal", 100),
    ("execution_not_eligible", 20),
    ("prioritised", 100),
    ("tagged", 100),
    ("no_active_lease", 100),
    ("fence_required", 10),
    ("partial_fence_triple", 50),
    ("max_replays_exhausted", 30),
    ("idempotency_conflict", 50),
    ("invalid_execution_id", 30),
    ("invalid_policy_json", 30),
    ("invalid_input", 30),
    ("limit_exceeded", 100),
    ("submitted duplicate", 200),
    ("replayed", 50),
    ("forgotten", 50),
    ("followed", 50),
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

/// The same for what waits.
const LEAST_WAITING: &[(&str, u64)] = &[
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

/// The replies of suspensions and signals, by the names they are counted under.
const WAITING_REPLIES: &[&str] = &[
    "suspended",
    "already satisfied",
    "waitpoint created",
    "waitpoint closed",
    "waitpoint closed already",
    "appended_to_waitpoint",
    "resume_condition_satisfied",
    "buffered_for_pending_waitpoint",
    "appended_to_waitpoint_duplicate",
    "signal_ignored_not_in_condition",
    "signal_ignored_matcher_failed",
    "duplicate",
    "resumed",
    "resumed already",
    "rotated",
    "rotated noop",
];

#[test]
fn the_invariants_hold_wherever_the_rules_lead() {
    let tally = walk(improvise);
    let once = REPLIES.iter().chain(TABLE).chain(OPERATED_TABLE).map(|name| (*name, 1));
    assert_eq!(tally.missing(LEAST.iter().copied().chain(once)), Vec::<String>::new(), "the walk shows too little");
}

#[test]
fn the_invariants_hold_wherever_waiting_leads() {
    let tally = walk(improvise_waiting);
    let once = WAITING_REPLIES.iter().chain(WAITING_TABLE).map(|name| (*name, 1));
    let missing = tally.missing(LEAST_WAITING.iter().copied().chain(once));
    assert_eq!(missing, Vec::<String>::new(), "the walk shows too little");
}

/// Plays scripts from many seeds, and counts what happened.
fn walk(improvise: fn(u64, usize) -> Vec<Line>) -> Tally {
    let (steps, first) = (from_environment("FF_WALK_STEPS", STEPS), from_environment("FF_WALK_SEED", 1));
    let scripts = steps.div_ceil(SCRIPT as u64);
    let mut tally = Tally::default();
    for seed in first..first + scripts {
        let script = improvise(seed, SCRIPT);
        if let Err(what) = Play::new(&mut tally).play(&script) {
            panic!("seed {seed}: {what}\n\nin the fewest steps:\n{}", fewest(&script));
        }
    }
    println!("{}", tally.lines());
    println!("random walk: {} steps, {} distinct states", scripts * SCRIPT as u64, tally.visited());
    tally
}

#[test]
fn a_failing_script_is_told_in_the_fewest_steps() {
    let script: Vec<_> = (0..100).collect();
    let fails = |script: &[i32]| script.contains(&17) && script.contains(&80);
    assert_eq!(shrink(&script, fails), [17, 80]);
}

fn fewest(script: &[Line]) -> String {
    Play::retell(&shrink(script, |script| Play::new(&mut Tally::default()).play(script).is_err()))
}

/// The script without every line it fails just as well without.
fn shrink<T: Clone>(script: &[T], fails: impl Fn(&[T]) -> bool) -> Vec<T> {
    let mut script = script.to_vec();
    let mut piece = script.len().div_ceil(2).max(1);
    loop {
        let before = script.len();
        let mut from = 0;
        while from < script.len() {
            let until = (from + piece).min(script.len());
            let without: Vec<_> = script[..from].iter().chain(&script[until..]).cloned().collect();
            if fails(&without) {
                script = without;
            } else {
                from = until;
            }
        }
        if piece == 1 && script.len() == before {
            return script;
        }
        piece = piece.div_ceil(2);
    }
}

fn from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}
