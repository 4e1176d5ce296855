//! Every state that two executions, two workers and a clock can come to, breadth first. In each of them, and on every
//! way from one to the next, the invariants hold. One execution alone is followed until there is nothing new; two
//! together up to a number of moves, since each multiplies what the other can do.

use std::collections::VecDeque;

use ff_core::dice::{Dice, Nonce, SeededDice};
use ff_core::operation::{Conditions, Operation};

use crate::walk::deed::{Deed, without_panic};
use crate::walk::expected::as_expected;
use crate::walk::healthy::healthy;
use crate::walk::lawful::lawful;
use crate::walk::moves::{Move, PARTITIONS, World, bounded_work, keyed_work, waiting_work};
use crate::walk::opened::tokens_open_nothing_else;
use crate::walk::promised::promised;
use crate::walk::repeated::answers_again;
use crate::walk::sameness::sameness;
use crate::walk::tally::{REPLIES, Tally};
use crate::walk::transition::{TABLE, WAITING_TABLE};

/// How many moves two executions are followed for: one more where the build is fast, since each takes three times as
/// long as the last.
const MOVES_OF_TWO: usize = if cfg!(debug_assertions) { 8 } else { 9 };

/// The same for one that waits: there is no end to what it can wait for anew.
const MOVES_OF_WAITING: usize = if cfg!(debug_assertions) { 9 } else { 10 };

#[test]
fn every_state_one_execution_can_come_to_keeps_the_invariants() {
    let bounded = Walk::everywhere("a bounded execution", World::new(bounded_work()), usize::MAX);
    let keyed = Walk::everywhere("a keyed execution", World::operated(keyed_work()), usize::MAX);
    assert!(bounded.closed && keyed.closed, "there was more to visit");
    assert!(bounded.tally.visited() >= 8_000, "visited only {}", bounded.tally.visited());
    let refusals = ["stale_lease", "lease_expired", "lease_revoked", "execution_not_active", "max_replays_exhausted"];
    for names in [TABLE, REPLIES, &refusals, &["forgotten"]] {
        assert_eq!(bounded.tally.missing(once(names)), Vec::<String>::new(), "the walk shows too little");
    }
    let operated = ["idempotency_conflict", "execution_not_eligible", "prioritised", "tagged"];
    assert_eq!(keyed.tally.missing(once(&operated)), Vec::<String>::new(), "the walk shows too little");
}

#[test]
fn every_state_two_executions_can_come_to_in_a_few_moves_keeps_the_invariants() {
    let [keyed, ..] = keyed_work();
    let both = World::new(bounded_work().into_iter().chain([keyed]));
    let walk = Walk::everywhere("two executions", both, MOVES_OF_TWO);
    assert!(walk.tally.visited() >= 25_000, "visited only {}", walk.tally.visited());
}

#[test]
fn every_state_one_execution_can_wait_in_keeps_the_invariants() {
    let walk = Walk::everywhere("an execution that waits", World::waiting(waiting_work()), MOVES_OF_WAITING);
    assert!(walk.tally.visited() >= 2_000, "visited only {}", walk.tally.visited());
    let refusals =
        ["waitpoint_closed", "target_not_signalable", "pending_waitpoint_expired", "execution_not_suspended"];
    for names in [WAITING_TABLE, &refusals] {
        assert_eq!(walk.tally.missing(once(names)), Vec::<String>::new(), "the walk shows too little");
    }
}

fn once<'n>(names: &[&'n str]) -> impl Iterator<Item = (&'n str, u64)> {
    names.iter().map(|name| (*name, 1))
}

/// A walk and what it has seen.
struct Walk {
    start: World,
    tally: Tally,
    dice: SeededDice,
    /// A new one for every operation that makes ids; nothing else here depends on it.
    nonce: Nonce,
    steps: u64,
    /// How each state was first come to: from which, by which of its moves.
    trail: Vec<(usize, usize)>,
    /// Whether every move from every state leads to one that was visited.
    closed: bool,
}

impl Walk {
    fn new(start: World) -> Self {
        let (tally, dice) = (Tally::default(), SeededDice::new(1));
        let nonce = dice.nonce();
        Self { start, tally, dice, nonce, steps: 0, trail: vec![(0, 0)], closed: false }
    }

    /// Visits everything within a number of moves, and says how much that was.
    fn everywhere(name: &str, start: World, moves_at_most: usize) -> Self {
        let mut walk = Self::new(start);
        let deepest = walk.visit_all(moves_at_most);
        let (states, steps) = (walk.tally.visited(), walk.steps);
        println!("{}", walk.tally.lines());
        println!("exhaustive walk of {name}: {states} states, {steps} transitions, {deepest} moves deep");
        walk
    }

    fn visit_all(&mut self, moves_at_most: usize) -> usize {
        let start = self.start.clone();
        self.tally.visit(sameness(&start.model, start.now));
        let mut deepest = 0;
        let mut ahead = VecDeque::from([(0, 0, start)]);
        while let Some((number, moves, world)) = ahead.pop_front() {
            deepest = moves;
            if moves == moves_at_most {
                return deepest;
            }
            for (nth, step) in world.moves().into_iter().enumerate() {
                match without_panic(|| self.step(&world, &step)) {
                    Ok(None) => {}
                    Ok(Some(next)) => {
                        self.trail.push((number, nth));
                        ahead.push_back((self.trail.len() - 1, moves + 1, next));
                    }
                    Err(what) => panic!("{what}\n\nafter the moves\n{}{step}", self.script(number)),
                }
            }
        }
        self.closed = true;
        deepest
    }

    /// Makes one move and checks it; the state it leads to, when it is a new one.
    fn step(&mut self, world: &World, step: &Move) -> Result<Option<World>, String> {
        self.steps += 1;
        let next = match step {
            Move::Clock(to) => Some(world.at(*to)),
            Move::Do(operation) => self.perform(world, operation)?,
        };
        let Some(next) = next.filter(|next| self.tally.visit(sameness(&next.model, next.now))) else { return Ok(None) };
        healthy(&next.model, 0, next.now)?;
        tokens_open_nothing_else(&next.model, PARTITIONS, self.nonce, next.now)?;
        Ok(Some(next))
    }

    /// Performs an operation and checks what it did; the world after it, when it changed.
    fn perform(&mut self, world: &World, operation: &Operation) -> Result<Option<World>, String> {
        let draws = matches!(
            operation,
            Operation::Claim(_)
                | Operation::Suspend(_)
                | Operation::CreateWaitpoint(_)
                | Operation::Deliver(_)
                | Operation::Resume(_)
        );
        if draws {
            self.nonce = self.dice.nonce();
        }
        let at = Conditions { partitions: PARTITIONS, nonce: self.nonce, now: world.now };
        let deed = Deed::decide(&world.model, operation, at);
        as_expected(&deed)?;
        lawful(&deed)?;
        promised(&deed)?;
        self.tally.step(&deed)?;
        let Some(decision) = deed.alters().then_some(deed.decided).and_then(Result::ok) else { return Ok(None) };
        let mut next = world.clone();
        next.remember(operation, &decision.reply);
        let reply = next.model.write(decision);
        answers_again(&next.model, operation, &reply, at)?;
        Ok(Some(next))
    }

    /// The moves that lead to a state: the fewest, since the walk is breadth first.
    fn script(&self, number: usize) -> String {
        let mut back = Vec::new();
        let mut state = number;
        while state != 0 {
            let (from, nth) = self.trail[state];
            back.push(nth);
            state = from;
        }
        let mut again = Walk::new(self.start.clone());
        let mut world = self.start.clone();
        let mut script = String::new();
        for nth in back.into_iter().rev() {
            let step = world.moves().swap_remove(nth);
            script += &format!("{step}\n");
            world = again.step(&world, &step).ok().flatten().expect("a walk leads to the same states every time");
        }
        script
    }
}
