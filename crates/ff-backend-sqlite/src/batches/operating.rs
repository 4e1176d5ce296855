//! The steps of a walk that have to do with operating: lanes, labels, priorities, workers, and following what happens.

use ff_core::contracts::{
    AllotArgs, ChangePriorityArgs, ClaimArgs, ConfigureLaneArgs, CopyLaneArgs, FollowArgs, Grant, GrantedClaimArgs,
    HeartbeatArgs, LaneCount, LeaveArgs, RecountLaneArgs, RegisterWorkerArgs, SetTagsArgs, Setting, SettleLaneArgs,
    SubmitArgs, SweepWorkerArgs,
};
use ff_core::lane::{Lane, LaneState};
use ff_core::operation::{Ask, Operation, Reply};
use ff_core::types::{ExecutionId, LaneId, Namespace, Priority, TagKey, TagValue, WorkerId, WorkerInstanceId};

use super::walk::Walk;

/// What was said of the lane and may still arrive.
#[derive(Default)]
pub(super) struct Messages {
    lane: Option<Lane>,
    grants: Vec<(u16, Grant)>,
    counts: Vec<LaneCount>,
}

impl Walk {
    /// An operation an operator, a worker's program or an engine asks for.
    pub(super) fn operate(&self, execution_id: ExecutionId) -> Operation {
        let (partition, namespace, lane) = (self.partition(), Namespace::default_name(), LaneId::default_name());
        match self.pick(22) {
            0..=2 => self.labelling(execution_id).into_operation(),
            3 | 4 => ChangePriorityArgs { execution_id, priority: self.priority() }.into_operation(),
            5 | 6 => self.configuration().into_operation(),
            7..=9 | 21 => match self.messages.lane.clone() {
                Some(lane) => CopyLaneArgs { partition, lane }.into_operation(),
                None => self.configuration().into_operation(),
            },
            10 | 11 => {
                let want = 1 + u32::try_from(self.pick(3)).unwrap();
                AllotArgs { partition, namespace, lane, want }.into_operation()
            }
            12 | 13 | 20 => match self.messages.grants.last() {
                Some((partition, grant)) => {
                    let claim = ClaimArgs { partition: *partition, namespace, ..self.claim() };
                    GrantedClaimArgs { claim, grant: *grant }.into_operation()
                }
                None => self.configuration().into_operation(),
            },
            14 => RecountLaneArgs { partition, namespace, lane, seq: self.pick(3) }.into_operation(),
            15 | 16 => {
                let counts = self.messages.counts.iter().rev().take(4).copied().collect();
                SettleLaneArgs { namespace, lane, counts }.into_operation()
            }
            17 | 18 => self.worker(),
            _ => FollowArgs { partition }.into_operation(),
        }
    }

    /// Work with labels, which is not kept for long.
    pub(super) fn operated(&self, mut args: SubmitArgs) -> SubmitArgs {
        args.tags = (0..self.pick(3)).map(|_| self.label()).collect();
        args.policy.retention_ms = (self.pick(2) == 0).then(|| self.pick(20_000));
        args
    }

    /// Keeps in mind what may arrive later, and perhaps again.
    pub(super) fn hear(&mut self, operation: &Operation, reply: &Reply) {
        match (operation, reply) {
            (_, Reply::LaneConfigured(lane)) => self.messages.lane = Some(lane.clone()),
            (Operation::Allot(args), Reply::Allotted(allotted)) => {
                self.messages.grants.extend(allotted.grant.map(|grant| (args.partition, grant)));
            }
            (_, Reply::LaneCopied(count) | Reply::LaneRecounted(count)) => self.messages.counts.push(*count),
            (_, Reply::ClaimGranted(granted)) => self.messages.counts.push(granted.count),
            _ => {}
        }
    }

    fn configuration(&self) -> ConfigureLaneArgs {
        let states = [LaneState::Active, LaneState::Active, LaneState::Active, LaneState::Paused, LaneState::Draining];
        ConfigureLaneArgs {
            state: self.one(&states).copied(),
            concurrency: self.limit(),
            ageing_ms: self.setting(1 + self.pick(5_000)),
            retention_ms: self.setting(self.pick(60_000)),
            ..ConfigureLaneArgs::new(Namespace::default_name(), LaneId::default_name())
        }
    }

    /// Mostly there is a limit, so that grants are worth something.
    fn limit(&self) -> Setting<u32> {
        match self.pick(8) {
            0 => Setting::Default,
            1..=4 => Setting::Keep,
            _ => Setting::To(u32::try_from(2 + self.pick(8)).unwrap()),
        }
    }

    fn setting<T>(&self, to: T) -> Setting<T> {
        match self.pick(4) {
            0 => Setting::To(to),
            1 | 2 => Setting::Default,
            _ => Setting::Keep,
        }
    }

    fn labelling(&self, execution_id: ExecutionId) -> SetTagsArgs {
        let (set, remove) = (self.label(), self.label());
        let remove = if remove.0 == set.0 { [].into() } else { [remove.0].into() };
        SetTagsArgs { execution_id, set: [set].into(), remove }
    }

    fn label(&self) -> (TagKey, TagValue) {
        let (key, value) = (["team", "region"][usize::from(self.pick(2) == 0)], self.pick(2).to_string());
        (TagKey::parse(key).unwrap(), TagValue::parse(&value).unwrap())
    }

    fn priority(&self) -> Priority {
        Priority::new(i64::try_from(self.pick(4)).unwrap()).unwrap()
    }

    fn worker(&self) -> Operation {
        let namespace = Namespace::parse(["default", "acme"][usize::from(self.pick(4) == 0)]).unwrap();
        let name = ["w-1", "w-2", "w-3"][usize::try_from(self.pick(3)).unwrap()];
        let worker_instance_id = WorkerInstanceId::parse(name).unwrap();
        match self.pick(6) {
            0 | 1 => RegisterWorkerArgs {
                worker_instance_id,
                worker_id: WorkerId::parse("w").unwrap(),
                namespace,
                lanes: [LaneId::default_name()].into(),
                kinds: [].into(),
                capabilities: [].into(),
                ttl_ms: 1_000 + self.pick(9_000),
            }
            .into_operation(),
            2 | 3 => HeartbeatArgs { namespace, worker_instance_id }.into_operation(),
            4 => LeaveArgs { namespace, worker_instance_id }.into_operation(),
            _ => SweepWorkerArgs { worker_instance_id }.into_operation(),
        }
    }
}
