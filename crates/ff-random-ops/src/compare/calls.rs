//! Calls of a store, with the answers in the form of the model.

use ff_engine::Orchestration;

use crate::prelude::*;
use crate::reference::{Call, Output, Outputs};

/// The tested access to a store: the store itself or a layer above it.
#[derive(Clone, Copy)]
pub(crate) enum CallTarget<'a> {
    Store(&'a dyn EngineStore),
    Backend(&'a dyn EngineBackend),
}

impl<'a> CallTarget<'a> {
    pub(crate) fn calls(self) -> &'a dyn Perform {
        match self {
            Self::Store(store) => store,
            Self::Backend(backend) => backend,
        }
    }

    async fn submit_many(self, args: Vec<SubmitArgs>) -> Answer<Vec<Answer<SubmittedExecution>>> {
        match self {
            Self::Store(store) => store.submit_many(args).await,
            Self::Backend(backend) => backend.submit_many(args).await,
        }
    }

    async fn submit_flow(self, args: SubmitFlowArgs) -> Answer<SubmittedFlow> {
        match self {
            Self::Store(store) => store.submit_flow(args).await,
            Self::Backend(backend) => backend.submit_flow(args).await,
        }
    }

    async fn configure_lane(self, args: ConfigureLaneArgs) -> Answer<LaneInfo> {
        match self {
            Self::Store(store) => store.configure_lane(args).await,
            Self::Backend(backend) => backend.configure_lane(args).await,
        }
    }

    async fn rotate_secret(self, args: RotateSecretArgs) -> Answer<RotationReport> {
        match self {
            Self::Store(store) => store.rotate_secret(args).await,
            Self::Backend(backend) => backend.rotate_secret(args).await,
        }
    }

    async fn perform_work(self, operation: Operation) -> Answer<Reply> {
        match self {
            Self::Store(store) => store.perform_work(operation).await,
            Self::Backend(backend) => backend.perform(operation).await,
        }
    }

    async fn claim(self, args: ClaimArgs) -> Answer<Claims> {
        match self {
            Self::Store(store) => store.claim_within_limit(args).await,
            Self::Backend(backend) => backend.claim(args).await,
        }
    }
}

/// Makes a call to a store. Any error other than a refusal fails the test.
pub(crate) async fn ask(way: CallTarget<'_>, store: &dyn EngineStore, call: Call) -> Outputs {
    match call {
        Call::One(operation) => vec![perform(way, store, *operation).await],
        Call::Engine(operation) => vec![refusal(store.perform(*operation).await).map(perform_engine)],
        Call::SubmitMany(many) => {
            let answers = refusal(way.submit_many(many).await).unwrap();
            answers.into_iter().map(|answer| refusal(answer).map(|one| Output::Reply(Reply::Submitted(one)))).collect()
        }
        Call::SubmitFlow(args) => {
            let submitted = refusal(way.submit_flow(args).await);
            vec![submitted.map(|one| Output::Reply(Reply::FlowStaged(StagedFlow::Submitted(one))))]
        }
        Call::Rotate(rotation) => rotate(way, rotation).await,
        Call::ConfigureLane(args) => vec![refusal(way.configure_lane(args).await).map(Output::Lane)],
        Call::SweepWorkers => vec![refusal(store.sweep_workers().await).map(Output::Workers)],
        Call::Events(args) => vec![refusal(way.calls().events(args).await).map(Output::Events)],
    }
}

/// Performs a rotation, which is one call, and returns the answer of each partition.
async fn rotate(way: CallTarget<'_>, rotation: RotateSecretArgs) -> Outputs {
    let RotationReport { rotated, failed } = match refusal(way.rotate_secret(rotation).await) {
        Ok(report) => report,
        Err(refused) => {
            return (0..way.calls().partitions().num_flow_partitions).map(|_| Err(refused.clone())).collect();
        }
    };
    let done = rotated.into_iter().map(|(partition, one)| (partition, Ok(Output::Reply(Reply::Rotated(one)))));
    let failed = failed.into_iter().map(|(partition, error)| (partition, refusal(Err(error))));
    let mut outputs: Vec<_> = done.chain(failed).collect();
    outputs.sort_by_key(|(partition, _)| *partition);
    outputs.into_iter().map(|(_, output)| output).collect()
}

async fn perform(way: CallTarget<'_>, store: &dyn EngineStore, operation: Operation) -> Result<Output, Refusal> {
    refusal(match operation {
        Operation::Claim(args) => way.claim(args).await.map(Output::Claims),
        work @ (Operation::Submit(_) | Operation::GrowFlow(_)) => way.perform_work(work).await.map(Output::Reply),
        // Only an engine pumps, blocks and unblocks.
        Operation::Pump(_) | Operation::Block(_) | Operation::Unblock(_) => {
            store.perform(operation).await.map(Output::Reply)
        }
        other => way.calls().perform(other).await.map(Output::Reply),
    })
}

fn perform_engine(reply: Reply) -> Output {
    match reply {
        Reply::Claimed(claims) => Output::Claims(claims),
        Reply::AdmittedClaimed(admitted) => Output::Admitted(admitted),
        other => Output::Reply(other),
    }
}

/// Returns the answer or the refusal. Panics if the store cannot answer.
pub(crate) fn refusal<T>(answer: Answer<T>) -> Result<T, Refusal> {
    match answer {
        Ok(answer) => Ok(answer),
        Err(EngineError::Refused(refusal)) => Err(refusal),
        Err(trouble) => panic!("the store is in trouble: {trouble}"),
    }
}
