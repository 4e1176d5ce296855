//! Tables people read: plain columns, which also survive `grep` and `awk`.

use std::fmt;

use comfy_table::{ContentArrangement, presets};

use crate::output;

/// Rows under headings.
pub(crate) struct Table(comfy_table::Table);

impl Table {
    pub(crate) fn new(headings: &[&str]) -> Self {
        let mut table = plain();
        table.set_header(headings);
        Self(table)
    }

    /// A table of one thing: a name and a value in each row.
    pub(crate) fn of_one() -> Self {
        Self(plain())
    }

    pub(crate) fn row<C: fmt::Display>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.0.add_row(cells.into_iter().map(|cell| printable(&cell.to_string())));
    }

    /// Writes the table. No cell is broken, so that an id can be copied; a terminal wraps what is too wide for it.
    pub(crate) fn print(self) -> anyhow::Result<()> {
        self.lines().into_iter().try_for_each(output::line)
    }

    /// The table as it would be written.
    pub(crate) fn lines(mut self) -> Vec<String> {
        for column in self.0.column_iter_mut() {
            column.set_padding((0, 2));
        }
        self.0.lines().map(|line| line.trim_end().to_owned()).collect()
    }
}

fn plain() -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table
}

/// Text on one line, with nothing in it that a terminal would obey: messages come from anybody.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.trim_end().chars() {
        match character {
            '\n' => shown.push_str(" / "),
            '\t' => shown.push(' '),
            character if output::is_obeyed(character) => shown.extend(character.escape_default()),
            character => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_nobody_elses_text() {
        assert_eq!(printable("first\nsecond\n"), "first / second");
        assert_eq!(printable("a\x1b[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(printable("pay \u{202e}001"), "pay \\u{202e}001");
        assert_eq!(printable("Zoë, 東京"), "Zoë, 東京");
    }
}
