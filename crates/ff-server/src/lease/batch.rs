//! Batches of worker calls in one request. Each call gets the response it would get on its own.

use axum::Json;
use axum::extract::State;
use ff_api::{Call, LeaseCall, WorkerBatch, WorkerBatchReply, WorkerCall, WorkerCallResult, object};
use ff_core::backend::Answer;
use ff_core::backend::outage::is_away;
use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::limits;
use ff_core::operation::{Ask, check_id};
use ff_core::types::ExecutionId;
use ff_scheduler::Runtime;
use futures_util::future::join_all;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::access::callers::Caller;
use crate::access::tenant;
use crate::request::body::Body;
use crate::response::problem::Result;

pub(crate) async fn batch(
    State(ff): State<Runtime>,
    caller: Caller,
    Body(WorkerBatch { calls }): Body<WorkerBatch>,
) -> Result<Json<WorkerBatchReply>> {
    if calls.len() > limits::BULK {
        return Err(Refusal::over_limit(Code::LimitExceeded, "calls", limits::BULK, calls.len()).into());
    }
    let answers = join_all(calls.iter().map(|call| perform(&ff, &caller, call))).await;
    let results = answers.into_iter().map(|answer| result(&ff, answer)).collect::<Answer<_>>()?;
    Ok(Json(WorkerBatchReply { results }))
}

async fn perform(ff: &Runtime, caller: &Caller, call: &RawValue) -> Answer<Box<RawValue>> {
    let WorkerCall { call, execution_id: id, body } = object(call.get().as_bytes())?;
    check_id(&id, &ff.backend().partitions())?;
    tenant::check_execution(caller.tenant(), ff, &id).await?;
    match call {
        LeaseCall::Renew => one::<ff_api::Renew>(ff, id, &body).await,
        LeaseCall::Progress => one::<ff_api::Progress>(ff, id, &body).await,
        LeaseCall::Complete => one::<ff_api::Complete>(ff, id, &body).await,
        LeaseCall::Fail => one::<ff_api::Fail>(ff, id, &body).await,
        LeaseCall::Delay => one::<ff_api::Delay>(ff, id, &body).await,
        LeaseCall::Steps => one::<ff_api::RecordStep>(ff, id, &body).await,
        LeaseCall::Usage => one::<ff_api::ReportUsage>(ff, id, &body).await,
    }
}

async fn one<C>(ff: &Runtime, id: ExecutionId, body: &RawValue) -> Answer<Box<RawValue>>
where
    C: Call<Subject = ExecutionId>,
{
    let body = body.get().as_bytes();
    if body.len() > C::BODY_BYTES {
        return Err(Refusal::over_limit(Code::PayloadTooLarge, "body", C::BODY_BYTES, body.len()).into());
    }
    let operation = object::<C>(body)?.into_args(id)?.into_operation();
    let reply = C::Args::answer(ff.backend().perform(operation).await?);
    let reply = reply.ok_or_else(|| EngineError::Corrupt("a call was given the reply to another".into()))?;
    written(&C::Reply::from(reply))
}

fn result(ff: &Runtime, answer: Answer<Box<RawValue>>) -> Answer<WorkerCallResult> {
    let error = match answer {
        Ok(body) => return Ok(WorkerCallResult { status: 200, body }),
        Err(error) => error,
    };
    if is_away(&error) {
        ff.engine_store().outages().log_failure("request", &error);
    }
    let problem = ff_api::Problem::from(error);
    Ok(WorkerCallResult { status: problem.status, body: written(&problem)? })
}

fn written(reply: &impl Serialize) -> Answer<Box<RawValue>> {
    to_raw_value(reply).map_err(|error| EngineError::Corrupt(format!("an answer cannot be written: {error}")))
}
