//! A fixture for the tests of lanes: four partitions, one lane, and a clock that the test owns. The doctor checks every
//! partition after every step.

use uuid::Uuid;

use super::contracts::{
    AllotArgs, Allotment, ConfigureLaneArgs, CopyLaneArgs, Grant, GrantedClaim, GrantedClaimArgs, LaneCount,
    RecountLaneArgs, Setting, SettleLaneArgs,
};
use super::{Lane, LaneState};
use crate::backend::entropy::{Entropy, SeededEntropy};
use crate::backend::hint::Hint;
use crate::doctor::examine;
use crate::engine_error::Refusal;
use crate::execution::contracts::{CompleteArgs, SubmitArgs};
use crate::lease::Holder;
use crate::lease::contracts::{ClaimArgs, ClaimDecision, Task};
use crate::model::Model;
use crate::operation::{Ask, Conditions};
use crate::partition::PartitionConfig;
use crate::payload::Payload;
use crate::rule::samples::at;
use crate::types::{ExecutionId, Kind, LaneId, Namespace, Priority, TimestampMs};

pub(crate) const PARTITIONS: PartitionConfig =
    PartitionConfig { num_flow_partitions: 4, num_budget_partitions: 1, num_quota_partitions: 1 };

/// A lane in a model, with a clock.
pub(crate) struct LaneFixture {
    pub(crate) model: Model,
    entropy: SeededEntropy,
    uuids: u128,
    pub(crate) now: TimestampMs,
    /// The hints of the last step.
    pub(crate) hints: Vec<Hint>,
}

impl LaneFixture {
    pub(crate) fn new() -> Self {
        Self { model: Model::default(), entropy: SeededEntropy::new(1), uuids: 0, now: at(0), hints: vec![] }
    }

    pub(crate) fn ask<A: Ask>(&mut self, args: A) -> Result<A::Reply, Refusal> {
        let at = Conditions { partitions: PARTITIONS, nonce: self.entropy.nonce(), now: self.now };
        let operation = args.into_operation();
        let (reply, hints) = self.model.execute(&operation, &at)?;
        self.hints = hints;
        for partition in 0..PARTITIONS.num_flow_partitions {
            assert_eq!(examine(&self.model.snapshot(partition), partition, self.now), [], "after {operation:?}");
        }
        Ok(A::decided(reply).unwrap())
    }

    /// Returns new work whose execution is on `partition`.
    pub(crate) fn work(&mut self, partition: u16) -> SubmitArgs {
        loop {
            self.uuids += 1;
            let args = SubmitArgs::new(Kind::parse("resize").unwrap(), Payload::json("1"));
            let args = SubmitArgs { uuid: Uuid::from_u128(self.uuids), ..args };
            if args.execution_id(&PARTITIONS).partition() == partition {
                return args;
            }
        }
    }

    pub(crate) fn submit(&mut self, partition: u16, priority: i64) -> Result<ExecutionId, Refusal> {
        let work = SubmitArgs { priority: Priority::new(priority).unwrap(), ..self.work(partition) };
        Ok(self.ask(work)?.execution_id)
    }

    /// Configures the lane at its home and on every partition.
    pub(crate) fn configure(&mut self, args: ConfigureLaneArgs) -> Lane {
        let lane = self.ask(args).unwrap();
        let copies = (0..4).map(|partition| CopyLaneArgs { partition, lane: lane.clone() });
        let counts: Vec<_> = copies.map(|copy| self.ask(copy).unwrap()).collect();
        self.settle(counts);
        lane
    }

    pub(crate) fn stands(&mut self, state: LaneState) -> Lane {
        self.configure(ConfigureLaneArgs { state: Some(state), ..lane() })
    }

    pub(crate) fn limit(&mut self, to: u32) -> Lane {
        self.configure(ConfigureLaneArgs { concurrency: Setting::To(to), ..lane() })
    }

    pub(crate) fn settle(&mut self, counts: Vec<LaneCount>) -> u32 {
        self.ask(SettleLaneArgs { namespace: lane().namespace, lane: lane().lane, counts }).unwrap().taken
    }

    pub(crate) fn allot(&mut self, partition: u16, want: u32) -> Allotment {
        self.ask(AllotArgs { partition, namespace: lane().namespace, lane: lane().lane, want }).unwrap()
    }

    pub(crate) fn granted(&mut self, partition: u16, want: u32) -> Option<Grant> {
        self.allot(partition, want).grant
    }

    pub(crate) fn recount(&mut self, partition: u16, seq: u64) -> LaneCount {
        self.ask(RecountLaneArgs { partition, namespace: lane().namespace, lane: lane().lane, seq }).unwrap()
    }

    pub(crate) fn claim(&mut self, partition: u16, max: usize) -> ClaimDecision {
        self.ask(claim(partition, max)).unwrap()
    }

    pub(crate) fn claim_with(&mut self, partition: u16, grant: Grant) -> GrantedClaim {
        self.ask(GrantedClaimArgs { claim: claim(partition, 10), grant }).unwrap()
    }

    pub(crate) fn complete(&mut self, task: &Task) {
        self.ask(CompleteArgs { execution_id: task.execution_id, fence: task.fence, result: None }).unwrap();
    }
}

/// Returns a request for the lane that changes no setting.
pub(crate) fn lane() -> ConfigureLaneArgs {
    ConfigureLaneArgs::new(Namespace::default_name(), LaneId::default_name())
}

fn claim(partition: u16, max: usize) -> ClaimArgs {
    ClaimArgs { max, ..ClaimArgs::new(partition, Holder::parse("w", "w-1").unwrap()) }
}
