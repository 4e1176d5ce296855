//! Calls that are one operation on one subject: the body becomes its arguments, and the response is its reply.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use ff_api::Call;
use ff_core::engine_error::EngineError;
use ff_core::operation::{Ask, Operation};
use ff_core::types::{ExecutionId, FlowId, WorkerInstanceId};
use ff_scheduler::Runtime;

use crate::access::callers::Caller;
use crate::request::body::Body;
use crate::request::path::{Flow, Id, Instance};
use crate::response::problem::{Problem, Result};
use crate::routing::state::ServerState;

/// The subject that the path of a call names.
pub(crate) trait Subject: Sized {
    type InPath: FromRequestParts<ServerState, Rejection = Problem> + Into<Self> + Send;
}

macro_rules! subjects {
    ($($subject:ident in $path:ident;)*) => {$(
        impl Subject for $subject {
            type InPath = $path;
        }

        impl From<$path> for $subject {
            fn from($path(subject): $path) -> Self {
                subject
            }
        }
    )*};
}

subjects! {
    ExecutionId in Id;
    FlowId in Flow;
    WorkerInstanceId in Instance;
}

/// Returns the `requested_by` field of an operation, if it has one.
fn requested_by(operation: &mut Operation) -> Option<&mut Option<String>> {
    match operation {
        Operation::Assign(args) => Some(&mut args.requested_by),
        Operation::Cancel(args) => Some(&mut args.requested_by),
        Operation::Hold(args) => Some(&mut args.requested_by),
        Operation::Replay(args) => Some(&mut args.requested_by),
        _ => None,
    }
}

pub(crate) async fn handle<C: Call<Subject: Subject>>(
    State(ff): State<Runtime>,
    caller: Caller,
    subject: <C::Subject as Subject>::InPath,
    Body(call): Body<C>,
) -> Result<Json<C::Reply>> {
    let mut operation = call.into_args(subject.into())?.into_operation();
    if let Some(requested_by) = requested_by(&mut operation) {
        caller.sign(requested_by);
    }
    let reply = ff.backend().perform(operation).await?;
    let mixed_up = || EngineError::Corrupt("a call was given the reply to another".into());
    Ok(Json(C::Args::answer(reply).ok_or_else(mixed_up)?.into()))
}
