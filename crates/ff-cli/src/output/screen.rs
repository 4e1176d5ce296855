//! The width and the colours of the screen.

use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use comfy_table::Color;

use crate::output;

static COLOURS: AtomicBool = AtomicBool::new(false);

/// When states are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}

impl ColorChoice {
    /// Sets whether this process uses colours.
    pub(crate) fn apply(self) {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        COLOURS.store(self.decide(output::is_terminal() && !is_dumb, is_set("NO_COLOR")), Ordering::Relaxed);
    }

    fn decide(self, is_terminal: bool, no_color: bool) -> bool {
        match self {
            Self::Auto => is_terminal && !no_color,
            Self::Always => true,
            Self::Never => false,
        }
    }
}

pub(crate) fn has_colours() -> bool {
    COLOURS.load(Ordering::Relaxed)
}

/// Returns the width of the screen in columns: COLUMNS, or the width of the terminal; `None` for a pipe.
pub(crate) fn width() -> Option<usize> {
    let variable = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let has = || comfy_table::Table::new().width().map(usize::from);
    variable.filter(|columns| *columns > 0).or_else(has).filter(|columns| *columns > 0)
}

/// Returns the colour of a state by its first word.
pub(crate) fn colour(state: &str) -> Option<Color> {
    match state.split([' ', ',', '_']).next()? {
        "completed" => Some(Color::Green),
        "failed" | "expired" => Some(Color::Red),
        "active" | "running" => Some(Color::Cyan),
        "suspended" => Some(Color::Magenta),
        "waiting" | "delayed" | "rate" => Some(Color::Yellow),
        "cancelled" | "skipped" => Some(Color::DarkGrey),
        _ => None,
    }
}

/// Cuts a text to this many columns. `…` marks the cut.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if columns_of(text) <= columns {
        return text.to_owned();
    }
    let mut taken = 0;
    let fits = |character: &char| {
        taken += columns_of_one(*character);
        taken < columns
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Wraps a text between words into lines of this many columns. A longer word stays whole, so that it can be copied.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if columns_of(line) + 1 + columns_of(word) <= columns => line.extend([" ", word]),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

pub(crate) fn columns_of(text: &str) -> usize {
    text.chars().map(columns_of_one).sum()
}

/// Returns the width of a character: East Asian characters and emoji take two columns.
fn columns_of_one(character: char) -> usize {
    match u32::from(character) {
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_people_who_want_them() {
        use ColorChoice::{Always, Auto, Never};
        let cases = [
            (Auto, true, false, true),
            (Auto, false, false, false),
            (Auto, true, true, false),
            (Always, false, true, true),
            (Never, true, false, false),
        ];
        for (choice, is_terminal, no_color, expected) in cases {
            assert_eq!(choice.decide(is_terminal, no_color), expected, "{choice:?} {is_terminal} {no_color}");
        }
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!((wrap("", 7), wrap("unbreakable", 7)), (vec![String::new()], vec!["unbreakable".to_owned()]));
    }

    #[test]
    fn text_that_does_not_fit_is_cut() {
        assert_eq!((cut("abc", 3), cut("abcd", 3)), ("abc".into(), "ab…".into()));
        assert_eq!((cut("東京", 4), cut("東京都", 4)), ("東京".into(), "東…".into()));
    }
}
