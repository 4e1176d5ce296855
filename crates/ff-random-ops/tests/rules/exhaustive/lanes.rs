//! Every order in which the messages of a lane with a limit can arrive, breadth first: two partitions with two
//! executions each, and a limit of one. No message is lost for good, so each may also arrive again and late.

use std::fmt::Write;

use ff_core::backend::entropy::{Entropy, SeededEntropy};
use ff_core::contracts::{
    AllotArgs, CompleteArgs, ConfigureLaneArgs, CopyLaneArgs, Grant, GrantedClaimArgs, LaneCount, RecountLaneArgs,
    Setting, SettleLaneArgs, SubmitArgs,
};
use ff_core::execution::Phase;
use ff_core::model::Model;
use ff_core::operation::{Conditions, Operation, Reply};
use ff_core::partition::{PartitionConfig, lane_partition};
use ff_core::payload::Payload;
use ff_core::rule::view::View;
use ff_core::types::{Kind, LaneId, Namespace, TimestampMs};
use uuid::Uuid;

use super::{Search, World};
use crate::claim;

const PARTITIONS: PartitionConfig =
    PartitionConfig { num_flow_partitions: 2, num_budget_partitions: 1, num_quota_partitions: 1 };
const NOW: TimestampMs = TimestampMs(1_700_000_000_000);

/// A state, and every message sent so far.
#[derive(Clone, Default)]
pub(crate) struct LaneWorld {
    model: Model,
    grants: Vec<(u16, Grant)>,
    counts: Vec<LaneCount>,
}

impl LaneWorld {
    /// Creates two executions on each partition, and a limit of one that both partitions know.
    pub(crate) fn new() -> Self {
        let entropy = SeededEntropy::new(0);
        let mut start = Self::default();
        for operation in beginning() {
            let at = || Conditions { partitions: PARTITIONS, nonce: entropy.nonce(), now: NOW };
            if let Reply::LaneConfigured(lane) = start.perform(&operation, &at()) {
                for partition in 0..2 {
                    start.perform(&Operation::CopyLane(CopyLaneArgs { partition, lane: lane.clone() }), &at());
                }
            }
        }
        start
    }

    fn perform(&mut self, operation: &Operation, at: &Conditions) -> Reply {
        let (reply, _) = self.model.execute(operation, at).expect("nothing here is refused");
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

    /// Returns the number of the last grant that the lane's home gave to a partition.
    fn last_grant(&self, partition: u16) -> u64 {
        let home = self.model.lane(lane_partition(&lane(), &PARTITIONS), &lane()).ok().flatten();
        home.and_then(|home| home.shares.get(&partition)).map_or(0, |share| share.seq)
    }
}

impl World for LaneWorld {
    type Identity = String;
    type Move = Operation;

    /// Identifies a state by the state of each execution, the lane as each partition knows it, and the messages sent.
    fn identity(&self) -> String {
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

    fn moves(&self) -> Vec<Operation> {
        let mut operations = Vec::new();
        for partition in 0..2 {
            let (namespace, seq) = (Namespace::default_name(), self.last_grant(partition));
            let allot = AllotArgs { partition, namespace: namespace.clone(), lane: lane(), want: 1 };
            operations.push(Operation::Allot(allot));
            operations.push(Operation::RecountLane(RecountLaneArgs { partition, namespace, lane: lane(), seq }));
        }
        for (partition, grant) in &self.grants {
            operations.push(Operation::ClaimGranted(GrantedClaimArgs { claim: claim(*partition, 2), grant: *grant }));
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

    fn take(&self, operation: &Operation, search: &mut Search) -> Result<Option<Self>, String> {
        let mut next = self.clone();
        next.perform(operation, &search.conditions(PARTITIONS, NOW));
        let held: u32 = (0..2).map(|partition| next.model.active(partition, &lane()).unwrap_or_default()).sum();
        if held <= 1 { Ok(Some(next)) } else { Err(format!("I14: {held} are held")) }
    }
}

/// Returns the operations that submit two executions on each partition and set a limit of one.
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
