//! Walks over a lane with a limit: grants and counts that are lost, late, repeated and out of order, leases that end every
//! way, and a limit that changes meanwhile; at random, and in every order a few messages can come in. Never is more handed
//! out than the limit allows, and nothing leaks.
//!
//! `FF_WALK_STEPS` makes the walk longer, `FF_WALK_SEED` starts it elsewhere.

use ff_core::contracts::{
    AllotArgs, CancelArgs, ClaimArgs, CompleteArgs, ConfigureLaneArgs, CopyLaneArgs, Grant, GrantedClaimArgs,
    LaneCount, PumpArgs, RecountLaneArgs, Setting, SettleLaneArgs, SubmitArgs, Task,
};
use ff_core::dice::{Dice, SeededDice};
use ff_core::doctor::examine;
use ff_core::lane::Lane;
use ff_core::lease::Holder;
use ff_core::model::Model;
use ff_core::operation::{Ask, Conditions, Operation};
use ff_core::partition::{PartitionConfig, lane_partition};
use ff_core::payload::Payload;
use ff_core::types::{Kind, LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};
use ff_core::view::View;
use uuid::Uuid;

use crate::walk::lane_moves::visit_all;
use crate::walk::lazy::decide_lazily;
use crate::walk::splitmix::SplitMix;

/// Steps of a walk nobody asked to be longer.
const STEPS: u64 = 20_000;
/// Steps from one empty store to the next.
const SCRIPT: u64 = 200;
const COUNT: u16 = 3;
const PARTITIONS: PartitionConfig =
    PartitionConfig { num_flow_partitions: COUNT, num_budget_partitions: 1, num_quota_partitions: 1 };

#[test]
fn a_limit_holds_whatever_is_lost_late_or_repeated() {
    let (steps, first) = (from_environment("FF_WALK_STEPS", STEPS), from_environment("FF_WALK_SEED", 1));
    let mut seen = Seen::default();
    for seed in first..first + steps.div_ceil(SCRIPT) {
        let mut play = LanePlay::new(seed);
        for step in 0..SCRIPT {
            play.step(&mut seen).unwrap_or_else(|what| panic!("seed {seed}, step {step}: {what}"));
        }
        play.nothing_leaks().unwrap_or_else(|what| panic!("seed {seed}, at its end: {what}"));
    }
    println!("{seen:?}");
    assert!(
        seen.started > 200 && seen.full > 200 && seen.spent > 20 && seen.changed > 50,
        "shows too little: {seen:?}"
    );
}

#[test]
fn a_limit_holds_in_every_order_its_messages_can_come_in() {
    let visited = visit_all(if cfg!(debug_assertions) { 17 } else { 19 });
    println!("exhaustive walk of a limit: {visited} states");
    assert!(visited >= 500, "visited only {visited}");
}

/// What happened, for the walk to have shown anything.
#[derive(Debug, Default)]
struct Seen {
    started: usize,
    /// Nothing was left to grant.
    full: usize,
    /// A grant came late or twice.
    spent: usize,
    changed: usize,
}

/// A lane, and the messages about it that are under way.
struct LanePlay {
    random: SplitMix,
    dice: SeededDice,
    model: Model,
    now: TimestampMs,
    uuids: u128,
    held: Vec<Task>,
    grants: Vec<(u16, Grant)>,
    counts: Vec<LaneCount>,
    /// Copies of the newest settings that have not arrived.
    copies: Vec<(u16, Lane)>,
    /// The most that the settings on any partition allow.
    limit: u32,
}

impl LanePlay {
    fn new(seed: u64) -> Self {
        let (random, dice, now) = (SplitMix::new(seed), SeededDice::new(seed), TimestampMs(1_700_000_000_000));
        let (model, held, grants, counts, copies) = (Model::default(), vec![], vec![], vec![], vec![]);
        let mut play = Self { random, dice, model, now, uuids: 0, held, grants, counts, copies, limit: 0 };
        play.configure();
        while !play.copies.is_empty() {
            play.copy();
        }
        play
    }

    fn ask<A: Ask>(&mut self, args: A) -> A::Reply {
        let at = Conditions { partitions: PARTITIONS, nonce: self.dice.nonce(), now: self.now };
        let operation = args.into_operation();
        let (lazily, runs) = decide_lazily(&self.model, &operation, &at);
        assert!(lazily == operation.decide(&self.model, &at) && runs <= 8, "{operation:?} in {runs} runs");
        let (reply, _) = self.model.execute(&operation, &at).expect("nothing here is refused");
        A::decided(reply).expect("the answer to what was asked")
    }

    fn step(&mut self, seen: &mut Seen) -> Result<(), String> {
        let partition = u16::try_from(self.random.below(COUNT.into())).expect("a partition");
        match self.random.below(100) {
            0..16 => self.submit(),
            16..32 => {
                let want = 1 + u32::try_from(self.random.below(3)).expect("a few");
                let allotted = self.ask(AllotArgs { partition, namespace: namespace(), lane: lane(), want });
                seen.full += usize::from(allotted.grant.is_none());
                self.grants.extend(allotted.grant.map(|grant| (partition, grant)));
            }
            32..54 => self.claim(seen)?,
            54..64 => {
                let seq = self.share_of(partition);
                let count = self.ask(RecountLaneArgs { partition, namespace: namespace(), lane: lane(), seq });
                self.counts.push(count);
            }
            64..78 => self.settle(),
            78..86 => self.end_one(),
            86..90 => {
                self.now = self.now + self.random.next() % 2_000;
                self.ask(PumpArgs { partition });
            }
            90 if self.copies.is_empty() => {
                seen.changed += 1;
                self.configure();
            }
            _ => self.copy(),
        }
        for partition in 0..COUNT {
            if let Some(finding) = examine(&self.model.snapshot(partition), partition, self.now).first() {
                return Err(finding.to_string());
            }
        }
        Ok(())
    }

    fn submit(&mut self) {
        self.uuids += 1;
        let work = SubmitArgs::new(Kind::parse("resize").expect("a name"), Payload::json("1"));
        self.ask(SubmitArgs { uuid: Uuid::from_u128(self.uuids), ..work });
    }

    /// Uses a grant that is under way; sometimes it comes again.
    fn claim(&mut self, seen: &mut Seen) -> Result<(), String> {
        if self.grants.is_empty() {
            return Ok(());
        }
        let nth = self.random.below(self.grants.len());
        let (partition, grant) = if self.random.chance(70) { self.grants.swap_remove(nth) } else { self.grants[nth] };
        let granted = self.ask(GrantedClaimArgs { claim: claim(partition), grant });
        seen.spent += usize::from(granted.count.seq > grant.seq);
        self.counts.push(granted.count);
        let started = granted.taken.tasks.len();
        self.held.extend(granted.taken.tasks);
        seen.started += started;
        let held = self.active();
        if started > 0 && held > self.limit {
            return Err(format!("I14: {held} are held, {} may be", self.limit));
        }
        Ok(())
    }

    /// Some counts arrive, some of them again, and some never.
    fn settle(&mut self) {
        let counts: Vec<_> = self.counts.iter().copied().filter(|_| self.random.chance(60)).collect();
        self.counts.retain(|_| self.random.chance(40));
        self.ask(SettleLaneArgs { namespace: namespace(), lane: lane(), counts });
    }

    fn end_one(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let nth = self.random.below(self.held.len());
        let task = self.held.swap_remove(nth);
        let (execution_id, fence) = (task.execution_id, task.fence);
        let operation = if self.random.chance(60) {
            Operation::Complete(CompleteArgs { execution_id, fence, result: None })
        } else {
            Operation::Cancel(CancelArgs { execution_id, reason: None, requested_by: None })
        };
        let at = Conditions { partitions: PARTITIONS, nonce: self.dice.nonce(), now: self.now };
        // One whose lease expired meanwhile is refused, or ends another way.
        self.model.execute(&operation, &at).ok();
    }

    fn configure(&mut self) {
        let to = 1 + u32::try_from(self.random.below(5)).expect("a few");
        self.limit = self.limit.max(to);
        let args = ConfigureLaneArgs { concurrency: Setting::To(to), ..ConfigureLaneArgs::new(namespace(), lane()) };
        let lane = self.ask(args);
        self.copies = (0..COUNT).map(|partition| (partition, lane.clone())).collect();
    }

    /// A copy of the settings arrives. Once all have, only the newest limit counts: what runs may be more, and nothing is
    /// added to it.
    fn copy(&mut self) {
        if self.copies.is_empty() {
            return;
        }
        let nth = self.random.below(self.copies.len());
        let (partition, lane) = self.copies.swap_remove(nth);
        self.limit = lane.settings.concurrency.filter(|_| self.copies.is_empty()).unwrap_or(self.limit);
        let count = self.ask(CopyLaneArgs { partition, lane });
        self.counts.push(count);
    }

    /// Once everything has ended and was counted, all of the limit can be granted again.
    fn nothing_leaks(&mut self) -> Result<(), String> {
        while !self.copies.is_empty() {
            self.copy();
        }
        self.now = self.now + 60_000;
        for partition in 0..COUNT {
            self.ask(PumpArgs { partition });
        }
        let seqs: Vec<_> = (0..COUNT).map(|partition| (partition, self.share_of(partition))).collect();
        let recount = |(partition, seq)| RecountLaneArgs { partition, namespace: namespace(), lane: lane(), seq };
        let counts = seqs.into_iter().map(|one| self.ask(recount(one))).collect();
        self.ask(SettleLaneArgs { namespace: namespace(), lane: lane(), counts });
        let all = AllotArgs { partition: 0, namespace: namespace(), lane: lane(), want: 100 };
        let granted = self.ask(all).grant.map_or(0, |grant| grant.n);
        if granted == self.limit { Ok(()) } else { Err(format!("{granted} of {} are left", self.limit)) }
    }

    /// How many are held on all partitions together.
    fn active(&self) -> u32 {
        (0..COUNT).map(|partition| self.model.active(partition, &lane()).unwrap_or_default()).sum()
    }

    /// The last grant the lane's home gave a partition.
    fn share_of(&self, partition: u16) -> u64 {
        let home = self.model.lane(lane_partition(&lane(), &PARTITIONS), &lane()).ok().flatten();
        home.and_then(|home| home.shares.get(&partition)).map_or(0, |share| share.seq)
    }
}

fn namespace() -> Namespace {
    Namespace::default_name()
}

fn lane() -> LaneId {
    LaneId::default_name()
}

fn claim(partition: u16) -> ClaimArgs {
    ClaimArgs {
        partition,
        namespace: namespace(),
        lane: lane(),
        kinds: vec![],
        max: 10,
        holder: Holder {
            worker_id: WorkerId::parse("worker").expect("a name"),
            worker_instance_id: WorkerInstanceId::parse("worker-0").expect("a name"),
        },
        lease_ttl_ms: 1_000,
    }
}

fn from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}
