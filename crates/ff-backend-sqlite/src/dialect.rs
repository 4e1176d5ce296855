//! SQLite statements that write and load rows.

use std::collections::HashMap;
use std::sync::Arc;

use ff_backend_sql::{Column, Columns, Table, list};

/// Cache of statement texts.
#[derive(Default)]
pub(crate) struct StatementCache(HashMap<(&'static str, Purpose), Arc<str>>);

/// The purpose of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Purpose {
    /// Reads these columns of the row with a key.
    Load(Columns),
    /// Inserts a row that does not exist.
    Insert,
    /// Inserts a row, or overwrites an existing one.
    Put,
    /// Updates these columns of an existing row. The parameters are their values, followed by the key.
    Change(Columns),
    /// Deletes the rows that match this number of leading key columns.
    Delete(usize),
}

impl StatementCache {
    /// Returns the statement for a purpose.
    pub(crate) fn get(&mut self, table: &'static Table, purpose: Purpose) -> Arc<str> {
        self.0.entry((table.name, purpose)).or_insert_with(|| phrase(table, purpose).into()).clone()
    }
}

fn phrase(table: &'static Table, purpose: Purpose) -> String {
    let name = table.name;
    match purpose {
        Purpose::Load(wanted) => {
            let wanted = list(table.chosen(wanted).map(|(_, column)| column.name), ", ");
            format!("SELECT {wanted} FROM {name} WHERE {}", key_is(table.key_columns(), 1))
        }
        Purpose::Insert => {
            let columns = list(names(table, 0), ", ");
            let places = list((1..=table.columns.len()).map(|at| format!("?{at}")), ", ");
            format!("INSERT INTO {name} ({columns}) VALUES ({places})")
        }
        Purpose::Put => {
            let insert = phrase(table, Purpose::Insert);
            let key = list(table.key_columns().iter().map(|column| column.name), ", ");
            let over = list(names(table, table.key).map(|column| format!("{column} = excluded.{column}")), ", ");
            format!("{insert} ON CONFLICT ({key}) DO UPDATE SET {over}")
        }
        Purpose::Change(changed) => {
            let set = table.chosen(changed).zip(1..).map(|((_, column), at)| format!("{} = ?{at}", column.name));
            let key = key_is(table.key_columns(), table.chosen(changed).count() + 1);
            format!("UPDATE {name} SET {} WHERE {key}", list(set, ", "))
        }
        Purpose::Delete(length) => {
            format!("DELETE FROM {name} WHERE {}", key_is(&table.key_columns()[..length.min(table.key)], 1))
        }
    }
}

fn key_is(columns: &[Column], from: usize) -> String {
    list(columns.iter().zip(from..).map(|(column, at)| format!("{} = ?{at}", column.name)), " AND ")
}

fn names(table: &'static Table, from: usize) -> impl Iterator<Item = &'static str> {
    table.columns[from..].iter().map(|column| column.name)
}

#[cfg(test)]
mod tests {
    use ff_backend_sql::{ATTEMPT, TAG};

    use super::*;

    #[test]
    fn statements_name_their_columns_and_count_their_parameters() {
        let record: Columns = [3].into_iter().collect();
        for (purpose, expected) in [
            (Purpose::Load(record), "SELECT record FROM attempt WHERE uuid = ?1 AND partition = ?2 AND idx = ?3"),
            (
                Purpose::Put,
                "INSERT INTO attempt (uuid, partition, idx, record) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (uuid, partition, idx) DO UPDATE SET record = excluded.record",
            ),
            (Purpose::Change(record), "UPDATE attempt SET record = ?1 WHERE uuid = ?2 AND partition = ?3 AND idx = ?4"),
            (Purpose::Delete(3), "DELETE FROM attempt WHERE uuid = ?1 AND partition = ?2 AND idx = ?3"),
            (Purpose::Delete(2), "DELETE FROM attempt WHERE uuid = ?1 AND partition = ?2"),
        ] {
            assert_eq!(&*StatementCache::default().get(&ATTEMPT, purpose), expected);
        }
        let label = StatementCache::default().get(&TAG, Purpose::Insert);
        assert!(label.ends_with("VALUES (?1, ?2, ?3, ?4, ?5, ?6)"), "{label}");
    }
}
