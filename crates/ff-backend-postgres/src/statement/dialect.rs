//! Postgres statements that write and load rows, and statements that run a query for several sets of parameters.
//!
//! Rows and keys are one parameter, an array of the table's row type. With one array per column, the server would unpack each
//! array in a tuple store of its own, which costs more than unpacking a few rows.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use ff_backend_sql::{Column, Columns, Table, list};

/// Cache of statement texts.
#[derive(Default)]
pub(crate) struct StatementCache {
    of_tables: HashMap<(&'static str, Purpose), Arc<str>>,
    /// Queries by their text: as they are (`alone`), and for several sets of parameters (`together`).
    alone: HashMap<&'static str, Arc<str>>,
    together: HashMap<&'static str, Arc<str>>,
    /// Write statements combined into one, by their texts.
    combined: HashMap<Vec<Arc<str>>, Arc<str>>,
}

/// The purpose of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Purpose {
    /// Reads these columns of the rows with given keys, each with the position of its key.
    Load(Columns),
    /// Reads these columns of the row with one key.
    LoadOne(Columns),
    /// Inserts rows that do not exist.
    Insert,
    /// Inserts rows, or overwrites existing ones.
    Put,
    /// Updates these columns of existing rows.
    Change(Columns),
    /// Deletes the rows that match this number of leading key columns.
    Delete(usize),
}

impl StatementCache {
    /// Returns the statement for a purpose.
    pub(crate) fn get(&mut self, table: &'static Table, purpose: Purpose) -> Arc<str> {
        self.of_tables.entry((table.name, purpose)).or_insert_with(|| phrase(table, purpose).into()).clone()
    }

    /// Returns a query for one set of parameters.
    pub(crate) fn alone(&mut self, sql: &'static str) -> Arc<str> {
        self.alone.entry(sql).or_insert_with(|| sql.into()).clone()
    }

    /// Returns a query for several sets of parameters, if it has been built.
    pub(crate) fn together(&self, sql: &'static str) -> Option<Arc<str>> {
        self.together.get(sql).cloned()
    }

    /// Builds a query for several sets of parameters of these types.
    pub(crate) fn put_together(&mut self, sql: &'static str, types: &[&str]) -> Arc<str> {
        self.together.entry(sql).or_insert_with(|| several(sql, types).into()).clone()
    }

    /// Combines write statements into one, so that the server answers once. No two of them may write the same row. Each comes
    /// with its number of parameters, and the result takes the parameters of all of them in order. Returns `None` for a new
    /// combination when `most` are cached, because each connection keeps a plan of every one.
    pub(crate) fn combine(&mut self, statements: &[(Arc<str>, usize)], most: usize) -> Option<Arc<str>> {
        let texts: Vec<_> = statements.iter().map(|(sql, _)| sql.clone()).collect();
        if self.combined.len() >= most && !self.combined.contains_key(&texts) {
            return None;
        }
        Some(self.combined.entry(texts).or_insert_with(|| as_one(statements).into()).clone())
    }
}

fn phrase(table: &'static Table, purpose: Purpose) -> String {
    let name = table.name;
    let key = table.key_columns();
    match purpose {
        Purpose::Load(wanted) => {
            let wanted = list(table.chosen(wanted).map(|(_, column)| format!(", t.{}", column.name)), "");
            let same = same_key(key);
            format!("SELECT k.ordinality{wanted} FROM {} WITH ORDINALITY AS k JOIN {name} AS t ON {same}", rows(table))
        }
        Purpose::LoadOne(wanted) => {
            let wanted = list(table.chosen(wanted).map(|(_, column)| format!("t.{}", column.name)), ", ");
            format!("SELECT {wanted} FROM {name} AS t WHERE {}", this_key(key))
        }
        Purpose::Insert => {
            let columns = list(table.columns.iter().map(|column| column.name), ", ");
            format!("INSERT INTO {name} ({columns}) SELECT {columns} FROM {}", rows(table))
        }
        Purpose::Put => format!("{} {}", phrase(table, Purpose::Insert), over(table)),
        Purpose::Change(changed) => {
            let set = list(table.chosen(changed).map(|(_, column)| format!("{0} = k.{0}", column.name)), ", ");
            format!("UPDATE {name} AS t SET {set} FROM {} AS k WHERE {}", rows(table), same_key(key))
        }
        Purpose::Delete(length) => {
            let same = same_key(&key[..length.min(table.key)]);
            format!("DELETE FROM {name} AS t USING {} AS k WHERE {same}", rows(table))
        }
    }
}

/// Returns the rows of the single parameter. Columns that a statement does not need are null in them.
fn rows(table: &Table) -> String {
    format!("unnest($1::{}[])", table.name)
}

/// Returns the clause that makes an insertion overwrite existing rows.
fn over(table: &Table) -> String {
    let over = table.columns[table.key..].iter().map(|column| format!("{0} = excluded.{0}", column.name));
    let key = list(table.key_columns().iter().map(|column| column.name), ", ");
    format!("ON CONFLICT ({key}) DO UPDATE SET {}", list(over, ", "))
}

/// Returns the condition that a row has the key given as the first parameters.
fn this_key(key: &[Column]) -> String {
    list(key.iter().zip(1..).map(|(column, at)| format!("t.{} = ${at}", column.name)), " AND ")
}

fn same_key(key: &[Column]) -> String {
    list(key.iter().map(|column| format!("t.{0} = k.{0}", column.name)), " AND ")
}

/// Returns a query for every set of parameters. Each row begins with the position of its set; the rows of a set keep their order.
fn several(sql: &str, types: &[&str]) -> String {
    let arrays = list(types.iter().zip(1..).map(|(of, at)| format!("${at}::{of}[]")), ", ");
    let names = list((1..=types.len()).map(|at| format!("p{at}")), ", ");
    let question = sql.replace('$', "k.p");
    format!(
        "SELECT k.nth, q.* FROM unnest({arrays}) WITH ORDINALITY AS k({names}, nth) CROSS JOIN LATERAL ({question}) AS q"
    )
}

/// Returns the last statement, with the earlier ones in its `WITH` clause.
fn as_one(statements: &[(Arc<str>, usize)]) -> String {
    let (mut before, mut parts) = (0, Vec::new());
    for (sql, parameters) in statements {
        parts.push(renumbered(sql, before));
        before += parameters;
    }
    let last = parts.pop().unwrap_or_default();
    let others = list(parts.iter().zip(1..).map(|(sql, nth)| format!("w{nth} AS ({sql})")), ", ");
    if others.is_empty() { last } else { format!("WITH {others} {last}") }
}

/// Returns a statement with its parameters renumbered to follow `before` others.
fn renumbered(sql: &str, before: usize) -> String {
    let mut parts = sql.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let number = part[..digits].parse().unwrap_or(0_usize) + before;
        write!(text, "${number}{}", &part[digits..]).ok();
    }
    text
}

#[cfg(test)]
mod tests {
    use ff_backend_sql::ATTEMPT;

    use super::*;

    #[test]
    fn statements_take_rows_of_their_table() {
        let record: Columns = [3].into_iter().collect();
        for (purpose, expected) in [
            (
                Purpose::Load(record),
                "SELECT k.ordinality, t.record FROM unnest($1::attempt[]) WITH ORDINALITY AS k \
                 JOIN attempt AS t ON t.uuid = k.uuid AND t.partition = k.partition AND t.idx = k.idx",
            ),
            (
                Purpose::LoadOne(record),
                "SELECT t.record FROM attempt AS t WHERE t.uuid = $1 AND t.partition = $2 AND t.idx = $3",
            ),
            (
                Purpose::Put,
                "INSERT INTO attempt (uuid, partition, idx, record) \
                 SELECT uuid, partition, idx, record FROM unnest($1::attempt[]) \
                 ON CONFLICT (uuid, partition, idx) DO UPDATE SET record = excluded.record",
            ),
            (
                Purpose::Change(record),
                "UPDATE attempt AS t SET record = k.record FROM unnest($1::attempt[]) AS k \
                 WHERE t.uuid = k.uuid AND t.partition = k.partition AND t.idx = k.idx",
            ),
            (
                Purpose::Delete(3),
                "DELETE FROM attempt AS t USING unnest($1::attempt[]) AS k \
                 WHERE t.uuid = k.uuid AND t.partition = k.partition AND t.idx = k.idx",
            ),
            (
                Purpose::Delete(2),
                "DELETE FROM attempt AS t USING unnest($1::attempt[]) AS k \
                 WHERE t.uuid = k.uuid AND t.partition = k.partition",
            ),
        ] {
            assert_eq!(&*StatementCache::default().get(&ATTEMPT, purpose), expected);
        }
    }

    #[test]
    fn several_statements_that_write_are_one() {
        let statement = |sql: &str, parameters| (Arc::from(sql), parameters);
        let insert = statement("INSERT INTO t (a, b) SELECT * FROM unnest($1::int8[], $2::text[])", 2);
        let update = statement("UPDATE u SET c = k.c FROM unnest($1::int8[]) AS k(c)", 1);
        let last = statement("UPDATE clock SET at = greatest(at, $1) WHERE slot = $2", 2);
        let mut statement_cache = StatementCache::default();
        assert_eq!(
            statement_cache.combine(&[insert, update, last.clone()], 9).as_deref(),
            Some(
                "WITH w1 AS (INSERT INTO t (a, b) SELECT * FROM unnest($1::int8[], $2::text[])), \
                 w2 AS (UPDATE u SET c = k.c FROM unnest($3::int8[]) AS k(c)) \
                 UPDATE clock SET at = greatest(at, $4) WHERE slot = $5"
            )
        );
        assert_eq!(statement_cache.combine(std::slice::from_ref(&last), 9), Some(last.0));
    }

    #[test]
    fn there_is_an_end_to_statements_that_are_several() {
        let mut statement_cache = StatementCache::default();
        let nth = |nth: usize| [(Arc::from(format!("UPDATE t SET a = {nth}")), 0)];
        assert!((0..9).all(|each| statement_cache.combine(&nth(each), 9).is_some()));
        assert_eq!(statement_cache.combine(&nth(9), 9), None);
        assert!(statement_cache.combine(&nth(0), 9).is_some(), "those that are there stay");
        assert!(statement_cache.combine(&nth(9), 10).is_some(), "others may have more of them");
    }

    #[test]
    fn a_query_runs_once_for_all_sets_of_parameters() {
        let together =
            StatementCache::default().put_together("SELECT a FROM t WHERE b = $1 LIMIT $2", &["text", "int8"]);
        assert_eq!(
            &*together,
            "SELECT k.nth, q.* FROM unnest($1::text[], $2::int8[]) WITH ORDINALITY AS k(p1, p2, nth) \
             CROSS JOIN LATERAL (SELECT a FROM t WHERE b = k.p1 LIMIT k.p2) AS q"
        );
    }
}
