//! Tables as the executor knows them: declared once, put into words by each dialect.

use std::fmt::Write;

use crate::value::{Row, Value};

/// A table. Its first columns are its key.
#[derive(Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Every column, the key's first.
    pub columns: &'static [Column],
    /// How many columns make the key.
    pub key: usize,
}

/// One column of a table.
#[derive(Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// The type of its values.
    pub holds: ColumnType,
    /// Whether it does not follow from the record of its row, so that it is known only where it changes.
    pub is_apart: bool,
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Whole numbers, and moments in milliseconds.
    Int,
    /// Text.
    Text,
    /// Uuids.
    Uuid,
    /// Bytes.
    Bytes,
}

impl Column {
    pub(crate) const fn int(name: &'static str) -> Self {
        Self { name, holds: ColumnType::Int, is_apart: false }
    }

    pub(crate) const fn text(name: &'static str) -> Self {
        Self { name, holds: ColumnType::Text, is_apart: false }
    }

    pub(crate) const fn uuid(name: &'static str) -> Self {
        Self { name, holds: ColumnType::Uuid, is_apart: false }
    }

    pub(crate) const fn bytes(name: &'static str) -> Self {
        Self { name, holds: ColumnType::Bytes, is_apart: false }
    }

    pub(crate) const fn apart(self) -> Self {
        Self { is_apart: true, ..self }
    }
}

impl Table {
    /// The columns of its key.
    pub fn key_columns(&self) -> &'static [Column] {
        &self.columns[..self.key]
    }

    /// The columns of its key, by their places.
    pub fn key_columns_at(&self) -> Columns {
        (0..self.key).collect()
    }

    /// Every column.
    pub fn all(&self) -> Columns {
        (0..self.columns.len()).collect()
    }

    /// The columns that do not follow from the record of their row.
    pub fn columns_apart(&self) -> Columns {
        (0..self.columns.len()).filter(|at| self.columns[*at].is_apart).collect()
    }

    /// The columns of these names.
    pub(crate) fn named(&self, names: &[&str]) -> Columns {
        (0..self.columns.len()).filter(|at| names.contains(&self.columns[*at].name)).collect()
    }

    /// Where a column is in a whole row.
    pub(crate) fn place(&self, column: &str) -> usize {
        self.columns.iter().position(|of| of.name == column).unwrap_or(self.columns.len())
    }

    /// The mismatches between a stored row and its record.
    pub(crate) fn strays(&self, stored: &Row, follows: impl FnOnce(Value) -> Vec<Value>) -> Vec<String> {
        let record = stored.values().get(self.place("record")).cloned().unwrap_or(Value::Null);
        // The key is how the row was found, so it is compared as an id and not here.
        let columns = self.columns.iter().zip(stored.values().iter().zip(follows(record))).skip(self.key);
        let astray = columns.filter(|(_, (stored, follows))| !is_same(stored, follows));
        let difference = |(column, (stored, follows)): (&Column, (&Value, Value))| {
            format!("{} should be {}, is {}", column.name, follows.exposed(), stored.exposed())
        };
        astray.map(difference).collect()
    }

    /// The chosen columns, in the order of the table.
    pub fn chosen(&self, columns: Columns) -> impl Iterator<Item = (usize, &'static Column)> {
        self.columns.iter().enumerate().filter(move |(at, _)| columns.has(*at))
    }
}

/// Whether two values are the same, one of them perhaps from a store without a type for uuids.
fn is_same(stored: &Value, follows: &Value) -> bool {
    match (stored, follows) {
        (Value::Bytes(bytes), Value::Uuid(uuid)) => bytes.as_ref() == uuid.as_bytes(),
        _ => stored == follows,
    }
}

/// Some columns of a table, by their place in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Columns(u32);

impl Columns {
    /// Whether the column at this place is one of them.
    pub fn has(self, at: usize) -> bool {
        self.0 & (1 << at) != 0
    }

    /// These and others.
    #[must_use]
    pub fn and(self, others: Columns) -> Self {
        Self(self.0 | others.0)
    }

    /// Those of them that are among the others.
    #[must_use]
    pub fn among(self, others: Columns) -> Self {
        Self(self.0 & others.0)
    }
}

impl FromIterator<usize> for Columns {
    fn from_iter<I: IntoIterator<Item = usize>>(places: I) -> Self {
        Self(places.into_iter().fold(0, |bits, at| bits | 1 << at))
    }
}

/// Parts of a statement, with something between each two.
pub fn list(parts: impl Iterator<Item: AsRef<str>>, between: &str) -> String {
    let mut list = String::new();
    for part in parts {
        let between = if list.is_empty() { "" } else { between };
        write!(list, "{between}{}", part.as_ref()).ok();
    }
    list
}
