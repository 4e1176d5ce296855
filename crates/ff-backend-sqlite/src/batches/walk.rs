//! A random walk: operations, mostly sensible ones, and the answers each is to get.

use std::collections::BTreeMap;

use ff_backend_sql::TakenUp;
use ff_core::backend::Answer;
use ff_core::contracts::{
    CancelArgs, ClaimArgs, Claimed, Claims, CompleteArgs, DelayArgs, FailArgs, GrantedClaim, GrantedClaims,
    GrantedWaitpoint, PumpArgs, ReceivedSignal, RenewArgs, ReplayArgs, RevokeArgs, Start, SubmitArgs, Taken, Task,
};
use ff_core::dice::{Dice, SeededDice};
use ff_core::engine_error::Refusal;
use ff_core::execution::{Failure, Phase};
use ff_core::hint::Hint;
use ff_core::lease::{Fence, Holder};
use ff_core::limits;
use ff_core::model::Model;
use ff_core::operation::{Ask, Conditions, Operation, Reply};
use ff_core::payload::Payload;
use ff_core::token::{KeyRing, Secret};
use ff_core::types::{
    ExecutionId, IdempotencyKey, Kid, Kind, LaneId, Namespace, Priority, SignalId, TimestampMs, WorkerId,
    WorkerInstanceId,
};
use uuid::Uuid;

use super::flows::Graphs;
use super::operating::Messages;
use super::{PARTITIONS, SECRET_SEED};

/// Random operations, mostly sensible ones, and the model they have been done to.
pub(super) struct Walk {
    pub(super) model: Model,
    choices: SeededDice,
    dice: SeededDice,
    ids: Vec<ExecutionId>,
    held: Vec<Task>,
    /// Waitpoints somebody was given the token of.
    pub(super) granted: Vec<(ExecutionId, GrantedWaitpoint)>,
    among_flows: bool,
    operating: bool,
    pub(super) messages: Messages,
    pub(super) graphs: Graphs,
    pub(super) claimed: usize,
    /// Signals that came with a claim.
    pub(super) handed: usize,
    /// Results of others that came with a claim.
    pub(super) passed_on: usize,
    /// Everything that was answered, and how often.
    pub(super) seen: BTreeMap<String, usize>,
}

impl Walk {
    pub(super) fn new(seed: u64) -> Self {
        let mut model = Model::default();
        let ring = KeyRing::of(Kid::first(), Secret::drawn(SeededDice::new(SECRET_SEED).secret()));
        (0..PARTITIONS.num_flow_partitions).for_each(|partition| model.set_ring(partition, ring.clone()));
        Self {
            model,
            choices: SeededDice::new(seed),
            dice: SeededDice::new(seed + 1_000),
            ids: Vec::new(),
            held: Vec::new(),
            granted: Vec::new(),
            among_flows: false,
            operating: false,
            messages: Messages::default(),
            graphs: Graphs::default(),
            claimed: 0,
            handed: 0,
            passed_on: 0,
            seen: BTreeMap::new(),
        }
    }

    /// A walk that has to do with flows alone.
    pub(super) fn among_flows(seed: u64) -> Self {
        Self { among_flows: true, ..Self::new(seed) }
    }

    /// A walk in which somebody operates what goes on.
    pub(super) fn operating(seed: u64) -> Self {
        Self { operating: true, ..Self::new(seed) }
    }

    /// A number below `bound`.
    pub(super) fn pick(&self, bound: u64) -> u64 {
        self.choices.nonce().roll() % bound
    }

    /// One of several.
    pub(super) fn one<'a, T>(&self, of: &'a [T]) -> Option<&'a T> {
        let at = self.pick(of.len().max(1) as u64);
        of.get(usize::try_from(at).unwrap())
    }

    /// Some operations, with the answers each gets when they are done one by one.
    pub(super) fn batch(&mut self, now: TimestampMs) -> (Vec<TakenUp>, Vec<Answer<Reply>>) {
        let mut batch = Vec::new();
        let mut expected = Vec::new();
        for _ in 0..=self.pick(40) {
            let operation = self.operation();
            let at = Conditions { partitions: PARTITIONS, nonce: self.dice.nonce(), now };
            expected.push(self.answer(&operation, &at));
            batch.push(TakenUp { operation, nonce: at.nonce });
        }
        (batch, expected)
    }

    /// How long it is until the next batch. Among flows it is now and then so long that what is staged is given up.
    pub(super) fn pause(&self) -> u64 {
        let short = self.pick(400) * self.pick(40);
        if self.among_flows && self.pick(12) == 0 { limits::STAGING_MS } else { short }
    }

    fn answer(&mut self, operation: &Operation, at: &Conditions) -> Answer<Reply> {
        let answer = self.model.execute(operation, at);
        self.see(&answer);
        let (reply, _) = answer?;
        self.hear(operation, &reply);
        match &reply {
            Reply::Submitted(submitted) if !submitted.duplicate => self.ids.push(submitted.execution_id),
            Reply::Suspended(suspended) => {
                let id = operation_id(operation);
                self.granted.extend(suspended.waitpoints.iter().map(|granted| (id, granted.clone())));
            }
            Reply::WaitpointCreated(granted) => self.granted.push((operation_id(operation), granted.clone())),
            _ => {}
        }
        Ok(match reply {
            Reply::Taken(taken) => Reply::Claimed(self.claims(taken)),
            Reply::ClaimGranted(GrantedClaim { taken, count }) => {
                Reply::GrantClaimed(GrantedClaims { claims: self.claims(taken), count })
            }
            complete => complete,
        })
    }

    /// What a store answers when this was taken.
    fn claims(&mut self, taken: Taken) -> Claims {
        let claimed = taken.tasks.into_iter().map(|task| Claimed {
            payload: self.model.payload(&task.execution_id).unwrap().clone(),
            signals: self.signals(&task),
            inputs: self.inputs(&task),
            task,
        });
        let claimed: Vec<_> = claimed.collect();
        self.claimed += claimed.len();
        self.held.extend(claimed.iter().map(|claimed| claimed.task.clone()));
        self.handed += claimed.iter().map(|claimed| claimed.signals.len()).sum::<usize>();
        let whole = |claimed: &Claimed| claimed.inputs.iter().filter(|input| input.payload.is_some()).count();
        self.passed_on += claimed.iter().map(whole).sum::<usize>();
        Claims { claimed, next: taken.next, limited: taken.limited }
    }

    /// Keeps count of what is answered, by its first word.
    fn see(&mut self, answer: &Result<(Reply, Vec<Hint>), Refusal>) {
        let said = match answer {
            Ok((reply, _)) => format!("{reply:?}"),
            Err(refusal) => refusal.code.to_string(),
        };
        let word = said.split(['(', ' ']).next().unwrap_or_default().to_owned();
        *self.seen.entry(word).or_default() += 1;
    }

    /// What the worker of a task is handed.
    fn signals(&self, task: &Task) -> Vec<ReceivedSignal> {
        let Some(resumption) = &task.resumption else { return Vec::new() };
        let id = &task.execution_id;
        let hand = |(nth, signal): (usize, &SignalId)| ReceivedSignal {
            signal: self.model.signals(id).iter().find(|known| known.id == *signal).unwrap().clone(),
            payload: self.model.signal_payload(id, signal).filter(|_| nth < resumption.with_payload).cloned(),
        };
        resumption.signals.iter().enumerate().map(hand).collect()
    }

    fn operation(&mut self) -> Operation {
        if self.among_flows {
            return self.flow();
        }
        let absent = ExecutionId::new(0, Uuid::nil());
        let execution_id = self.one(&self.ids).copied().unwrap_or(absent);
        let held = self.held();
        if self.operating && self.pick(3) == 0 {
            return self.operate(execution_id);
        }
        match (self.pick(34), held) {
            (20.., _) => self.wait(),
            (0..=5, _) | (10..=15, None) => self.submission().into_operation(),
            (6..=9, _) => self.claim().into_operation(),
            (10 | 11, Some((execution_id, fence))) => {
                let result = (self.pick(2) == 0).then(|| Payload::json("2"));
                CompleteArgs { execution_id, fence, result }.into_operation()
            }
            (12, Some((execution_id, fence))) => self.failure(execution_id, fence).into_operation(),
            (13, Some((execution_id, fence))) => {
                DelayArgs { execution_id, fence, start: self.start() }.into_operation()
            }
            (14 | 15, Some((execution_id, fence))) => {
                RenewArgs { execution_id, fence, lease_ttl_ms: None }.into_operation()
            }
            (16, _) => CancelArgs { execution_id, reason: None, requested_by: None }.into_operation(),
            (17, _) => {
                ReplayArgs { execution_id, reason: None, requested_by: None, reopen_downstream: false }.into_operation()
            }
            (18, _) => RevokeArgs { execution_id, lease_id: None, reason: None }.into_operation(),
            _ => PumpArgs { partition: self.partition() }.into_operation(),
        }
    }

    /// Something somebody holds, or held a little while ago.
    pub(super) fn held(&self) -> Option<(ExecutionId, Fence)> {
        let recent = self.held.len().saturating_sub(8);
        self.one(&self.held[recent..]).map(|task| (task.execution_id, task.fence))
    }

    /// Something somebody holds now.
    pub(super) fn running(&self) -> Option<(ExecutionId, Fence)> {
        let holds = |task: &&Task| {
            let phase = self.model.find(&task.execution_id).map(|execution| &execution.phase);
            matches!(phase, Some(Phase::Running { lease }) if lease.fence == task.fence)
        };
        let held: Vec<_> = self.held.iter().filter(holds).map(|task| (task.execution_id, task.fence)).collect();
        self.one(&held).copied()
    }

    pub(super) fn failure(&self, execution_id: ExecutionId, fence: Fence) -> FailArgs {
        let category = Kind::parse("network").unwrap();
        let failure = Failure { category, message: "no".into(), permanent: self.pick(3) == 0 };
        FailArgs { execution_id, fence, failure }
    }

    pub(super) fn submission(&self) -> SubmitArgs {
        let tag = u128::from(self.pick(1_000_000)) << 64 | u128::from(self.pick(1_000_000));
        let mut args = SubmitArgs::new(self.kind(), Payload::json(self.pick(2).to_string()));
        args.uuid = Uuid::from_u128(tag);
        args.namespace = Namespace::parse(["default", "acme"][usize::from(self.pick(4) == 0)]).unwrap();
        args.priority = Priority::new(i64::try_from(self.pick(3)).unwrap()).unwrap();
        args.idempotency_key = (self.pick(5) == 0).then(|| IdempotencyKey::parse(&self.pick(4).to_string()).unwrap());
        args.start = self.start();
        args.policy.dedup_window_ms = self.pick(30_000);
        args.policy.max_reclaim_count = 2;
        args.policy.timeout_policy.attempt_timeout_ms = (self.pick(4) == 0).then_some(20_000);
        args.policy.timeout_policy.execution_deadline_ms = (self.pick(6) == 0).then_some(60_000);
        if self.operating { self.operated(args) } else { args }
    }

    pub(super) fn claim(&self) -> ClaimArgs {
        ClaimArgs {
            partition: self.partition(),
            namespace: Namespace::parse(["default", "acme"][usize::from(self.pick(4) == 0)]).unwrap(),
            lane: LaneId::default_name(),
            kinds: (0..self.pick(3)).map(|_| self.kind()).collect(),
            max: usize::try_from(1 + self.pick(4)).unwrap(),
            holder: Holder {
                worker_id: WorkerId::parse("w").unwrap(),
                worker_instance_id: WorkerInstanceId::parse(["w-1", "w-2"][usize::from(self.pick(2) == 0)]).unwrap(),
            },
            lease_ttl_ms: 1_000 + self.pick(20_000),
        }
    }

    fn kind(&self) -> Kind {
        Kind::parse(["resize", "mail", "index"][usize::try_from(self.pick(3)).unwrap()]).unwrap()
    }

    pub(super) fn partition(&self) -> u16 {
        u16::try_from(self.pick(2)).unwrap()
    }

    fn start(&self) -> Start {
        if self.pick(4) == 0 { Start::After(self.pick(10_000)) } else { Start::Now }
    }
}

fn operation_id(operation: &Operation) -> ExecutionId {
    match operation {
        Operation::Suspend(args) => args.execution_id,
        Operation::CreateWaitpoint(args) => args.execution_id,
        _ => panic!("{operation:?} grants nothing"),
    }
}
