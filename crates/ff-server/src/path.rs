//! What an address names: an execution, one of its waitpoints or signals, a flow, one of its nodes, a lane, an instance of a
//! worker, or a key. Another tenant's execution or flow is not there, so no handler ever has the id of one.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use ff_core::engine_error::{Code, Refusal};
use ff_core::operation::check_id;
use ff_core::types::{ExecutionId, FlowId, KeyId, LaneId, NodeName, SignalId, WaitpointId, WorkerInstanceId};
use ff_scheduler::Runtime;
use tracing::Span;
use tracing::field::display;

use crate::params::word;
use crate::problem::Problem;
use crate::tenant;

/// The execution an address names, written raw or percent-encoded.
pub(crate) struct Id(pub(crate) ExecutionId);

impl FromRequestParts<Runtime> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, ff: &Runtime) -> Result<Self, Problem> {
        let refused = |why: String| Refusal::new(Code::InvalidExecutionId).at("execution_id").because(why);
        let text = segment(parts, ff, "id").await.map_err(refused)?;
        let id = text
            .parse::<ExecutionId>()
            .map_err(|error| refused(format!("must be the id of an execution, got {text:?}: {error}")))?;
        check_id(&id, &ff.backend().partitions())?;
        tenant::owns_execution(parts, ff, &id).await?;
        Span::current().record("execution", display(&id));
        Ok(Self(id))
    }
}

/// The running copy of a worker an address names.
pub(crate) struct Instance(pub(crate) WorkerInstanceId);

impl FromRequestParts<Runtime> for Instance {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, ff: &Runtime) -> Result<Self, Problem> {
        const FIELD: &str = "worker_instance_id";
        let text = segment(parts, ff, "instance").await.map_err(|why| Refusal::invalid(FIELD, why))?;
        let instance = word(FIELD, &text)?;
        Span::current().record("worker", display(&instance));
        Ok(Self(instance))
    }
}

/// The waitpoint an address names.
pub(crate) struct Waitpoint(pub(crate) WaitpointId);

impl FromRequestParts<Runtime> for Waitpoint {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, ff: &Runtime) -> Result<Self, Problem> {
        const FIELD: &str = "waitpoint_id";
        let text = segment(parts, ff, "waitpoint").await.map_err(|why| Refusal::invalid(FIELD, why))?;
        Ok(Self(word(FIELD, &text)?))
    }
}

/// The signal an address names.
pub(crate) struct Received(pub(crate) SignalId);

impl FromRequestParts<Runtime> for Received {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, ff: &Runtime) -> Result<Self, Problem> {
        const FIELD: &str = "signal_id";
        let text = segment(parts, ff, "signal").await.map_err(|why| Refusal::invalid(FIELD, why))?;
        Ok(Self(word(FIELD, &text)?))
    }
}

/// The flow an address names.
pub(crate) struct Flow(pub(crate) FlowId);

impl FromRequestParts<Runtime> for Flow {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, ff: &Runtime) -> Result<Self, Problem> {
        const FIELD: &str = "flow_id";
        let text = segment(parts, ff, "flow").await.map_err(|why| Refusal::invalid(FIELD, why))?;
        let id = word(FIELD, &text)?;
        tenant::owns_flow(parts, ff, &id).await?;
        Ok(Self(id))
    }
}

/// The lane an address names, within the namespace that is said beside it.
pub(crate) struct Lane(pub(crate) LaneId);

impl FromRequestParts<Runtime> for Lane {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, ff: &Runtime) -> Result<Self, Problem> {
        const FIELD: &str = "lane";
        let text = segment(parts, ff, "lane").await.map_err(|why| Refusal::invalid(FIELD, why))?;
        let lane = word(FIELD, &text)?;
        Span::current().record("lane", display(&lane));
        Ok(Self(lane))
    }
}

/// The API key an address names.
pub(crate) struct Key(pub(crate) KeyId);

impl FromRequestParts<Runtime> for Key {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, ff: &Runtime) -> Result<Self, Problem> {
        const FIELD: &str = "key_id";
        let text = segment(parts, ff, "key").await.map_err(|why| Refusal::invalid(FIELD, why))?;
        Ok(Self(word(FIELD, &text)?))
    }
}

/// The node of a flow an address names.
pub(crate) struct Node(pub(crate) NodeName);

impl FromRequestParts<Runtime> for Node {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, ff: &Runtime) -> Result<Self, Problem> {
        const FIELD: &str = "node";
        let text = segment(parts, ff, "node").await.map_err(|why| Refusal::invalid(FIELD, why))?;
        Ok(Self(word(FIELD, &text)?))
    }
}

/// A part of the path, by the name its route gives it.
async fn segment(parts: &mut Parts, ff: &Runtime, name: &str) -> Result<String, String> {
    let unreadable = || "is not text".to_owned();
    let Path(named) = Path::<Vec<(String, String)>>::from_request_parts(parts, ff).await.map_err(|_| unreadable())?;
    named.into_iter().find_map(|(part, text)| (part == name).then_some(text)).ok_or_else(unreadable)
}
