//! Every state that a small world can reach, breadth first. The laws hold in each state and for every move between
//! states. A single execution that does not suspend is followed until no new state is found. Other worlds are followed
//! for a limited number of moves: each execution multiplies the states of the others.

mod executions;
mod flows;
mod identity;
mod lanes;
mod suspensions;

use std::collections::{HashSet, VecDeque};
use std::fmt::Debug;
use std::hash::Hash;

use ff_core::backend::entropy::{Entropy, SeededEntropy};
use ff_core::operation::Conditions;
use ff_core::partition::PartitionConfig;
use ff_core::types::TimestampMs;
use ff_random_ops::laws::{EXECUTION_MOVES, SUSPENSION_MOVES, without_panic};
use ff_random_ops::{Adjustment, Coverage};

use self::executions::{ExecutionWorld, bounded_work, keyed_work, waiting_work};
use self::flows::FlowWorld;
use self::lanes::LaneWorld;

/// Number of moves for two executions. Each further move takes three times as long as the last, so only an optimised
/// build makes one more.
const MOVES_OF_TWO: usize = if cfg!(debug_assertions) { 8 } else { 9 };

/// Number of moves for an execution that suspends, which can suspend again without end.
const MOVES_OF_WAITING: usize = if cfg!(debug_assertions) { 9 } else { 10 };

const MOVES_OF_FLOWS: usize = if cfg!(debug_assertions) { 5 } else { 7 };
const MOVES_OF_LANES: usize = if cfg!(debug_assertions) { 17 } else { 19 };

/// Every kind of reply about executions and leases.
const REPLIES: &str = "submit, submitted duplicate, taken, taken nothing, renew, progress, complete, failed for good, \
    failed with a retry, delay, cancel, cancelled already, replay, revoke, revoked already, \
    pump_partition, pumped nothing";

#[test]
fn every_state_one_execution_can_come_to_keeps_the_laws() {
    let bounded = visit_all("a bounded execution", ExecutionWorld::new(bounded_work()), usize::MAX);
    let keyed = visit_all("a keyed execution", ExecutionWorld::operated(keyed_work()), usize::MAX);
    assert!(bounded.closed && keyed.closed, "there was more to visit");
    assert!(bounded.states >= 8_000, "visited only {}", bounded.states);
    let refusals = ["stale_lease", "lease_expired", "lease_revoked", "execution_not_active", "max_replays_exhausted"];
    let names = EXECUTION_MOVES.iter().chain(&refusals).copied().chain(REPLIES.split(", ")).chain(["forgotten"]);
    bounded.coverage.assert_at_least(names.map(|name| (name, 1)));
    let operated = ["idempotency_conflict", "execution_not_eligible"].into_iter().chain(Adjustment::names());
    keyed.coverage.assert_at_least(operated.map(|name| (name, 1)));
}

#[test]
fn every_state_one_execution_can_be_kept_back_in_keeps_the_laws() {
    let visited = visit_all("an execution that is kept back", ExecutionWorld::blocked(waiting_work()), usize::MAX);
    assert!(visited.closed && visited.states >= 500, "visited only {}", visited.states);
    let replies = ["hold", "release_hold", "block", "unblock", "assign", "unassign"];
    visited.coverage.assert_at_least(replies.map(|name| (name, 1)));
}

#[test]
fn every_state_two_executions_can_come_to_in_a_few_moves_keeps_the_laws() {
    let [keyed, ..] = keyed_work();
    let both = ExecutionWorld::new(bounded_work().into_iter().chain([keyed]));
    let visited = visit_all("two executions", both, MOVES_OF_TWO);
    assert!(visited.states >= 25_000, "visited only {}", visited.states);
}

#[test]
fn every_state_one_execution_can_wait_in_keeps_the_laws() {
    let visited = visit_all("an execution that waits", ExecutionWorld::waiting(waiting_work()), MOVES_OF_WAITING);
    assert!(visited.states >= 2_000, "visited only {}", visited.states);
    let refusals =
        ["waitpoint_closed", "target_not_signalable", "pending_waitpoint_expired", "execution_not_suspended"];
    for names in [SUSPENSION_MOVES, &refusals] {
        visited.coverage.assert_at_least(names.iter().map(|name| (*name, 1)));
    }
}

#[test]
fn every_state_a_small_flow_can_come_to_keeps_the_laws() {
    let visited = visit_all("a small flow", FlowWorld::new(), MOVES_OF_FLOWS);
    assert!(visited.states >= 2_000, "visited only {}", visited.states);
}

#[test]
fn a_limit_holds_in_every_order_its_messages_can_come_in() {
    let visited = visit_all("a lane with a limit", LaneWorld::new(), MOVES_OF_LANES);
    assert!(visited.states >= 500, "visited only {}", visited.states);
}

/// A state of a small world, with every move from it.
trait World: Clone {
    type Move: Clone + Debug;
    /// Identifies a state. Two states are equal exactly when the rules cannot distinguish them.
    type Identity: Eq + Hash;

    fn identity(&self) -> Self::Identity;

    /// Returns every move from this state, always in the same order.
    fn moves(&self) -> Vec<Self::Move>;

    /// Makes one move and checks it. Returns the next state, or `None` if the move changed nothing.
    fn take(&self, step: &Self::Move, search: &mut Search) -> Result<Option<Self>, String>;

    /// Checks a state that was not visited before.
    fn check(&self, _search: &Search) -> Result<(), String> {
        Ok(())
    }
}

/// State shared by the moves of a search.
struct Search {
    entropy: SeededEntropy,
    coverage: Coverage,
}

impl Search {
    fn conditions(&self, partitions: PartitionConfig, now: TimestampMs) -> Conditions {
        Conditions { partitions, nonce: self.entropy.nonce(), now }
    }
}

struct VisitedStates {
    states: usize,
    coverage: Coverage,
    /// Whether every move from every state leads to a visited state.
    closed: bool,
}

/// Visits every state within a number of moves. Returns the number of states and the coverage.
fn visit_all<W: World>(name: &str, start: W, moves_at_most: usize) -> VisitedStates {
    let mut search = Search { entropy: SeededEntropy::new(1), coverage: Coverage::default() };
    let mut seen = HashSet::from([start.identity()]);
    // For each state, the state and the move from which it was first reached.
    let mut trail: Vec<(usize, Option<W::Move>)> = vec![(0, None)];
    let mut ahead = VecDeque::from([(0, 0, start)]);
    let (mut steps, mut closed) = (0_u64, true);
    while let Some((number, moves, world)) = ahead.pop_front() {
        if moves == moves_at_most {
            closed = false;
            break;
        }
        for step in world.moves() {
            steps += 1;
            let taken = without_panic(|| {
                let next = world.take(&step, &mut search)?.filter(|next| seen.insert(next.identity()));
                next.iter().try_for_each(|next| next.check(&search))?;
                Ok(next)
            });
            match taken {
                Ok(None) => {}
                Ok(Some(next)) => {
                    trail.push((number, Some(step)));
                    ahead.push_back((trail.len() - 1, moves + 1, next));
                }
                Err(what) => panic!("{what}\n\nafter the moves\n{:#?}\n{step:?}", script(&trail, number)),
            }
        }
    }
    println!("{}every state of {name}: {} states, {steps} moves", search.coverage, seen.len());
    VisitedStates { states: seen.len(), coverage: search.coverage, closed }
}

/// Returns the moves that lead to a state. No shorter sequence exists, since the search is breadth first.
fn script<M>(trail: &[(usize, Option<M>)], mut state: usize) -> Vec<&M> {
    let mut moves = Vec::new();
    while let (from, Some(step)) = &trail[state] {
        moves.push(step);
        state = *from;
    }
    moves.reverse();
    moves
}
