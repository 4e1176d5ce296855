//! The statements that write and load rows, in SQLite's words.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use ff_backend_sql::{Columns, Table};

/// Statements already put into words, by what they are for.
#[derive(Default)]
pub(crate) struct Phrases(HashMap<(&'static str, Purpose), Arc<str>>);

/// What a statement is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Purpose {
    /// Reading these columns of the row under a key.
    Load(Columns),
    /// Writing a row, over one that may be there.
    Put,
    /// Writing these columns of a row that is there; their values come first, the key's after.
    Change(Columns),
    /// Deleting the row under a key.
    Delete,
}

impl Phrases {
    /// The statement for a purpose.
    pub(crate) fn get(&mut self, table: &'static Table, purpose: Purpose) -> Arc<str> {
        self.0.entry((table.name, purpose)).or_insert_with(|| phrase(table, purpose).into()).clone()
    }
}

fn phrase(table: &'static Table, purpose: Purpose) -> String {
    let name = table.name;
    match purpose {
        Purpose::Load(wanted) => {
            let wanted = list(table.chosen(wanted).map(|(_, column)| column.name), ", ");
            format!("SELECT {wanted} FROM {name} WHERE {}", key_is(table, 1))
        }
        Purpose::Put => {
            let columns = list(names(table, 0), ", ");
            let places = list((1..=table.columns.len()).map(|at| format!("?{at}")), ", ");
            let key = list(table.key_columns().iter().map(|column| column.name), ", ");
            let over = list(names(table, table.key).map(|column| format!("{column} = excluded.{column}")), ", ");
            format!("INSERT INTO {name} ({columns}) VALUES ({places}) ON CONFLICT ({key}) DO UPDATE SET {over}")
        }
        Purpose::Change(changed) => {
            let set = table.chosen(changed).zip(1..).map(|((_, column), at)| format!("{} = ?{at}", column.name));
            let key = key_is(table, table.chosen(changed).count() + 1);
            format!("UPDATE {name} SET {} WHERE {key}", list(set, ", "))
        }
        Purpose::Delete => format!("DELETE FROM {name} WHERE {}", key_is(table, 1)),
    }
}

fn key_is(table: &'static Table, from: usize) -> String {
    list(table.key_columns().iter().zip(from..).map(|(column, at)| format!("{} = ?{at}", column.name)), " AND ")
}

fn names(table: &'static Table, from: usize) -> impl Iterator<Item = &'static str> {
    table.columns[from..].iter().map(|column| column.name)
}

fn list(parts: impl Iterator<Item: AsRef<str>>, between: &str) -> String {
    let mut list = String::new();
    for part in parts {
        let between = if list.is_empty() { "" } else { between };
        write!(list, "{between}{}", part.as_ref()).ok();
    }
    list
}

#[cfg(test)]
mod tests {
    use ff_backend_sql::ATTEMPT;

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
            (Purpose::Delete, "DELETE FROM attempt WHERE uuid = ?1 AND partition = ?2 AND idx = ?3"),
        ] {
            assert_eq!(&*Phrases::default().get(&ATTEMPT, purpose), expected);
        }
    }
}
