//! What a batch has written and the server has not been sent. It goes together, and no two of it are about one row.

use std::mem::replace;
use std::sync::Arc;

use ff_backend_sql::{Columns, Put, Table, Value};

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

    /// Takes up rows of a table.
    pub(super) fn put(&mut self, table: &'static Table, rows: Vec<Put>) {
        let (known, new): (Vec<_>, Vec<_>) = rows.into_iter().partition(|put| put.changed.is_some());
        // The server writes whole rows anyway, so every statement writes whatever changes in any of them.
        let changes = |at: &usize| known.iter().any(|put| put.changed.is_some_and(|changed| changed.has(*at)));
        let changed = (table.key..table.columns.len()).filter(changes).collect();
        let of = |changed, rows: Vec<Put>| {
            let rows = rows.into_iter().map(|put| put.row.into_values()).collect();
            Rows { table, changed, rows }
        };
        let both = [of(None, new), of(Some(changed), known)];
        self.rows.extend(both.into_iter().filter(|rows| !rows.rows.is_empty()));
    }

    /// Takes up a statement.
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

/// Whole rows of one table.
struct Rows {
    table: &'static Table,
    /// What changes of them; nothing when they are new, or may be.
    changed: Option<Columns>,
    rows: Vec<Vec<Value>>,
}

impl Rows {
    /// The columns a statement takes.
    fn given(&self) -> impl Iterator<Item = usize> + use<> {
        let Self { table, changed, .. } = *self;
        (0..table.columns.len()).filter(move |at| *at < table.key || changed.is_none_or(|changed| changed.has(*at)))
    }

    /// How many values one of them takes.
    fn width(&self) -> usize {
        self.given().count()
    }

    /// The statement that writes one of them.
    fn one(&self, statement_cache: &mut StatementCache) -> Arc<str> {
        statement_cache.get(self.table, self.changed.map_or(Purpose::PutOne, Purpose::ChangeOne))
    }

    /// What statements take that write one of them each.
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
        let sql = statement_cache.get(self.table, self.changed.map_or(Purpose::Put, Purpose::Change));
        let given = self.given();
        let take = |row: &mut Vec<Value>, at| row.get_mut(at).map_or(Value::Null, |value| replace(value, Value::Null));
        let array = |at| Parameter::each(self.rows.iter_mut().map(|row| take(row, at)));
        (sql, given.map(array).collect())
    }
}
