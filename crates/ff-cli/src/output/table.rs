//! Tables for people, in plain columns, which `grep` and `awk` can read too.

use std::fmt;

use comfy_table::{Cell, ContentArrangement, presets};

use crate::exit::print_message;
use crate::output::{self, screen};

/// Minimum width of a column that is shortened before another one: that of a state.
const LEAST: usize = 24;

/// Rows under headings.
pub(crate) struct Table {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
    dropped: &'static [&'static str],
    shortened: &'static [&'static str],
}

impl Table {
    pub(crate) fn new(headings: &[&str]) -> Self {
        let headings = headings.iter().map(ToString::to_string).collect();
        Self { headings, rows: Vec::new(), dropped: &[], shortened: &[] }
    }

    /// Returns a table of properties, with a name and a value in each row.
    pub(crate) fn of_properties() -> Self {
        Self::new(&[])
    }

    /// Sets the columns to drop on a narrow screen, and those to shorten if that is not enough, both in this order.
    pub(crate) fn fitting(mut self, dropped: &'static [&'static str], shortened: &'static [&'static str]) -> Self {
        (self.dropped, self.shortened) = (dropped, shortened);
        self
    }

    pub(crate) fn row<C: fmt::Display>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(|cell| printable(&cell.to_string())).collect());
    }

    /// Writes the table, with coloured states if the screen has colours.
    pub(crate) fn print(self) -> anyhow::Result<()> {
        self.lines(screen::width(), screen::has_colours()).into_iter().try_for_each(output::styled)
    }

    /// Writes the table, or a message to standard error if the table has no rows.
    pub(crate) fn print_or(self, message: impl fmt::Display) -> anyhow::Result<()> {
        if !self.rows.is_empty() {
            return self.print();
        }
        print_message(message);
        Ok(())
    }

    /// Writes the table for a screen of this width, and below each row its reason, if it has one.
    pub(crate) fn print_with_reasons(
        self,
        width: usize,
        reasons: impl Iterator<Item = Option<String>>,
    ) -> anyhow::Result<()> {
        let lines = self.lines(Some(width), screen::has_colours());
        for (line, reason) in lines.into_iter().zip(std::iter::once(None).chain(reasons)) {
            output::styled(line)?;
            if let Some(reason) = reason {
                output::styled(screen::cut(&format!("  └ {}", printable(&reason)), width))?;
            }
        }
        Ok(())
    }

    /// Returns the lines of the table for a screen of this width. Only columns set by `fitting` are cut: ids stay
    /// whole, so that they can be copied.
    pub(crate) fn lines(mut self, width: Option<usize>, coloured: bool) -> Vec<String> {
        if let Some(width) = width {
            self.fit(width);
        }
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        if coloured {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        if !self.headings.is_empty() {
            table.set_header(&self.headings);
        }
        for row in &self.rows {
            let cells = row.iter().enumerate().map(|(nth, text)| {
                let is_state = self.headings.get(nth).is_some_and(|heading| heading == "STATE");
                let colour = if coloured && is_state { screen::colour(text) } else { None };
                colour.map_or_else(|| Cell::new(text), |colour| Cell::new(text).fg(colour))
            });
            table.add_row(cells);
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        table.lines().map(|line| line.trim_end().to_owned()).collect()
    }

    fn fit(&mut self, width: usize) {
        if self.headings.is_empty() {
            self.wrap(width);
        }
        for name in self.dropped {
            if self.width() <= width {
                return;
            }
            if let Some(nth) = self.headings.iter().position(|heading| heading == name) {
                self.headings.remove(nth);
                self.rows.iter_mut().for_each(|row| drop(row.remove(nth)));
            }
        }
        for (name, more) in self.shortened.iter().zip((0..self.shortened.len()).rev()) {
            let over = self.width().saturating_sub(width);
            if let Some(nth) = self.headings.iter().position(|heading| heading == name).filter(|_| over > 0) {
                let least = if more > 0 { LEAST } else { screen::columns_of(name) };
                let columns = self.columns(nth).saturating_sub(over).max(least);
                self.rows.iter_mut().for_each(|row| row[nth] = screen::cut(&row[nth], columns));
            }
        }
    }

    /// Wraps the values of a table of properties within their column.
    fn wrap(&mut self, width: usize) {
        let names = self.rows.iter().map(|row| screen::columns_of(&row[0])).max().unwrap_or(0) + 2;
        let wrapped = |row: Vec<String>| {
            let lines = screen::wrap(&row[1], width.saturating_sub(names));
            let names = std::iter::once(row[0].clone()).chain(std::iter::repeat(String::new()));
            names.zip(lines).map(|(name, line)| vec![name, line]).collect::<Vec<_>>()
        };
        self.rows = std::mem::take(&mut self.rows).into_iter().flat_map(wrapped).collect();
    }

    /// Returns the width of the table in columns of the screen.
    pub(crate) fn width(&self) -> usize {
        let all = (0..self.headings.len()).map(|nth| self.columns(nth) + 2).sum::<usize>();
        all.saturating_sub(2)
    }

    fn columns(&self, nth: usize) -> usize {
        let cells = self.rows.iter().map(|row| &row[nth]).chain([&self.headings[nth]]);
        cells.map(|cell| screen::columns_of(cell)).max().unwrap_or(0)
    }
}

/// Formats a value; `-` stands for an absent one.
pub(crate) fn or_dash(value: Option<impl fmt::Display>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// Returns a text on one line, with all characters escaped that a terminal would interpret: messages come from other users.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.trim_end().chars() {
        match character {
            '\n' => shown.push_str(" / "),
            '\t' => shown.push(' '),
            character if output::is_terminal_control(character) => shown.extend(character.escape_default()),
            character => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_screen_shows_fewer_columns_and_whole_ids() {
        let table = || {
            let mut table = Table::new(&["ID", "STATE", "KIND", "LANE"]).fitting(&["LANE"], &["KIND"]);
            table.row(["0123456789", "failed", "thumbnails", "default"]);
            table
        };
        assert_eq!(table().lines(None, false)[1], "0123456789  failed  thumbnails  default");
        assert_eq!(table().lines(Some(30), false)[1], "0123456789  failed  thumbnails");
        assert_eq!(table().lines(Some(26), false), ["ID          STATE   KIND", "0123456789  failed  thumb…"]);
        assert!(table().lines(None, true)[1].contains("\u{1b}["), "a state has a colour");
    }

    #[test]
    fn the_first_of_two_columns_is_cut_to_its_least_and_then_the_second() {
        let table = || {
            let mut table = Table::new(&["MEMBER", "STATE"]).fitting(&[], &["STATE", "MEMBER"]);
            table.row(["a-name-of-19-columns", "waiting (upstreams 10 of 2000 done)"]);
            table
        };
        assert_eq!(table().lines(Some(50), false)[1], "a-name-of-19-columns  waiting (upstreams 10 of 20…");
        assert_eq!(table().lines(Some(40), false)[1], "a-name-of-19-…  waiting (upstreams 10 o…");
    }

    #[test]
    fn a_long_value_is_wrapped_in_its_own_column() {
        let mut table = Table::of_properties();
        table.row(["failure", "no luck with this one"]);
        assert_eq!(table.lines(Some(20), false), ["failure  no luck", "         with this", "         one"]);
    }

    #[test]
    fn control_characters_in_a_table_are_escaped() {
        assert_eq!(printable("first\nsecond\n"), "first / second");
        assert_eq!(printable("a\x1b[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(printable("pay \u{202e}001"), "pay \\u{202e}001");
        assert_eq!(printable("Zoë, 東京"), "Zoë, 東京");
    }
}
