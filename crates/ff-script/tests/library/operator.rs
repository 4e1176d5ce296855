//! Refusals to operators and worker instances: the code is right, and nothing is written.

use ff_core::contracts::{
    ConfigureLaneArgs, CopyLaneArgs, HeartbeatArgs, RegisterClassesArgs, RegisterWorkerArgs, ReplayArgs, SetTagsArgs,
    Setting,
};
use ff_core::engine_error::Code;
use ff_core::lane::LaneState;
use ff_core::limits;
use ff_core::types::{
    FairKey, LaneId, Namespace, RequirementClass, TagKey, TagValue, TimestampMs, WorkerId, WorkerInstanceId,
    new_execution_uuid,
};
use ff_script::execution::{ff_create_execution, ff_create_executions, ff_replay_execution, ff_set_execution_tags};
use ff_script::flow::ff_submit_flow;
use ff_script::lane::{ff_configure_lane, ff_copy_lane, ff_register_classes};
use ff_script::published::ff_add_execution_to_flow;
use ff_script::worker::{ff_heartbeat_worker, ff_register_worker};
use ff_script::{LibraryClock, ScriptError};

use crate::flow::{Scene, Stand, graph};
use crate::refused::assert_refused;
use crate::situation::{ONE_PARTITION, Situation, Subject};
use crate::wire::Wire;

pub(crate) const CASES: &[(&str, Code)] = &[
    ("ff_add_execution_to_flow", Code::NotRunnable),
    ("ff_configure_lane", Code::InvalidInput),
    ("ff_configure_lane", Code::LimitExceeded),
    ("ff_create_execution", Code::NotRunnable),
    ("ff_create_executions", Code::NotRunnable),
    ("ff_heartbeat_worker", Code::NotFound),
    ("ff_register_classes", Code::LimitExceeded),
    ("ff_register_worker", Code::IdempotencyConflict),
    ("ff_replay_execution", Code::NotRunnable),
    ("ff_set_execution_tags", Code::ExecutionNotFound),
    ("ff_set_execution_tags", Code::LimitExceeded),
    ("ff_submit_flow", Code::NotRunnable),
];

#[tokio::test]
async fn a_refused_operator_call_writes_nothing() {
    for (function, code) in CASES {
        let wire = Wire::start(LibraryClock::Test).await;
        let scene = OperatorScene::arrange(&wire, function, *code).await;
        assert_refused(&wire, function, *code, scene.ask(&wire, function, *code)).await;
    }
}

/// An execution and a flow.
struct OperatorScene<'w> {
    subject: Subject,
    scene: Scene<'w>,
}

impl<'w> OperatorScene<'w> {
    /// Arranges both so that the call is refused with this code.
    async fn arrange(wire: &'w Wire, function: &str, code: Code) -> Self {
        let situation = match code {
            Code::ExecutionNotFound => Situation::Absent,
            Code::NotRunnable => Situation::Completed,
            _ => Situation::Waiting,
        };
        let subject = situation.arrange(wire).await;
        let scene = Stand::Open.arrange(wire).await;
        if code == Code::NotRunnable {
            drain(wire).await;
        }
        if function == "ff_register_worker" {
            ff_register_worker(wire, &worker("another"), TimestampMs(1)).await.unwrap();
        }
        Self { subject, scene }
    }

    async fn ask(&self, wire: &Wire, function: &str, code: Code) -> Result<(), ScriptError> {
        let id = self.subject.id;
        let mut new = self.subject.submitted.clone();
        new.uuid = new_execution_uuid();
        match function {
            "ff_add_execution_to_flow" => {
                let node = graph(&["late"], &[], &[]).nodes.remove(0);
                ff_add_execution_to_flow(wire, &ONE_PARTITION, &self.scene.flow_id, node).await.map(drop)
            }
            "ff_configure_lane" => {
                let key = |nth: usize| (FairKey::parse(&format!("k{nth}")).unwrap(), Setting::To(2));
                let is_fair = code == Code::LimitExceeded;
                let args = ConfigureLaneArgs {
                    fair_by: if is_fair { Setting::To("kind".parse().unwrap()) } else { Setting::Keep },
                    weights: (0..=limits::LANE_WEIGHTS).map(key).collect(),
                    ..ConfigureLaneArgs::new(Namespace::default_name(), LaneId::default_name())
                };
                ff_configure_lane(wire, &ONE_PARTITION, args).await.map(drop)
            }
            "ff_create_execution" => ff_create_execution(wire, &ONE_PARTITION, new).await.map(drop),
            "ff_create_executions" => {
                let answers = ff_create_executions(wire, vec![(new.execution_id(&ONE_PARTITION), new)]).await?;
                answers.into_iter().next().expect("it has its answer").map(drop)
            }
            "ff_heartbeat_worker" => {
                let args = HeartbeatArgs {
                    namespace: Namespace::default_name(),
                    worker_instance_id: worker("w").worker_instance_id,
                };
                ff_heartbeat_worker(wire, &args, TimestampMs(1)).await.map(drop)
            }
            "ff_register_classes" => {
                let class = |nth: usize| RequirementClass::parse(&format!("c{nth}")).unwrap();
                let args = RegisterClassesArgs {
                    namespace: Namespace::default_name(),
                    lane: LaneId::default_name(),
                    classes: (0..=limits::LANE_CLASSES).map(class).collect(),
                };
                ff_register_classes(wire, &ONE_PARTITION, args).await.map(drop)
            }
            "ff_register_worker" => ff_register_worker(wire, &worker("w"), TimestampMs(2)).await.map(drop),
            "ff_replay_execution" => {
                let args = ReplayArgs::new(id);
                ff_replay_execution(wire, args).await.map(drop)
            }
            "ff_set_execution_tags" => {
                let count = if code == Code::LimitExceeded { limits::TAGS + 1 } else { 1 };
                let tag = |n| (TagKey::parse(&format!("k{n}")).unwrap(), TagValue::parse("v").unwrap());
                let args = SetTagsArgs { execution_id: id, set: (0..count).map(tag).collect(), remove: [].into() };
                ff_set_execution_tags(wire, args).await.map(drop)
            }
            "ff_submit_flow" => {
                let part = graph(&["a"], &[], &[]).plan().unwrap().remove(0);
                ff_submit_flow(wire, &ONE_PARTITION, part).await.map(drop)
            }
            other => panic!("{other} is not called here"),
        }
    }
}

/// Sets the default lane to draining, so that it takes no new work.
pub(crate) async fn drain(wire: &Wire) {
    let (namespace, lane) = (Namespace::default_name(), LaneId::default_name());
    let args = ConfigureLaneArgs::state(namespace, lane, LaneState::Draining);
    let lane = ff_configure_lane(wire, &ONE_PARTITION, args).await.unwrap();
    ff_copy_lane(wire, &CopyLaneArgs { partition: 0, lane }).await.unwrap();
}

fn worker(of: &str) -> RegisterWorkerArgs {
    RegisterWorkerArgs::new(WorkerInstanceId::parse("w-1").unwrap(), WorkerId::parse(of).unwrap())
}
