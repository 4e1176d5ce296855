//! What one side answered, in a form that can be compared.

use ff_core::backend::{Answer, Upkeep};
use ff_core::contracts::{CascadeArgs, Claims, PumpArgs};
use ff_core::engine_error::Refusal;
use ff_core::operation::{Operation, Reply};

/// The answers to one step: one, except for a bulk.
pub(crate) type Told = Vec<Result<Word, Refusal>>;

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Word {
    /// As the rules give it.
    Reply(Reply),
    /// What was claimed, with its payloads.
    Claims(Claims),
}

/// Asks a store, and takes any trouble beyond a refusal for a failure of the test.
pub(crate) async fn ask(store: &dyn Upkeep, operation: Operation) -> Result<Word, Refusal> {
    let answer = match operation {
        Operation::Submit(args) => store.submit(args).await.map(Reply::Submitted).map(Word::Reply),
        Operation::Claim(args) => store.claim(args).await.map(Word::Claims),
        Operation::Renew(args) => store.renew(args).await.map(Reply::Renewed).map(Word::Reply),
        Operation::Progress(args) => store.progress(args).await.map(Reply::Noted).map(Word::Reply),
        Operation::Complete(args) => store.complete(args).await.map(Reply::Completed).map(Word::Reply),
        Operation::Fail(args) => store.fail(args).await.map(Reply::Failed).map(Word::Reply),
        Operation::Delay(args) => store.delay(args).await.map(Reply::Delayed).map(Word::Reply),
        Operation::Cancel(args) => store.cancel(args).await.map(Reply::Cancelled).map(Word::Reply),
        Operation::Replay(args) => store.replay(args).await.map(Reply::Replayed).map(Word::Reply),
        Operation::Revoke(args) => store.revoke(args).await.map(Reply::Revoked).map(Word::Reply),
        Operation::Suspend(args) => store.suspend(args).await.map(Reply::Suspended).map(Word::Reply),
        Operation::CreateWaitpoint(args) => {
            store.create_waitpoint(args).await.map(Reply::WaitpointCreated).map(Word::Reply)
        }
        Operation::CloseWaitpoint(args) => {
            store.close_waitpoint(args).await.map(Reply::WaitpointClosed).map(Word::Reply)
        }
        Operation::Deliver(args) => store.deliver(args).await.map(Reply::Delivered).map(Word::Reply),
        Operation::Resume(args) => store.resume(args).await.map(Reply::Resumed).map(Word::Reply),
        Operation::Rotate(_) => unreachable!("a rotation is asked of all partitions at once"),
        Operation::StageFlow(_) => unreachable!("a graph is submitted as a whole"),
        Operation::CreateFlow(args) => store.create_flow(args).await.map(Reply::FlowCreated).map(Word::Reply),
        Operation::GrowFlow(args) => store.grow_flow(args).await.map(Reply::FlowGrown).map(Word::Reply),
        Operation::CloseFlow(args) => store.close_flow(args).await.map(Reply::FlowClosed).map(Word::Reply),
        Operation::CancelFlow(args) => store.cancel_flow(args).await.map(Reply::FlowCancelled).map(Word::Reply),
        Operation::SetFlowTags(args) => store.set_flow_tags(args).await.map(Reply::FlowTagged).map(Word::Reply),
        Operation::WaitForChildren(args) => {
            store.wait_for_children(args).await.map(Reply::WaitedForChildren).map(Word::Reply)
        }
        Operation::Cascade(CascadeArgs { execution_id, .. }) => {
            store.cascade_completion(&execution_id).await.map(Reply::Cascaded).map(Word::Reply)
        }
        Operation::CreateKey(_) | Operation::RevokeKey(_) => unreachable!("keys have no part in what executions do"),
        Operation::ChangePriority(_)
        | Operation::SetTags(_)
        | Operation::ConfigureLane(_)
        | Operation::CopyLane(_)
        | Operation::Allot(_)
        | Operation::ClaimGranted(_)
        | Operation::RecountLane(_)
        | Operation::SettleLane(_)
        | Operation::RegisterWorker(_)
        | Operation::Heartbeat(_)
        | Operation::Leave(_)
        | Operation::SweepWorker(_)
        | Operation::Follow(_) => unreachable!("what operators ask is asked by them"),
        Operation::Pump(PumpArgs { partition }) => store.pump(partition).await.map(Reply::Pumped).map(Word::Reply),
    };
    refusal(answer)
}

/// A refusal is an answer; a store that cannot answer is not what is compared here.
pub(crate) fn refusal<T>(answer: Answer<T>) -> Result<T, Refusal> {
    use ff_core::engine_error::EngineError;
    match answer {
        Ok(answer) => Ok(answer),
        Err(EngineError::Refused(refusal)) => Err(refusal),
        Err(trouble) => panic!("the store is in trouble: {trouble}"),
    }
}
