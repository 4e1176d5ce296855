//! The subjects of paths: an execution, one of its waitpoints or signals, a flow, one of its nodes, a lane, an instance
//! of a worker, or a key. Another tenant's execution or flow is not found, so no handler ever has the id of one.

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

use crate::params::word;
use crate::problem::Problem;
use crate::tenant;

/// The execution an address names, written raw or percent-encoded.
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
    /// The running copy of a worker an address names.
    Instance(WorkerInstanceId): "instance", "worker_instance_id", logged as "worker";
    /// The waitpoint an address names.
    Waitpoint(WaitpointId): "waitpoint", "waitpoint_id";
    /// The signal an address names.
    SignalPath(SignalId): "signal", "signal_id";
    /// The flow an address names.
    Flow(FlowId): "flow", "flow_id", of the tenant by tenant::owns_flow;
    /// The lane an address names, within the namespace that is said beside it.
    Lane(LaneId): "lane", "lane", logged as "lane";
    /// The quota policy an address names, within the namespace that is said beside it.
    Quota(QuotaName): "quota", "quota";
    /// The schedule an address names, within the namespace that is said beside it.
    Schedule(ScheduleName): "schedule", "schedule";
    /// The budget an address names, within the namespace that is said beside it.
    Budget(BudgetName): "budget", "budget";
    /// The API key an address names.
    Key(KeyId): "key", "key_id";
    /// The node of a flow an address names.
    Node(NodeName): "node", "node";
}

/// A part of the path, by the name its route gives it.
async fn segment(parts: &mut Parts, state: &(impl Send + Sync), name: &str) -> Result<String, String> {
    let unreadable = || "is not text".to_owned();
    let Path(named) =
        Path::<Vec<(String, String)>>::from_request_parts(parts, state).await.map_err(|_| unreadable())?;
    named.into_iter().find_map(|(part, text)| (part == name).then_some(text)).ok_or_else(unreadable)
}
