//! The domain of executions over HTTP.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ff_api::{
    Batch, BatchItem, BatchReply, Bulk, BulkVerb, ExecutionEnd, ExecutionsQuery, IDEMPOTENCY_KEY, NoQuery, Page,
    PayloadQuery, PayloadView, ResultQuery, Submit, object,
};
use ff_core::backend::Answer;
use ff_core::contracts::{
    Attempts, BulkPage, Cursor, ExecutionInfo, Filter, ListArgs, SubmitArgs, SubmittedExecution, check_wait,
};
use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::explain::Explanation;
use ff_core::limits;
use ff_core::types::{ExecutionId, IdempotencyKey, Namespace};
use ff_scheduler::Runtime;

use crate::access::callers::Caller;
use crate::access::tenant;
use crate::request::body::Body;
use crate::request::params::{Params, cursor, word};
use crate::request::path::Id;
use crate::response::page;
use crate::response::problem::{Problem, Result};
use crate::trace;

/// Creates an execution, or returns the one already created under the same key.
pub(crate) async fn submit(
    State(ff): State<Runtime>,
    headers: HeaderMap,
    Body(mut new): Body<Submit>,
) -> Result<CreatedExecution> {
    new.idempotency_key = resolve_idempotency_key(key_in(&headers)?, new.idempotency_key.take())?;
    let args = trace::within(new.into_args()?, &trace::in_headers(&headers));
    Ok(CreatedExecution(ff.backend().submit(args).await?))
}

/// Creates many executions, each with its own result.
pub(crate) async fn submit_many(
    State(ff): State<Runtime>,
    caller: Caller,
    headers: HeaderMap,
    Body(batch): Body<Batch>,
) -> Result<Json<BatchReply>> {
    if headers.contains_key(IDEMPOTENCY_KEY) {
        return Err(Refusal::invalid("Idempotency-Key", "must be absent; in a batch, use idempotency_key").into());
    }
    let count = batch.executions.len();
    if count > limits::BULK {
        return Err(Refusal::over_limit(Code::LimitExceeded, "executions", limits::BULK, count).into());
    }
    let around = trace::in_headers(&headers);
    let read = batch.executions.iter().map(|one| {
        let mut one = object::<Submit>(one.get().as_bytes())?;
        tenant::settle(caller.tenant(), &mut one.namespace)?;
        Ok(trace::within(one.into_args()?, &around))
    });
    let results = each(&ff, read.collect()).await?;
    Ok(Json(BatchReply { results: results.into_iter().map(BatchItem::from).collect() }))
}

/// Lists executions, newest first, a page at a time.
pub(crate) async fn list(State(ff): State<Runtime>, Params(query): Params<ExecutionsQuery>) -> Result<Json<Page>> {
    let filter = Filter {
        namespace: query.namespace.unwrap_or_else(Namespace::default_name),
        lane: query.lane,
        state: query.state,
        blocking_reason: query.blocking_reason,
        kind: query.kind,
        tags: query.tags,
        created_from: query.created_from,
        created_until: query.created_until,
    };
    let after = cursor("cursor", query.cursor)?;
    let limit = query.limit.unwrap_or_default().0;
    let args = ListArgs { filter, after, limit };
    let mut page = ff.backend().list(args).await?;
    if page::cut(&mut page.executions) {
        page.next =
            page.executions.last().map(|row| Cursor { created_at: row.created_at, execution_id: row.execution_id });
    }
    Ok(Json(page.into()))
}

/// Returns an execution and its state.
pub(crate) async fn describe(State(ff): State<Runtime>, Id(id): Id, _: Params<NoQuery>) -> Result<Json<ExecutionInfo>> {
    Ok(Json(ff.backend().describe(&id).await?))
}

/// Explains why an execution does not run, and suggests actions.
pub(crate) async fn explain(State(ff): State<Runtime>, Id(id): Id, _: Params<NoQuery>) -> Result<Json<Explanation>> {
    Ok(Json(ff.backend().explain(&id).await?))
}

/// Returns the submitted bytes: as they are, or as JSON when the request names an encoding.
pub(crate) async fn payload(
    State(ff): State<Runtime>,
    Id(id): Id,
    Params(query): Params<PayloadQuery>,
) -> Result<Response> {
    let payload = ff.backend().payload(&id).await?;
    if let Some(encoding) = query.encoding {
        return Ok(Json(PayloadView::of(&payload, encoding)).into_response());
    }
    let media_type = HeaderValue::from_bytes(payload.content_type.as_str().as_bytes());
    let media_type = media_type.map_err(|error| Problem::defect(&format!("a content type is no header: {error}")))?;
    // The bytes come from an untrusted submitter: a browser must save them, not show or run them.
    let saved = [
        (header::CONTENT_TYPE, media_type),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    Ok((saved, payload.bytes).into_response())
}

/// Returns how an execution ended; can wait for its end.
pub(crate) async fn result(
    State(ff): State<Runtime>,
    Id(id): Id,
    Params(query): Params<ResultQuery>,
) -> Result<Json<ExecutionEnd>> {
    let wait_ms = query.wait_ms.unwrap_or_default().0;
    check_wait(wait_ms)?;
    let ended = if wait_ms == 0 { None } else { ff.long_poll().ended(&id, wait_ms).await? };
    let ended = match ended {
        Some(ended) => ended,
        None => ff.backend().result(&id).await?,
    };
    Ok(Json(ExecutionEnd::of(ended, query.encoding.unwrap_or_default())))
}

/// Lists the attempts of an execution.
pub(crate) async fn attempts(State(ff): State<Runtime>, Id(id): Id, _: Params<NoQuery>) -> Result<Json<Attempts>> {
    Ok(Json(ff.backend().attempts(&id).await?))
}

/// Applies an action to the executions that match a filter, a page at a time, or makes a dry run.
pub(crate) async fn bulk(
    State(ff): State<Runtime>,
    caller: Caller,
    Body(mut bulk): Body<Bulk>,
) -> Result<Json<BulkPage>> {
    if bulk.action != BulkVerb::Release {
        caller.sign(&mut bulk.requested_by);
    }
    Ok(Json(ff.backend().bulk(bulk.into_args()?).await?))
}

/// The response to a submission: the location of the execution, and whether it is new.
pub(crate) struct CreatedExecution(SubmittedExecution);

impl IntoResponse for CreatedExecution {
    fn into_response(self) -> Response {
        let status = if self.0.duplicate { StatusCode::OK } else { StatusCode::CREATED };
        (status, [(header::LOCATION, location(&self.0.execution_id))], Json(self.0)).into_response()
    }
}

/// Returns the path of an execution. Braces must be escaped in a URL.
fn location(id: &ExecutionId) -> String {
    format!("/v1/executions/{}", id.to_string().replace('{', "%7B").replace('}', "%7D"))
}

pub(crate) fn key_in(headers: &HeaderMap) -> std::result::Result<Option<IdempotencyKey>, Refusal> {
    const NAME: &str = "Idempotency-Key";
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Refusal::invalid(NAME, "must be given once, is given twice"));
    }
    let text = std::str::from_utf8(value.as_bytes()).map_err(|_| Refusal::invalid(NAME, "must be UTF-8 text"))?;
    word(NAME, text).map(Some)
}

/// Returns the idempotency key from the header or the body. Refuses two different keys.
pub(crate) fn resolve_idempotency_key(
    header: Option<IdempotencyKey>,
    field: Option<IdempotencyKey>,
) -> std::result::Result<Option<IdempotencyKey>, Refusal> {
    if header.is_some() && field.is_some() && header != field {
        return Err(Refusal::invalid("idempotency_key", "differs from the Idempotency-Key header"));
    }
    Ok(header.or(field))
}

/// Submits the valid submissions, and returns the results in the order of the request.
async fn each(
    ff: &Runtime,
    read: Vec<std::result::Result<SubmitArgs, Refusal>>,
) -> Answer<Vec<Answer<SubmittedExecution>>> {
    let mut sound = Vec::new();
    let places: Vec<_> = read.into_iter().map(|one| one.map(|args| sound.push(args))).collect();
    let mut answers = ff.backend().submit_many(sound).await?.into_iter();
    let missing = || Err(EngineError::Unknown("the store answered for fewer executions than it was given".into()));
    Ok(places
        .into_iter()
        .map(|place| match place {
            Ok(()) => answers.next().unwrap_or_else(missing),
            Err(refusal) => Err(refusal.into()),
        })
        .collect())
}
