//! The calls of a store, and its answers in the form the model gives them.

use ff_core::backend::{Answer, EngineBackend, Upkeep};
use ff_core::contracts::{
    CascadeArgs, Claims, EventsPage, LaneInfo, PumpArgs, RotateSecretArgs, RotationReport, StagedFlow,
};
use ff_core::engine_error::{EngineError, Refusal};
use ff_core::operation::{Operation, Reply};
use ff_core::types::WorkerInstanceId;

use crate::reference::Call;

/// The answers to one call: one, except for a bulk and a rotation.
pub(crate) type Outputs = Vec<Result<Output, Refusal>>;

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Output {
    /// As the rules give it.
    Reply(Reply),
    /// What was claimed, with its payloads.
    Claims(Claims),
    Lane(LaneInfo),
    Workers(Vec<WorkerInstanceId>),
    Events(EventsPage),
}

/// Makes a call of a store, and takes any trouble beyond a refusal for a failure of the test.
pub(crate) async fn ask(calls: &dyn EngineBackend, store: &dyn Upkeep, call: Call) -> Outputs {
    match call {
        Call::One(operation) => vec![perform(calls, store, *operation).await],
        Call::SubmitMany(many) => {
            let answers = refusal(calls.submit_many(many).await).unwrap();
            answers.into_iter().map(|answer| refusal(answer).map(|one| Output::Reply(Reply::Submitted(one)))).collect()
        }
        Call::SubmitFlow(args) => {
            let submitted = refusal(calls.submit_flow(args).await);
            vec![submitted.map(|one| Output::Reply(Reply::FlowStaged(StagedFlow::Submitted(one))))]
        }
        Call::Rotate(rotation) => rotate(calls, rotation).await,
        Call::ConfigureLane(args) => vec![refusal(calls.configure_lane(args).await).map(Output::Lane)],
        Call::SweepWorkers => vec![refusal(store.sweep_workers().await).map(Output::Workers)],
        Call::Events(args) => vec![refusal(calls.events(args).await).map(Output::Events)],
    }
}

/// A rotation is one call, and is answered partition by partition.
async fn rotate(store: &dyn EngineBackend, rotation: RotateSecretArgs) -> Outputs {
    let RotationReport { rotated, failed } = match refusal(store.rotate_secret(rotation).await) {
        Ok(report) => report,
        Err(refused) => return (0..store.partitions().num_flow_partitions).map(|_| Err(refused.clone())).collect(),
    };
    let done = rotated.into_iter().map(|(partition, one)| (partition, Ok(Output::Reply(Reply::Rotated(one)))));
    let failed = failed.into_iter().map(|(partition, error)| (partition, refusal(Err(error))));
    let mut outputs: Vec<_> = done.chain(failed).collect();
    outputs.sort_by_key(|(partition, _)| *partition);
    outputs.into_iter().map(|(_, output)| output).collect()
}

/// Makes the call of an operation that is one.
macro_rules! call {
    ($calls:ident, $store:ident, $operation:ident, $($name:ident => $method:ident -> $reply:ident,)+) => {
        match $operation {
            $(Operation::$name(args) => $calls.$method(args).await.map(Reply::$reply).map(Output::Reply),)+
            Operation::Claim(args) => $calls.claim(args).await.map(Output::Claims),
            Operation::Cascade(CascadeArgs { execution_id, .. }) => {
                $calls.cascade_completion(&execution_id).await.map(Reply::Cascaded).map(Output::Reply)
            }
            Operation::Pump(PumpArgs { partition }) => {
                $store.pump(partition).await.map(Reply::Pumped).map(Output::Reply)
            }
            other => unreachable!("a store has no call for {other:?} alone"),
        }
    };
}

async fn perform(calls: &dyn EngineBackend, store: &dyn Upkeep, operation: Operation) -> Result<Output, Refusal> {
    refusal(call! { calls, store, operation,
        Submit => submit -> Submitted,
        Renew => renew -> Renewed,
        Progress => progress -> Noted,
        Complete => complete -> Completed,
        Fail => fail -> Failed,
        Delay => delay -> Delayed,
        Cancel => cancel -> Cancelled,
        Replay => replay -> Replayed,
        Revoke => revoke -> Revoked,
        ChangePriority => change_priority -> PriorityChanged,
        SetTags => set_tags -> Tagged,
        Suspend => suspend -> Suspended,
        CreateWaitpoint => create_waitpoint -> WaitpointCreated,
        CloseWaitpoint => close_waitpoint -> WaitpointClosed,
        Deliver => deliver -> Delivered,
        Resume => resume -> Resumed,
        CreateFlow => create_flow -> FlowCreated,
        GrowFlow => grow_flow -> FlowGrown,
        CloseFlow => close_flow -> FlowClosed,
        CancelFlow => cancel_flow -> FlowCancelled,
        SetFlowTags => set_flow_tags -> FlowTagged,
        WaitForChildren => wait_for_children -> WaitedForChildren,
        RegisterWorker => register_worker -> WorkerRegistered,
        Heartbeat => heartbeat -> WorkerSeen,
        Leave => leave -> WorkerLeft,
    })
}

/// A refusal is an answer; a store that cannot answer is not what is compared here.
pub(crate) fn refusal<T>(answer: Answer<T>) -> Result<T, Refusal> {
    match answer {
        Ok(answer) => Ok(answer),
        Err(EngineError::Refused(refusal)) => Err(refusal),
        Err(trouble) => panic!("the store is in trouble: {trouble}"),
    }
}
