//! Buffer of the unsent writes of a batch. They are sent together, and no two of them write the same row.

use std::collections::BTreeMap;
use std::sync::Arc;

use ff_backend_sql::{Columns, Key, Over, Put, Table, Value};

use crate::statement::dialect::{Purpose, StatementCache};
use crate::statement::value::Parameter;

/// Maximum number of different combined statements.
const COMBINATIONS: usize = 128;

/// A statement with its parameters.
pub(super) type Statement = (Arc<str>, Vec<Parameter>);

/// The rows and statements to send.
#[derive(Default)]
pub(super) struct SendBuffer {
    rows: Vec<Rows>,
    statements: Vec<Statement>,
}

impl SendBuffer {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.statements.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.statements.clear();
    }

    /// Adds rows of a table.
    pub(super) fn put(&mut self, table: &'static Table, rows: Vec<Put>) {
        let (mut new, mut unknown, mut known) = (Vec::new(), Vec::new(), Vec::new());
        for Put { row, over } in rows {
            match over {
                Over::Nothing => new.push(row.into_values()),
                Over::Unknown => unknown.push(row.into_values()),
                Over::Known(changed) => known.push((changed, row.into_values())),
            }
        }
        self.add_rows(table, Purpose::Insert, new);
        self.add_rows(table, Purpose::Put, unknown);
        // The server writes whole rows anyway, so one statement writes every column that changes in any of them. A
        // column that does not follow from the record is written only in rows where it changes.
        let mut alike = BTreeMap::<Columns, (Columns, Vec<_>)>::new();
        for (changed, row) in known {
            let (all, rows) = alike.entry(changed.among(table.columns_apart())).or_default();
            *all = all.and(changed);
            rows.push(row);
        }
        for (changed, rows) in alike.into_values() {
            self.add_rows(table, Purpose::Change(changed), rows);
        }
    }

    /// Adds the deletion of rows.
    pub(super) fn remove(&mut self, table: &'static Table, keys: Vec<Key>) {
        self.add_rows(table, Purpose::Delete(table.key), keys);
    }

    fn add_rows(&mut self, table: &'static Table, purpose: Purpose, rows: Vec<Vec<Value>>) {
        if !rows.is_empty() {
            self.rows.push(Rows { table, purpose, rows });
        }
    }

    /// Adds a statement.
    pub(super) fn add(&mut self, statement: Statement) {
        self.statements.push(statement);
    }

    /// Empties the buffer and returns its writes: one combined statement, or several when the cache of combinations is full.
    pub(super) fn take(&mut self, statement_cache: &mut StatementCache) -> Vec<Statement> {
        let Self { rows, statements } = std::mem::take(self);
        let of_rows = rows.into_iter().map(|of| of.statement(statement_cache));
        let statements: Vec<_> = of_rows.chain(statements).collect();
        let texts: Vec<_> = statements.iter().map(|(sql, parameters)| (sql.clone(), parameters.len())).collect();
        match statement_cache.combine(&texts, COMBINATIONS) {
            Some(sql) => vec![(sql, statements.into_iter().flat_map(|(_, parameters)| parameters).collect())],
            None => statements,
        }
    }
}

/// Rows of one table, all written in the same way.
struct Rows {
    table: &'static Table,
    purpose: Purpose,
    /// Whole rows, or the keys of rows to delete.
    rows: Vec<Vec<Value>>,
}

impl Rows {
    /// Returns the columns that are sent.
    fn sent_columns(&self) -> Columns {
        let key = self.table.key_columns_at();
        match self.purpose {
            Purpose::Insert | Purpose::Put => self.table.all(),
            Purpose::Change(changed) => key.and(changed),
            Purpose::Delete(_) | Purpose::Load(_) | Purpose::LoadOne(_) => key,
        }
    }

    /// Returns the statement that writes all rows.
    fn statement(self, statement_cache: &mut StatementCache) -> Statement {
        let (sql, columns) = (statement_cache.get(self.table, self.purpose), self.sent_columns());
        (sql, vec![Parameter::rows(self.table, columns, self.rows)])
    }
}

#[cfg(test)]
mod tests {
    use ff_backend_sql::{EXECUTION, Row};

    use super::*;

    fn columns(names: &[&str]) -> Columns {
        (0..EXECUTION.columns.len()).filter(|at| names.contains(&EXECUTION.columns[*at].name)).collect()
    }

    /// A row keeps its result and its last attempt while other rows of the batch get new ones.
    #[test]
    fn a_result_and_an_attempt_are_written_only_in_rows_where_they_change() {
        let put = |names: &[&str]| Put {
            row: Row::new(vec![Value::Null; EXECUTION.columns.len()]),
            over: Over::Known(columns(names)),
        };
        let mut buffer = SendBuffer::default();
        let claimed = || put(&["state", "record"]);
        let completed = put(&["record", "result_type", "result", "last_attempt"]);
        let cancelled = put(&["state", "record", "last_attempt"]);
        buffer.put(&EXECUTION, vec![claimed(), completed, cancelled, put(&["changed_at", "record"]), claimed()]);
        let sent: Vec<Columns> = buffer.rows.iter().map(Rows::sent_columns).collect();
        let expected = [
            columns(&["uuid", "partition", "state", "changed_at", "record"]),
            columns(&["uuid", "partition", "state", "record", "last_attempt"]),
            columns(&["uuid", "partition", "record", "result_type", "result", "last_attempt"]),
        ];
        assert_eq!(sent, expected);
        assert_eq!(buffer.rows.iter().map(|rows| rows.rows.len()).collect::<Vec<_>>(), [3, 1, 1]);
    }

    #[test]
    fn rows_that_are_new_go_and_change_are_one_statement() {
        let key = || vec![Value::Null; EXECUTION.key];
        let row = || Row::new(vec![Value::Null; EXECUTION.columns.len()]);
        let mut buffer = SendBuffer::default();
        buffer.put(&EXECUTION, vec![Put { row: row(), over: Over::Nothing }]);
        buffer.remove(&EXECUTION, vec![key(), key()]);
        let statements = buffer.take(&mut StatementCache::default());
        let [(sql, parameters)] = &statements[..] else { panic!("{} statements", statements.len()) };
        assert_eq!(parameters.len(), 2);
        assert!(sql.contains("INSERT INTO execution") && sql.contains("DELETE FROM execution"), "{sql}");
        assert!(buffer.is_empty());
    }
}
