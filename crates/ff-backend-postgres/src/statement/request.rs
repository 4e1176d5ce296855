//! Requests: statements with their parameters, and their answers.

use std::sync::Arc;

use ff_backend_sql::{Columns, Key, Load, Row, SqlError, Table, Value};

use super::dialect::{Purpose, StatementCache};
use super::value::{Parameter, row};
use crate::connect::connection::{Answer, Connection};
use crate::connect::driver_error::DriverError;

/// A statement with its parameters, ready to send.
pub(crate) struct Request {
    pub(crate) sql: Arc<str>,
    pub(crate) parameters: Vec<Parameter>,
    /// Number of keys or parameter sets, if each row begins with the position of its own.
    sets: Option<usize>,
}

impl Request {
    fn load(statement_cache: &mut StatementCache, table: &'static Table, wanted: Columns, keys: &[Key]) -> Self {
        if let [only] = keys {
            let parameters = only.iter().cloned().map(Parameter::one).collect();
            return Self { sql: statement_cache.get(table, Purpose::LoadOne(wanted)), parameters, sets: None };
        }
        Self {
            sql: statement_cache.get(table, Purpose::Load(wanted)),
            parameters: vec![Parameter::rows(table, table.all(), keys.to_vec())],
            sets: Some(keys.len()),
        }
    }

    /// Returns the request for a load.
    pub(crate) async fn of(
        statement_cache: &mut StatementCache,
        connection: &mut Connection,
        load: &Load,
    ) -> Result<Self, DriverError> {
        match load {
            Load::Rows(table, wanted, keys) => Ok(Self::load(statement_cache, table, *wanted, keys)),
            Load::Query(sql, sets) => Self::query(statement_cache, connection, sql, sets).await,
        }
    }

    /// Returns the request for a query with one or several sets of parameters. For several, the server is asked once for the
    /// types of the parameters.
    async fn query(
        statement_cache: &mut StatementCache,
        connection: &mut Connection,
        sql: &'static str,
        sets: &[Vec<Value>],
    ) -> Result<Self, DriverError> {
        let alone = statement_cache.alone(sql);
        if let [only] = sets {
            return Ok(Self { sql: alone, parameters: only.iter().cloned().map(Parameter::one).collect(), sets: None });
        }
        let sql = match statement_cache.together(sql) {
            Some(together) => together,
            None => {
                let statement = connection.prepare(&alone).await?;
                let types: Vec<_> = statement.params().iter().map(tokio_postgres::types::Type::name).collect();
                statement_cache.put_together(sql, &types)
            }
        };
        let each = |at: usize| Parameter::each(sets.iter().map(|set| set.get(at).cloned().unwrap_or(Value::Null)));
        let parameters = (0..sets.first().map_or(0, Vec::len)).map(each).collect();
        Ok(Self { sql, parameters, sets: Some(sets.len()) })
    }

    pub(crate) fn delete(statement_cache: &mut StatementCache, table: &'static Table, keys: &[Key]) -> Self {
        let length = keys.first().map_or(table.key, Vec::len);
        Self {
            sql: statement_cache.get(table, Purpose::Delete(length)),
            parameters: vec![Parameter::rows(table, table.all(), keys.to_vec())],
            sets: None,
        }
    }

    /// Sends the request.
    pub(crate) async fn send(self, connection: &mut Connection) -> Result<PendingRequest, DriverError> {
        Ok(PendingRequest { sets: self.sets, answer: connection.send(&self.sql, self.parameters).await? })
    }
}

/// A sent request with its pending answer.
pub(crate) struct PendingRequest {
    sets: Option<usize>,
    answer: Answer,
}

impl PendingRequest {
    /// Waits for the answer and returns its rows, grouped by key or parameter set.
    pub(crate) async fn rows(self) -> Result<Result<Vec<Vec<Row>>, SqlError>, DriverError> {
        let rows = self.answer.await?;
        Ok(match self.sets {
            None => rows.iter().map(|found| row(found, 0)).collect::<Result<_, _>>().map(|rows| vec![rows]),
            Some(sets) => by_set(&rows, sets),
        })
    }
}

/// Groups rows by the position in their first column, which counts from one.
fn by_set(rows: &[tokio_postgres::Row], sets: usize) -> Result<Vec<Vec<Row>>, SqlError> {
    let unlike = || SqlError::Unreadable("a row belongs to no request".into());
    let mut found = vec![Vec::new(); sets];
    for from in rows {
        let nth: i64 = from.try_get(0).map_err(|error| SqlError::Unreadable(error.to_string()))?;
        let place = usize::try_from(nth - 1).ok().and_then(|nth| found.get_mut(nth)).ok_or_else(unlike)?;
        place.push(row(from, 1)?);
    }
    Ok(found)
}
