//! The domain of executions, over the model.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{Attempts, ExecutionEnd, ExecutionInfo, ListArgs, Page};
use ff_core::engine_error::{Code, EngineError};
use ff_core::execution::Execution;
use ff_core::model::Model;
use ff_core::operation::query::{Describe, EndOf, NamespaceOf, ReadAttempts, ReadPayload, ReadResult};
use ff_core::payload::Payload;
use ff_core::types::{ExecutionId, Namespace};

use crate::{MemoryBackend, reads};

impl Handle<Describe, ExecutionInfo> for MemoryBackend {
    async fn handle(&self, Describe { execution_id: ref id }: Describe) -> Answer<ExecutionInfo> {
        self.look(id, |_, execution| Ok(execution.info()))
    }
}

reads! {
    ListArgs => Page: |store, query| Page::of(store.model()?.newest(&query), &query);
    NamespaceOf => Option<Namespace>:
        |store, query| store.model()?.find(&query.execution_id).map(|execution| execution.namespace.clone());
}

impl Handle<ReadPayload, Payload> for MemoryBackend {
    async fn handle(&self, ReadPayload { execution_id: ref id }: ReadPayload) -> Answer<Payload> {
        self.look(id, |model, _| payload_of(model, id))
    }
}

impl Handle<ReadResult, ExecutionEnd> for MemoryBackend {
    async fn handle(&self, ReadResult { execution_id: ref id }: ReadResult) -> Answer<ExecutionEnd> {
        self.look(id, |model, execution| {
            let state = execution.public_state();
            execution.ended(model.result(id).cloned()).ok_or_else(|| {
                let refusal = Code::ExecutionNotTerminal.refusal().in_state(state);
                refusal.because(format!("the execution is {state}")).into()
            })
        })
    }
}

impl Handle<EndOf, Option<ExecutionEnd>> for MemoryBackend {
    async fn handle(&self, EndOf { execution_id: ref id }: EndOf) -> Answer<Option<ExecutionEnd>> {
        self.look(id, |model, execution| Ok(execution.ended(model.result(id).cloned())))
    }
}

impl Handle<ReadAttempts, Attempts> for MemoryBackend {
    async fn handle(&self, ReadAttempts { execution_id: ref id }: ReadAttempts) -> Answer<Attempts> {
        self.look(id, |model, execution| Ok(execution.attempts(model.attempts(id).to_vec(), model.leases(id).to_vec())))
    }
}

impl MemoryBackend {
    /// Reads one execution and its side records at the same moment.
    pub(crate) fn look<T>(&self, id: &ExecutionId, read: impl FnOnce(&Model, &Execution) -> Answer<T>) -> Answer<T> {
        let model = self.model()?;
        let execution = model.find(id).filter(|execution| is_visible(&model, execution));
        read(&model, execution.ok_or(Code::ExecutionNotFound)?)
    }
}

/// Returns whether callers see an execution. A staged one is hidden until its flow exists.
fn is_visible(model: &Model, execution: &Execution) -> bool {
    let flow = execution.membership.as_ref().filter(|_| execution.is_staged()).map(|membership| membership.flow_id);
    flow.is_none_or(|flow| model.find_flow(&flow).is_some())
}

/// Returns the payload of an execution. It may be empty, but it is never missing.
pub(crate) fn payload_of(model: &Model, id: &ExecutionId) -> Answer<Payload> {
    model.payload(id).cloned().ok_or_else(|| EngineError::Corrupt(format!("{id} has lost its payload")))
}
