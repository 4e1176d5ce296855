//! Tables as the executor knows them: declared once, put into words by each dialect.

/// A table. Its first columns are its key.
#[derive(Debug)]
pub struct Table {
    /// What it is called.
    pub name: &'static str,
    /// Every column, the key's first.
    pub columns: &'static [Column],
    /// How many columns make the key.
    pub key: usize,
}

/// One column of a table.
#[derive(Debug)]
pub struct Column {
    /// What it is called.
    pub name: &'static str,
    /// What it holds.
    pub holds: Holds,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
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
        Self { name, holds: Holds::Int }
    }

    pub(crate) const fn text(name: &'static str) -> Self {
        Self { name, holds: Holds::Text }
    }

    pub(crate) const fn uuid(name: &'static str) -> Self {
        Self { name, holds: Holds::Uuid }
    }

    pub(crate) const fn bytes(name: &'static str) -> Self {
        Self { name, holds: Holds::Bytes }
    }
}

impl Table {
    /// The columns of its key.
    pub fn key_columns(&self) -> &'static [Column] {
        &self.columns[..self.key]
    }

    /// Every column.
    pub fn all(&self) -> Columns {
        (0..self.columns.len()).collect()
    }

    /// The columns of these names.
    pub(crate) fn named(&self, names: &[&str]) -> Columns {
        (0..self.columns.len()).filter(|at| names.contains(&self.columns[*at].name)).collect()
    }

    /// The chosen columns, in the order of the table.
    pub fn chosen(&self, columns: Columns) -> impl Iterator<Item = (usize, &'static Column)> {
        self.columns.iter().enumerate().filter(move |(at, _)| columns.has(*at))
    }
}

/// Some columns of a table, by their place in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Columns(u32);

impl Columns {
    /// Whether the column at this place is one of them.
    pub fn has(self, at: usize) -> bool {
        self.0 & (1 << at) != 0
    }
}

impl FromIterator<usize> for Columns {
    fn from_iter<I: IntoIterator<Item = usize>>(places: I) -> Self {
        Self(places.into_iter().fold(0, |bits, at| bits | 1 << at))
    }
}
