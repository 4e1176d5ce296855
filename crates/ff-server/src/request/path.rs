//! Extractors for the subjects of paths: an execution, its waitpoints and signals, a flow, its nodes, a lane, a worker
//! instance, a key and others. Another tenant's execution or flow is not found, so no handler gets the id of one.

use axum::extract::{FromRef, FromRequestParts, Path};
use axum::http::request::Parts;
use ff_core::engine_error::{Code, Refusal};
use ff_core::operation::check_id;
use ff_core::types::{
    BudgetName, ExecutionId, FlowId, KeyId, LaneId, NodeName, QuotaName, ScheduleName, SignalId, WaitpointId,
    WorkerInstanceId,
};
use ff_scheduler::Runtime;
use tracing::Span;
use tracing::field::display;

use crate::access::tenant;
use crate::request::params::word;
use crate::response::problem::Problem;

/// The execution named in the path, raw or percent-encoded.
pub(crate) struct Id(pub(crate) ExecutionId);

impl<S: Send + Sync> FromRequestParts<S> for Id
where
    Runtime: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let ff = Runtime::from_ref(state);
        let refused = |why: String| Refusal::new(Code::InvalidExecutionId).at("execution_id").because(why);
        let text = segment(parts, state, "id").await.map_err(refused)?;
        let id = text
            .parse::<ExecutionId>()
            .map_err(|error| refused(format!("must be the id of an execution, got {text:?}: {error}")))?;
        check_id(&id, &ff.backend().partitions())?;
        tenant::owns_execution(parts, &ff, &id).await?;
        Span::current().record("execution", display(&id));
        Ok(Self(id))
    }
}

macro_rules! in_path {
    ($($(#[$doc:meta])* $name:ident($type:ty): $part:literal, $field:literal
        $(, logged as $span:literal)? $(, of the tenant by $owns:path)?;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name(pub(crate) $type);

        impl<S: Send + Sync> FromRequestParts<S> for $name
        where
            Runtime: FromRef<S>,
        {
            type Rejection = Problem;

            async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
                let text = segment(parts, state, $part).await.map_err(|why| Refusal::invalid($field, why))?;
                let named = word($field, &text)?;
                $($owns(parts, &Runtime::from_ref(state), &named).await?;)?
                $(Span::current().record($span, display(&named));)?
                Ok(Self(named))
            }
        }
    )*};
}

in_path! {
    /// The worker instance named in the path.
    Instance(WorkerInstanceId): "instance", "worker_instance_id", logged as "worker";
    /// The waitpoint named in the path.
    Waitpoint(WaitpointId): "waitpoint", "waitpoint_id";
    /// The signal named in the path.
    SignalPath(SignalId): "signal", "signal_id";
    /// The flow named in the path.
    Flow(FlowId): "flow", "flow_id", of the tenant by tenant::owns_flow;
    /// The lane named in the path; a parameter or the body gives the namespace.
    Lane(LaneId): "lane", "lane", logged as "lane";
    /// The quota policy named in the path; a parameter or the body gives the namespace.
    Quota(QuotaName): "quota", "quota";
    /// The schedule named in the path; a parameter or the body gives the namespace.
    Schedule(ScheduleName): "schedule", "schedule";
    /// The budget named in the path; a parameter or the body gives the namespace.
    Budget(BudgetName): "budget", "budget";
    /// The API key named in the path.
    Key(KeyId): "key", "key_id";
    /// The flow node named in the path.
    Node(NodeName): "node", "node";
}

/// Returns a segment of the path, by its name in the route.
async fn segment(parts: &mut Parts, state: &(impl Send + Sync), name: &str) -> Result<String, String> {
    let unreadable = || "is not text".to_owned();
    let Path(named) =
        Path::<Vec<(String, String)>>::from_request_parts(parts, state).await.map_err(|_| unreadable())?;
    named.into_iter().find_map(|(part, text)| (part == name).then_some(text)).ok_or_else(unreadable)
}
