//! What an address names: an execution, or an instance of a worker.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use ff_core::engine_error::{Code, Refusal};
use ff_core::operation::check_id;
use ff_core::types::{ExecutionId, WorkerInstanceId};
use ff_sdk::FlowFabric;

use crate::params::word;
use crate::problem::Problem;

/// The execution an address names, written raw or percent-encoded.
pub(crate) struct Id(pub(crate) ExecutionId);

impl FromRequestParts<FlowFabric> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, ff: &FlowFabric) -> Result<Self, Problem> {
        let refused = |why: String| Refusal::new(Code::InvalidExecutionId).at("execution_id").because(why);
        let text = segment(parts, ff).await.map_err(refused)?;
        let id = text.parse::<ExecutionId>().map_err(|error| refused(format!("{text:?} is not one: {error}")))?;
        check_id(&id, &ff.backend().partitions())?;
        Ok(Self(id))
    }
}

/// The running copy of a worker an address names.
pub(crate) struct Instance(pub(crate) WorkerInstanceId);

impl FromRequestParts<FlowFabric> for Instance {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, ff: &FlowFabric) -> Result<Self, Problem> {
        const FIELD: &str = "worker_instance_id";
        let text = segment(parts, ff).await.map_err(|why| Refusal::invalid(FIELD, why))?;
        Ok(Self(word(FIELD, &text)?))
    }
}

async fn segment(parts: &mut Parts, ff: &FlowFabric) -> Result<String, String> {
    let named = Path::<String>::from_request_parts(parts, ff).await;
    named.map(|Path(text)| text).map_err(|_| "is not text".to_owned())
}
