//! Every order in which the messages of a lane with a limit can come, breadth first: two partitions with two executions each,
//! and a limit of one. No message is ever lost for good, so each can also come again, and late.

use std::collections::{HashSet, VecDeque};
use std::fmt::Write;

use ff_core::contracts::{
    AllotArgs, ClaimArgs, CompleteArgs, ConfigureLaneArgs, CopyLaneArgs, Grant, GrantedClaimArgs, LaneCount,
    RecountLaneArgs, Setting, SettleLaneArgs, SubmitArgs,
};
use ff_core::dice::{Dice, SeededDice};
use ff_core::execution::Phase;
use ff_core::lease::Holder;
use ff_core::model::Model;
use ff_core::operation::{Conditions, Operation, Reply};
use ff_core::partition::{PartitionConfig, lane_partition};
use ff_core::payload::Payload;
use ff_core::types::{Kind, LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};
use ff_core::view::View;
use uuid::Uuid;

const PARTITIONS: PartitionConfig =
    PartitionConfig { num_flow_partitions: 2, num_budget_partitions: 1, num_quota_partitions: 1 };
const NOW: TimestampMs = TimestampMs(1_700_000_000_000);

/// A state, and every message that was ever sent in it.
#[derive(Clone, Default)]
struct World {
    model: Model,
    grants: Vec<(u16, Grant)>,
    counts: Vec<LaneCount>,
}

/// Visits everything within a number of moves, and says how much that was.
pub(crate) fn visit_all(moves_at_most: usize) -> usize {
    let dice = SeededDice::new(1);
    let mut start = World::default();
    for operation in beginning() {
        let reply = start.perform(&operation, &dice);
        if let Reply::LaneConfigured(lane) = reply {
            for partition in 0..2 {
                start.perform(&Operation::CopyLane(CopyLaneArgs { partition, lane: lane.clone() }), &dice);
            }
        }
    }
    let mut seen = HashSet::from([start.sameness()]);
    let mut ahead = VecDeque::from([(0, start)]);
    while let Some((moves, world)) = ahead.pop_front() {
        if moves == moves_at_most {
            break;
        }
        for operation in world.operations() {
            let mut next = world.clone();
            next.perform(&operation, &dice);
            let held: u32 = (0..2).map(|partition| next.model.active(partition, &lane()).unwrap_or_default()).sum();
            assert!(held <= 1, "I14: {held} are held after {operation:?}");
            if seen.insert(next.sameness()) {
                ahead.push_back((moves + 1, next));
            }
        }
    }
    seen.len()
}

impl World {
    fn perform(&mut self, operation: &Operation, dice: &SeededDice) -> Reply {
        let at = Conditions { partitions: PARTITIONS, nonce: dice.nonce(), now: NOW };
        let (reply, _) = self.model.execute(operation, &at).expect("nothing here is refused");
        let count = match (&reply, operation) {
            (Reply::Allotted(allotted), Operation::Allot(args)) => {
                self.grants.extend(allotted.grant.map(|grant| (args.partition, grant)));
                None
            }
            (Reply::ClaimGranted(granted), _) => Some(granted.count),
            (Reply::LaneRecounted(count) | Reply::LaneCopied(count), _) => Some(*count),
            _ => None,
        };
        self.counts.extend(count.filter(|count| !self.counts.contains(count)));
        reply
    }

    /// Every way on, always in the same order.
    fn operations(&self) -> Vec<Operation> {
        let mut operations = Vec::new();
        for partition in 0..2 {
            let (namespace, seq) = (Namespace::default_name(), self.last_grant(partition));
            let allot = AllotArgs { partition, namespace: namespace.clone(), lane: lane(), want: 1 };
            operations.push(Operation::Allot(allot));
            operations.push(Operation::RecountLane(RecountLaneArgs { partition, namespace, lane: lane(), seq }));
        }
        for (partition, grant) in &self.grants {
            operations.push(Operation::ClaimGranted(GrantedClaimArgs { claim: claim(*partition), grant: *grant }));
        }
        for count in &self.counts {
            let (namespace, counts) = (Namespace::default_name(), vec![*count]);
            operations.push(Operation::SettleLane(SettleLaneArgs { namespace, lane: lane(), counts }));
        }
        for execution in self.model.executions() {
            if let Phase::Running { lease } = &execution.phase {
                let args = CompleteArgs { execution_id: execution.id, fence: lease.fence, result: None };
                operations.push(Operation::Complete(args));
            }
        }
        operations
    }

    /// The last grant the lane's home gave a partition.
    fn last_grant(&self, partition: u16) -> u64 {
        let home = self.model.lane(lane_partition(&lane(), &PARTITIONS), &lane()).ok().flatten();
        home.and_then(|home| home.shares.get(&partition)).map_or(0, |share| share.seq)
    }

    /// Stands for a state: how each execution stands, what each partition knows of the lane, and what was sent.
    fn sameness(&self) -> String {
        let mut text = String::new();
        for execution in self.model.executions() {
            write!(text, "{} ", execution.public_state()).expect("text grows");
        }
        for partition in 0..2 {
            let known = self.model.lane(partition, &lane()).ok().flatten();
            write!(text, "{:?} ", known.map(|known| (known.grants, &known.shares))).expect("text grows");
        }
        let mut sent: Vec<_> = self.grants.iter().map(|grant| format!("{grant:?}")).collect();
        sent.extend(self.counts.iter().map(|count| format!("{count:?}")));
        sent.sort_unstable();
        text + &sent.join(" ")
    }
}

/// Two executions on each partition, and a limit of one.
fn beginning() -> Vec<Operation> {
    let mut left = [2, 2];
    let work = |nth| SubmitArgs {
        uuid: Uuid::from_u128(nth),
        ..SubmitArgs::new(Kind::parse("resize").expect("a name"), Payload::json("1"))
    };
    let mut operations: Vec<_> = (0..100)
        .map(work)
        .filter(|work| {
            let room = &mut left[usize::from(work.execution_id(&PARTITIONS).partition())];
            let taken = *room > 0;
            *room -= i32::from(taken);
            taken
        })
        .map(Operation::Submit)
        .collect();
    let lane = ConfigureLaneArgs::new(Namespace::default_name(), lane());
    operations.push(Operation::ConfigureLane(ConfigureLaneArgs { concurrency: Setting::To(1), ..lane }));
    operations
}

fn lane() -> LaneId {
    LaneId::default_name()
}

fn claim(partition: u16) -> ClaimArgs {
    ClaimArgs {
        partition,
        namespace: Namespace::default_name(),
        lane: lane(),
        kinds: vec![],
        max: 2,
        holder: Holder {
            worker_id: WorkerId::parse("worker").expect("a name"),
            worker_instance_id: WorkerInstanceId::parse("worker-0").expect("a name"),
        },
        lease_ttl_ms: 30_000,
    }
}
