//! Writes of a batch that were not sent yet. They are sent together, and no two of them are about one row.

use std::collections::BTreeMap;
use std::mem::replace;
use std::sync::Arc;

use ff_backend_sql::{Columns, Key, Over, Put, Table, Value};

use crate::dialect::{Purpose, StatementCache};
use crate::value::Parameter;

/// Up to so many rows are written by a value each and not by arrays, which cost the server more than a row in them.
const FEW: usize = 12;
/// How many statements are put together of such as write a row, and how many in all.
const OF_ROWS: usize = 64;
const IN_ALL: usize = 128;

/// A statement with what it takes.
pub(super) type Statement = (Arc<str>, Vec<Parameter>);

/// Rows and statements to be sent.
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
        self.add_rows(table, WriteKind::Insert, new);
        self.add_rows(table, WriteKind::Put, unknown);
        // The server writes whole rows anyway, so one statement writes every column that changes in any of them. A
        // column that does not follow from the record is written only in rows where it changes.
        let mut alike = BTreeMap::<Columns, (Columns, Vec<_>)>::new();
        for (changed, row) in known {
            let (all, rows) = alike.entry(changed.among(table.columns_apart())).or_default();
            *all = all.and(changed);
            rows.push(row);
        }
        for (changed, rows) in alike.into_values() {
            self.add_rows(table, WriteKind::Change(changed), rows);
        }
    }

    /// Adds the deletion of rows.
    pub(super) fn remove(&mut self, table: &'static Table, keys: Vec<Key>) {
        self.add_rows(table, WriteKind::Delete, keys);
    }

    fn add_rows(&mut self, table: &'static Table, kind: WriteKind, rows: Vec<Vec<Value>>) {
        if !rows.is_empty() {
            self.rows.push(Rows { table, kind, rows });
        }
    }

    /// Adds a statement.
    pub(super) fn add(&mut self, statement: Statement) {
        self.statements.push(statement);
    }

    /// The statements it takes to write all of it: one where that is known how to be put.
    pub(super) fn take(&mut self, statement_cache: &mut StatementCache) -> Vec<Statement> {
        let Self { rows, statements } = std::mem::take(self);
        if rows.iter().map(|of| of.rows.len()).sum::<usize>() <= FEW {
            let each = rows.iter().flat_map(|of| std::iter::repeat_n(of, of.rows.len()));
            let texts: Vec<_> =
                each.map(|of| (of.one(statement_cache), of.width())).chain(lengths(&statements)).collect();
            if let Some(sql) = statement_cache.combine(&texts, OF_ROWS) {
                let values = rows.into_iter().flat_map(Rows::into_values);
                let rest = statements.into_iter().flat_map(|(_, parameters)| parameters);
                return vec![(sql, values.chain(rest).collect())];
            }
        }
        let together = rows.into_iter().map(|of| of.together(statement_cache));
        let statements: Vec<_> = together.chain(statements).collect();
        match statement_cache.combine(&lengths(&statements).collect::<Vec<_>>(), IN_ALL) {
            Some(sql) => vec![(sql, statements.into_iter().flat_map(|(_, parameters)| parameters).collect())],
            None => statements,
        }
    }
}

fn lengths(statements: &[Statement]) -> impl Iterator<Item = (Arc<str>, usize)> {
    statements.iter().map(|(sql, parameters)| (sql.clone(), parameters.len()))
}

/// Rows of one table, all written in the same way.
struct Rows {
    table: &'static Table,
    kind: WriteKind,
    /// Whole rows, or the keys of rows that go.
    rows: Vec<Vec<Value>>,
}

/// How rows are written.
#[derive(Clone, Copy)]
enum WriteKind {
    Insert,
    Put,
    Change(Columns),
    Delete,
}

impl Rows {
    /// The columns a statement takes.
    fn given(&self) -> impl Iterator<Item = usize> + use<> {
        let Self { table, kind, .. } = *self;
        (0..table.columns.len()).filter(move |at| match kind {
            _ if *at < table.key => true,
            WriteKind::Insert | WriteKind::Put => true,
            WriteKind::Change(changed) => changed.has(*at),
            WriteKind::Delete => false,
        })
    }

    /// How many values one of them takes.
    fn width(&self) -> usize {
        self.given().count()
    }

    /// The statement that writes one of them.
    fn one(&self, statement_cache: &mut StatementCache) -> Arc<str> {
        let purpose = match self.kind {
            WriteKind::Insert => Purpose::InsertOne,
            WriteKind::Put => Purpose::PutOne,
            WriteKind::Change(changed) => Purpose::ChangeOne(changed),
            WriteKind::Delete => Purpose::DeleteOne,
        };
        statement_cache.get(self.table, purpose)
    }

    /// The parameters of statements that write one row each.
    fn into_values(self) -> impl Iterator<Item = Parameter> {
        let given: Columns = self.given().collect();
        let of = move |row: Vec<Value>| {
            let chosen = row.into_iter().enumerate().filter(move |(at, _)| given.has(*at));
            chosen.map(|(_, value)| Parameter::one(value))
        };
        self.rows.into_iter().flat_map(of)
    }

    /// The statement that writes all of them.
    fn together(mut self, statement_cache: &mut StatementCache) -> Statement {
        let purpose = match self.kind {
            WriteKind::Insert => Purpose::Insert,
            WriteKind::Put => Purpose::Put,
            WriteKind::Change(changed) => Purpose::Change(changed),
            WriteKind::Delete => Purpose::Delete(self.table.key),
        };
        let sql = statement_cache.get(self.table, purpose);
        let given = self.given();
        let take = |row: &mut Vec<Value>, at| row.get_mut(at).map_or(Value::Null, |value| replace(value, Value::Null));
        let array = |at| Parameter::each(self.rows.iter_mut().map(|row| take(row, at)));
        (sql, given.map(array).collect())
    }
}

#[cfg(test)]
mod tests {
    use ff_backend_sql::{EXECUTION, Row};

    use super::*;

    fn columns(names: &[&str]) -> Columns {
        (0..EXECUTION.columns.len()).filter(|at| names.contains(&EXECUTION.columns[*at].name)).collect()
    }

    /// A row that is there keeps its result and its last attempt while others of the batch are given one.
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
        let given: Vec<Columns> = buffer.rows.iter().map(|rows| rows.given().collect()).collect();
        let expected = [
            columns(&["uuid", "partition", "state", "changed_at", "record"]),
            columns(&["uuid", "partition", "state", "record", "last_attempt"]),
            columns(&["uuid", "partition", "record", "result_type", "result", "last_attempt"]),
        ];
        assert_eq!(given, expected);
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
        assert_eq!(parameters.len(), EXECUTION.columns.len() + 2 * EXECUTION.key);
        assert!(sql.contains("INSERT INTO execution") && sql.matches("DELETE FROM execution").count() == 2, "{sql}");
        assert!(buffer.is_empty());
    }
}
