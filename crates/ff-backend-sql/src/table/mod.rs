//! Tables as the executor declares them. Each dialect turns them into statements.

pub(crate) mod feed;
pub(crate) mod record;
pub(crate) mod schema;
pub(crate) mod value;

use std::fmt::Write;

use self::value::{Row, Value};

/// A table. Its first columns are its key.
#[derive(Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Every column, key columns first.
    pub columns: &'static [Column],
    /// Number of key columns.
    pub key: usize,
}

/// One column of a table.
#[derive(Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// The type of its values.
    pub holds: ColumnType,
    /// Whether it does not follow from the record of its row. Its value is then known only when it is written.
    pub is_apart: bool,
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Whole numbers, and times in milliseconds.
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
    /// Returns the columns of its key.
    pub fn key_columns(&self) -> &'static [Column] {
        &self.columns[..self.key]
    }

    /// Returns the set of its key columns.
    pub fn key_columns_at(&self) -> Columns {
        (0..self.key).collect()
    }

    /// Returns the set of all columns.
    pub fn all(&self) -> Columns {
        (0..self.columns.len()).collect()
    }

    /// Returns the set of columns that do not follow from the record of their row.
    pub fn columns_apart(&self) -> Columns {
        (0..self.columns.len()).filter(|at| self.columns[*at].is_apart).collect()
    }

    /// Returns the set of columns with these names.
    pub(crate) fn named(&self, names: &[&str]) -> Columns {
        (0..self.columns.len()).filter(|at| names.contains(&self.columns[*at].name)).collect()
    }

    /// Returns the position of a column in a whole row.
    pub(crate) fn place(&self, column: &str) -> usize {
        self.columns.iter().position(|of| of.name == column).unwrap_or(self.columns.len())
    }

    /// Returns the mismatches between a stored row and its record.
    pub(crate) fn strays(&self, stored: &Row, follows: impl FnOnce(Value) -> Vec<Value>) -> Vec<String> {
        let record = stored.values().get(self.place("record")).cloned().unwrap_or(Value::Null);
        // The row was found by its key, so the key is not compared.
        let columns = self.columns.iter().zip(stored.values().iter().zip(follows(record))).skip(self.key);
        let astray = columns.filter(|(_, (stored, follows))| !is_same(stored, follows));
        let difference = |(column, (stored, follows)): (&Column, (&Value, Value))| {
            format!("{} should be {}, is {}", column.name, follows.exposed(), stored.exposed())
        };
        astray.map(difference).collect()
    }

    /// Returns the columns of a set with their positions, in the order of the table.
    pub fn chosen(&self, columns: Columns) -> impl Iterator<Item = (usize, &'static Column)> {
        self.columns.iter().enumerate().filter(move |(at, _)| columns.has(*at))
    }
}

/// Returns whether two values are equal. The stored one may be bytes, from a store without a type for uuids.
fn is_same(stored: &Value, follows: &Value) -> bool {
    match (stored, follows) {
        (Value::Bytes(bytes), Value::Uuid(uuid)) => bytes.as_ref() == uuid.as_bytes(),
        _ => stored == follows,
    }
}

/// A set of columns of a table, by position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Columns(u32);

impl Columns {
    /// Returns whether it has the column at this position.
    pub fn has(self, at: usize) -> bool {
        self.0 & (1 << at) != 0
    }

    /// Returns the union of two sets.
    #[must_use]
    pub fn and(self, others: Columns) -> Self {
        Self(self.0 | others.0)
    }

    /// Returns the intersection of two sets.
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

/// Joins the parts of a statement with a separator.
pub fn list(parts: impl Iterator<Item: AsRef<str>>, between: &str) -> String {
    let mut list = String::new();
    for part in parts {
        let between = if list.is_empty() { "" } else { between };
        write!(list, "{between}{}", part.as_ref()).ok();
    }
    list
}
