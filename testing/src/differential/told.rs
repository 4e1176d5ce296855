//! What one side answered, in a form that can be compared.

use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::Claims;
use ff_core::engine_error::Refusal;
use ff_core::operation::{Operation, Reply};
use ff_engine::Orchestration;

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
pub(crate) async fn ask(store: &dyn EngineStore, operation: Operation) -> Result<Word, Refusal> {
    let answer = match operation {
        Operation::Claim(args) => store.claim_within_limit(args).await.map(Word::Claims),
        other => store.perform(other).await.map(Word::Reply),
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
