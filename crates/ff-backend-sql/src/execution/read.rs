//! Reading one execution and its side records.

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::contracts::{Attempts, ExecutionEnd, ExecutionInfo, ListArgs, Page};
use ff_core::engine_error::{Code, EngineError};
use ff_core::execution::{Attempt, Execution};
use ff_core::lease::LeaseEvent;
use ff_core::operation::query::{Describe, EndOf, NamespaceOf, ReadAttempts, ReadPayload, ReadResult};
use ff_core::payload::Payload;
use ff_core::types::{ExecutionId, Namespace};
use serde::de::DeserializeOwned;

use super::search::{SearchProgress, search};
use super::{Body, read_execution};
use crate::ReadContext;
use crate::error::{SqlError, unreadable};
use crate::flow::is_there;
use crate::queries::{ATTEMPTS_OF, EXECUTION_OF, LEASES_OF};
use crate::session::{Key, Question, Read, key_of};
use crate::table::Table;
use crate::table::record;
use crate::table::schema::EXECUTION;
use crate::table::value::Row;

#[async_trait]
impl Question for Describe {
    type Answer = ExecutionInfo;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<ExecutionInfo> {
        Ok(found(reader, &self.execution_id).await?.info())
    }
}

#[async_trait]
impl Question for NamespaceOf {
    type Answer = Option<Namespace>;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<Option<Namespace>> {
        Ok(namespace_in(reader, &EXECUTION, key_of(&self.execution_id)).await?)
    }
}

/// Returns the namespace in a row, if the row exists.
pub(crate) async fn namespace_in(
    reader: &mut dyn Read,
    table: &'static Table,
    key: Key,
) -> Result<Option<Namespace>, SqlError> {
    let rows = reader.load(table, table.named(&["namespace"]), &[key]).await?;
    let Some(row) = rows.iter().flatten().next() else { return Ok(None) };
    Namespace::parse(row.text(0)?).map(Some).map_err(unreadable("a namespace"))
}

#[async_trait]
impl Question for ReadPayload {
    type Answer = Payload;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<Payload> {
        found(reader, &self.execution_id).await?;
        let lost = || EngineError::Corrupt(format!("{} has lost its payload", self.execution_id));
        body(reader, Body::Payload, &self.execution_id).await?.ok_or_else(lost)
    }
}

#[async_trait]
impl Question for ReadResult {
    type Answer = ExecutionEnd;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<ExecutionEnd> {
        let execution = found(reader, &self.execution_id).await?;
        let result = body(reader, Body::Result, &self.execution_id).await?;
        let state = execution.public_state();
        execution.ended(result).ok_or_else(|| {
            let refusal = Code::ExecutionNotTerminal.refusal().in_state(state);
            refusal.because(format!("the execution is {state}")).into()
        })
    }
}

#[async_trait]
impl Question for EndOf {
    type Answer = Option<ExecutionEnd>;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<Option<ExecutionEnd>> {
        let execution = found(reader, &self.execution_id).await?;
        Ok(execution.ended(body(reader, Body::Result, &self.execution_id).await?))
    }
}

#[async_trait]
impl Question for ReadAttempts {
    type Answer = Attempts;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<Attempts> {
        let execution = found(reader, &self.execution_id).await?;
        let ids = [self.execution_id];
        let attempts = attempts_of(reader, &ids).await?.pop().unwrap_or_default();
        let leases = leases_of(reader, &ids).await?.pop().unwrap_or_default();
        Ok(execution.attempts(attempts, leases))
    }
}

/// Returns the ended attempts of each execution, oldest first.
pub(crate) async fn attempts_of(reader: &mut dyn Read, ids: &[ExecutionId]) -> Result<Vec<Vec<Attempt>>, SqlError> {
    let mut attempts = records(reader, ATTEMPTS_OF, ids).await?;
    for (attempts, last) in attempts.iter_mut().zip(last_attempts_of(reader, ids).await?) {
        attempts.extend(last);
    }
    Ok(attempts)
}

/// Returns the attempt each execution finished with, if any.
pub(crate) async fn last_attempts_of(
    reader: &mut dyn Read,
    ids: &[ExecutionId],
) -> Result<Vec<Option<Attempt>>, SqlError> {
    let keys: Vec<_> = ids.iter().map(key_of).collect();
    let rows = reader.load(&EXECUTION, EXECUTION.named(&["last_attempt"]), &keys).await?;
    let executions = reader.query(EXECUTION_OF, &keys).await?;
    let attempt = |(row, execution): (Option<Row>, Vec<Row>)| match (row, execution.first()) {
        (Some(row), Some(execution)) if !row.is_null(0) => {
            let attempt = read_execution(execution, 0)?.last_attempt_from_json(row.text(0)?);
            attempt.map(Some).map_err(record::unreadable)
        }
        _ => Ok(None),
    };
    rows.into_iter().zip(executions).map(attempt).collect()
}

/// Returns the lease history of each execution, oldest first.
pub(crate) async fn leases_of(reader: &mut dyn Read, ids: &[ExecutionId]) -> Result<Vec<Vec<LeaseEvent>>, SqlError> {
    records(reader, LEASES_OF, ids).await
}

/// Returns an execution, or refuses. A staged one is not found until its flow is visible.
pub(crate) async fn found(reader: &mut dyn Read, id: &ExecutionId) -> Answer<Execution> {
    let rows = reader.query(EXECUTION_OF, &[key_of(id)]).await?;
    let row = rows.into_iter().flatten().next().ok_or(Code::ExecutionNotFound)?;
    let execution = read_execution(&row, 0)?;
    match execution.membership.as_ref().filter(|_| execution.is_staged()) {
        Some(membership) if !is_there(reader, &membership.flow_id, id.partition()).await? => {
            Err(Code::ExecutionNotFound.into())
        }
        _ => Ok(execution),
    }
}

async fn body(reader: &mut dyn Read, body: Body, id: &ExecutionId) -> Result<Option<Payload>, SqlError> {
    Ok(body.of(reader, &[*id]).await?.remove(id))
}

async fn records<T: DeserializeOwned>(
    reader: &mut dyn Read,
    sql: &'static str,
    ids: &[ExecutionId],
) -> Result<Vec<Vec<T>>, SqlError> {
    let keys: Vec<_> = ids.iter().map(key_of).collect();
    let found = reader.query(sql, &keys).await?;
    found.iter().map(|rows| rows.iter().map(|row| record::read(row.text(0)?)).collect()).collect()
}

#[async_trait]
impl Question for ListArgs {
    type Answer = Page;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<Page> {
        let args = self;
        let SearchProgress { mut places, horizon } = search(reader, &args).await?;
        let next = match places.len() > args.limit {
            true => places.get(args.limit - 1).copied(),
            false => horizon,
        };
        places.truncate(args.limit);
        let keys: Vec<_> = places.iter().map(|place| key_of(&place.execution_id)).collect();
        let rows = reader.query(EXECUTION_OF, &keys).await?;
        let info = |row: &Row| Ok(read_execution(row, 0)?.info());
        Ok(Page { executions: rows.iter().flatten().map(info).collect::<Result<_, SqlError>>()?, next })
    }
}
