//! A small world and all its moves: two executions, two workers that remember their last two fences, and a clock that
//! advances to just before, exactly at, and just after the next due time.

use std::sync::Arc;

use ff_core::contracts::{
    AssignArgs, BlockArgs, BlockTarget, CancelArgs, ClaimArgs, CompleteArgs, DelayArgs, FailArgs, GrantedWaitpoint,
    HoldArgs, ProgressArgs, PumpArgs, ReleaseHoldArgs, RenewArgs, ReplayArgs, RevokeArgs, Start, SubmitArgs,
    UnassignArgs, UnblockArgs,
};
use ff_core::execution::{BlockDetail, Blocker, Execution, Failure};
use ff_core::lease::Fence;
use ff_core::limits;
use ff_core::model::Model;
use ff_core::operation::{Operation, Reply};
use ff_core::payload::Payload;
use ff_core::policy::{Backoff, Policy, RetryPolicy, TimeoutPolicy};
use ff_core::rule::due::Due;
use ff_core::token::{KeyRing, Secret};
use ff_core::types::{ExecutionId, IdempotencyKey, Kid, Kind, LeaseEpoch, TimestampMs};
use ff_random_ops::Adjustment;
use ff_random_ops::laws::{Step, answers_again, as_expected, healthy, lawful, promised, tokens_open_nothing_else};
use uuid::Uuid;

use super::identity::identity;
use super::suspensions::{about_waiting, remember_granted, wishes_to_wait};
use super::{Search, World};
use crate::{PARTITIONS, claim, holder};

/// The durations are multiples of each other, so that timers of different kinds fire at the same time.
const TTL_MS: u64 = 1_000;
const DELAY_MS: u64 = 1_000;
const BACKOFF_MS: u64 = 1_000;
const ATTEMPT_TIMEOUT_MS: u64 = 1_500;
const DEADLINE_MS: u64 = 3_000;

/// A state, with the fences and waitpoints that workers remember.
#[derive(Clone)]
pub(crate) struct ExecutionWorld {
    /// The operations tried in every state.
    always: Arc<[Operation]>,
    pub(crate) model: Model,
    pub(crate) now: TimestampMs,
    /// Each worker's last two fences of each execution, in the order in which they were handed out.
    leases: Vec<HeldLease>,
    /// The last granted waitpoints. `None` in a world without waiting.
    granted: Option<Vec<GrantedWaitpoint>>,
    /// Whether operators adjust executions.
    operated: bool,
    /// Whether ready executions are held, blocked and assigned.
    blocked: bool,
}

#[derive(Clone, Copy)]
struct HeldLease {
    worker: usize,
    id: ExecutionId,
    fence: Fence,
}

/// One move from a state.
#[derive(Clone, Debug)]
pub(crate) enum Move {
    Clock(TimestampMs),
    Do(Box<Operation>),
}

impl ExecutionWorld {
    /// Creates a world where this work is not submitted yet.
    pub(crate) fn new(work: impl IntoIterator<Item = SubmitArgs>) -> Self {
        let pump = Operation::Pump(PumpArgs { partition: 0 });
        let submissions = work.into_iter().map(Operation::Submit);
        let claims = (0..2).flat_map(claims).map(Operation::Claim);
        let always = std::iter::once(pump).chain(submissions).chain(claims).collect();
        let (model, leases, granted) = (Model::default(), Vec::new(), None);
        Self { always, model, now: TimestampMs(1_700_000_000_000), leases, granted, operated: false, blocked: false }
    }

    /// Creates a world where operators also adjust executions.
    pub(crate) fn operated(work: impl IntoIterator<Item = SubmitArgs>) -> Self {
        Self { operated: true, ..Self::new(work) }
    }

    /// Creates a world where ready executions are also held, blocked and assigned.
    pub(crate) fn blocked(work: impl IntoIterator<Item = SubmitArgs>) -> Self {
        Self { blocked: true, ..Self::new(work) }
    }

    /// Creates a world where executions may also wait.
    pub(crate) fn waiting(work: impl IntoIterator<Item = SubmitArgs>) -> Self {
        let mut world = Self { granted: Some(Vec::new()), ..Self::new(work) };
        world.model.set_ring(0, KeyRing::of(Kid::first(), Secret::drawn([7; 32])));
        world
    }

    /// Records the fences and waitpoints that a reply handed out. Keeps a worker's last two fences of each execution.
    pub(crate) fn remember(&mut self, operation: &Operation, reply: &Reply) {
        if let Some(granted) = &mut self.granted {
            remember_granted(granted, reply);
        }
        let (Operation::Claim(args), Reply::ClaimDecision(taken)) = (operation, reply) else { return };
        let worker = usize::from(args.holder == holder(1));
        for task in &taken.tasks {
            let mine = |held: &HeldLease| held.worker == worker && held.id == task.execution_id;
            if self.leases.iter().filter(|held| mine(held)).count() == 2 {
                let oldest = self.leases.iter().position(mine);
                oldest.map(|oldest| self.leases.remove(oldest));
            }
            self.leases.push(HeldLease { worker, id: task.execution_id, fence: task.fence });
        }
    }

    /// Returns the times just before, at and just after the next due time. A world with operators never advances to the
    /// end of a retention: the key would be forgotten by then, and a repeated submission would create a second
    /// execution, which multiplies the number of states.
    fn clock(&self) -> impl Iterator<Item = TimestampMs> + use<> {
        let awaited = |due: &&Due| !self.operated || **due != Due::Retention;
        let moments = |execution: &Execution| {
            let all = Due::ALL.iter().filter(awaited).filter_map(|due| execution.due_at(*due));
            all.collect::<Vec<_>>()
        };
        let all = self.model.executions().flat_map(moments);
        let (now, next) = (self.now, all.filter(|at| *at > self.now).min());
        next.into_iter().flat_map(|at| [at - 1, at, at + 1]).filter(move |to| *to > now)
    }

    fn about(&self, execution_id: ExecutionId, operations: &mut Vec<Operation>) {
        let (reason, requested_by) = (None, None);
        let oldest = self.leases.iter().find(|held| held.id == execution_id).map(|held| held.fence.lease_id);
        operations.push(Operation::Cancel(CancelArgs { execution_id, reason: None, requested_by: None }));
        operations.push(Operation::Replay(ReplayArgs {
            execution_id,
            reason: None,
            requested_by,
            reopen_downstream: false,
            from_step: None,
        }));
        operations.push(Operation::Revoke(RevokeArgs { execution_id, lease_id: None, reason: None }));
        operations.push(Operation::Revoke(RevokeArgs { execution_id, lease_id: oldest, reason }));
        if self.blocked {
            operations.extend(blocking_operations(execution_id, self.model.find(&execution_id), self.now));
        }
        if self.operated {
            operations.extend(Adjustment::samples(execution_id));
        }
    }
}

impl World for ExecutionWorld {
    type Identity = u64;
    type Move = Move;

    fn identity(&self) -> u64 {
        identity(&self.model, self.now)
    }

    fn moves(&self) -> Vec<Move> {
        let mut operations = self.always.to_vec();
        for execution in self.model.executions() {
            self.about(execution.id, &mut operations);
        }
        for held in &self.leases {
            operations.extend(calls_of(held));
            if let Some(granted) = &self.granted {
                operations.extend(wishes_to_wait(held.id, held.fence, granted));
            }
        }
        for execution in self.model.executions().filter(|_| self.granted.is_some()) {
            operations.extend(about_waiting(execution.id, self.granted.as_deref().unwrap_or_default()));
        }
        self.clock()
            .map(Move::Clock)
            .chain(operations.into_iter().map(|operation| Move::Do(Box::new(operation))))
            .collect()
    }

    fn take(&self, step: &Move, search: &mut Search) -> Result<Option<Self>, String> {
        let operation = match step {
            Move::Clock(now) => return Ok(Some(Self { now: *now, ..self.clone() })),
            Move::Do(operation) => operation,
        };
        let at = search.conditions(PARTITIONS, self.now);
        let step = Step::decide(&self.model, operation, at);
        as_expected(&step)?;
        lawful(&step)?;
        promised(&step)?;
        search.coverage.count_step(&step)?;
        let Some(decision) = step.alters().then_some(step.decided).and_then(Result::ok) else { return Ok(None) };
        let mut next = self.clone();
        next.remember(operation, &decision.reply);
        let reply = next.model.write(decision);
        answers_again(&next.model, operation, &reply, at)?;
        Ok(Some(next))
    }

    fn check(&self, search: &Search) -> Result<(), String> {
        healthy(&self.model, 0, self.now)?;
        tokens_open_nothing_else(&self.model, &search.conditions(PARTITIONS, self.now))
    }
}

/// Returns the operations that hold, block or assign a ready execution, or undo that.
fn blocking_operations(execution_id: ExecutionId, found: Option<&Execution>, now: TimestampMs) -> Vec<Operation> {
    let lease_epoch = found.map_or(LeaseEpoch(0), Execution::epoch);
    let quota = BlockDetail::Budget { name: "b".into(), dimension: "d".into(), retry_at: Some(now + DELAY_MS) };
    let details = [BlockDetail::Route { class: "gpu".into() }, quota];
    let block = |detail| {
        let executions = vec![BlockTarget { execution_id, lease_epoch, detail }];
        Operation::Block(BlockArgs { partition: 0, executions })
    };
    let unblock = |from| Operation::Unblock(UnblockArgs { partition: 0, executions: vec![execution_id], from });
    let mut operations: Vec<_> = details.into_iter().map(block).collect();
    operations.extend([Blocker::Route, Blocker::Budget].map(unblock));
    operations.push(Operation::Hold(HoldArgs { execution_id, reason: None, requested_by: None }));
    operations.push(Operation::ReleaseHold(ReleaseHoldArgs { execution_id }));
    let (worker_instance_id, ttl_ms) = (holder(0).worker_instance_id, limits::GRANT_TTL_MIN_MS);
    let assign = AssignArgs { execution_id, worker_instance_id, ttl_ms, reason: None, requested_by: None };
    operations.push(Operation::Assign(assign));
    operations.push(Operation::Unassign(UnassignArgs { execution_id }));
    operations.push(Operation::Claim(ClaimArgs { assigned: true, lease_ttl_ms: TTL_MS, ..claim(0, 1) }));
    operations
}

/// Returns an execution with every policy that sets a timer, started at once or later.
pub(crate) fn bounded_work() -> [SubmitArgs; 2] {
    let bounded = SubmitArgs { uuid: Uuid::from_u128(1), policy: bounded(), ..work("bounded") };
    let later = SubmitArgs { start: Start::After(DELAY_MS), ..bounded.clone() };
    [bounded, later]
}

/// Returns a plain execution under a key, the same under another id, and other work under the same key.
pub(crate) fn keyed_work() -> [SubmitArgs; 3] {
    let key = IdempotencyKey::parse("once").expect("a key");
    let plain = SubmitArgs { uuid: Uuid::from_u128(2), idempotency_key: Some(key), policy: plain(), ..work("plain") };
    let again = SubmitArgs { uuid: Uuid::from_u128(3), ..plain.clone() };
    let other = SubmitArgs { payload: Payload::json("\"other\""), ..again.clone() };
    [plain, again, other]
}

fn work(name: &str) -> SubmitArgs {
    SubmitArgs::new(kind(name), Payload::json("1"))
}

fn bounded() -> Policy {
    let backoff = Backoff::Fixed { delay_ms: BACKOFF_MS, jitter: false };
    Policy {
        retry_policy: RetryPolicy { max_retries: 1, backoff, ..RetryPolicy::default() },
        timeout_policy: TimeoutPolicy {
            attempt_timeout_ms: Some(ATTEMPT_TIMEOUT_MS),
            execution_deadline_ms: Some(DEADLINE_MS),
        },
        ..plain()
    }
}

fn plain() -> Policy {
    Policy {
        retry_policy: RetryPolicy { max_retries: 0, ..RetryPolicy::default() },
        max_reclaim_count: 1,
        max_replay_count: 1,
        ..Policy::default()
    }
}

/// Returns a plain execution with a deadline, for a world with waiting.
pub(crate) fn waiting_work() -> [SubmitArgs; 1] {
    let timeout_policy = TimeoutPolicy { execution_deadline_ms: Some(DEADLINE_MS), ..TimeoutPolicy::default() };
    [SubmitArgs { uuid: Uuid::from_u128(1), policy: Policy { timeout_policy, ..plain() }, ..work("bounded") }]
}

/// Returns the claims of a worker: one execution of each kind, and two of any kind.
fn claims(worker: usize) -> [ClaimArgs; 3] {
    let claim = |kinds, max| ClaimArgs { kinds, holder: holder(worker), lease_ttl_ms: TTL_MS, ..claim(0, max) };
    [claim(vec![kind("bounded")], 1), claim(vec![kind("plain")], 1), claim(vec![], 2)]
}

fn calls_of(held: &HeldLease) -> [Operation; 6] {
    let HeldLease { id: execution_id, fence, .. } = *held;
    let failure = Failure { category: kind("error"), message: "no".into(), permanent: false };
    let delay = |start| Operation::Delay(DelayArgs { execution_id, fence, start });
    [
        Operation::Renew(RenewArgs { execution_id, fence, lease_ttl_ms: None }),
        Operation::Progress(ProgressArgs { execution_id, fence, percent: Some(50), message: None }),
        Operation::Complete(CompleteArgs { execution_id, fence, result: Some(Payload::json("2")) }),
        Operation::Fail(FailArgs { execution_id, fence, failure }),
        delay(Start::After(DELAY_MS)),
        delay(Start::Now),
    ]
}

fn kind(name: &str) -> Kind {
    Kind::parse(name).expect("a name")
}
