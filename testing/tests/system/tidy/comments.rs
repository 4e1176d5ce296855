//! Comments say why; tickets and unfinished work belong elsewhere. Tests are never switched off.

use super::files::{self, File, Finding};

/// Words that mark something unfinished.
const UNFINISHED: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];

/// Words that name a ticket when a number follows.
const TRACKERS: &[&str] = &["issue", "ticket", "pr", "bug", "task", "milestone"];

/// Capitals with a number that name a public standard, not a ticket.
const STANDARDS: &[&str] = &["BSD", "CRC", "ISO", "SHA", "UTF"];

/// The attribute and the fence word that switch a test off.
const IGNORED: &str = concat!("#[", "ignore");
const IGNORED_FENCE: &str = concat!(",ig", "nore");

#[test]
fn comments_name_no_ticket_and_nothing_unfinished() {
    let sources = files::all().into_iter().filter(|file| file.is_source() || file.extension() == "toml");
    let findings: Vec<_> = sources.flat_map(|file| tickets(&file)).collect();
    files::assert_none(&findings, "Say why the code is as it is; history belongs to commits, plans to the tracker.");
}

#[test]
fn no_test_is_switched_off() {
    let findings: Vec<_> = files::all().iter().flat_map(switched_off).collect();
    files::assert_none(&findings, "Repair the test or remove it; mark an example that must not run as `no_run`.");
}

#[test]
fn tickets_in_comments_are_found() {
    for comment in [
        concat!("see #", "12"),
        concat!("fixes iss", "ue 7"),
        concat!("P", "R 41 did this"),
        concat!("as RF", "C-011 says"),
        concat!("FF", "-7: wait"),
        concat!("TO", "DO: later"),
        concat!("FIX", "ME"),
    ] {
        for (path, marker) in [("a.rs", "//"), ("a.rs", "///"), ("a.lua", "--"), ("a.py", "#"), ("scripts/a", "#")] {
            let file = File::new(path, format!("first\n  {marker} {comment}\n"));
            assert_eq!(tickets(&file).len(), 1, "{path}: {comment}");
        }
        let code = File::new("a.rs", format!("let text = \"{comment}\";\n"));
        assert_eq!(tickets(&code), [], "only comments are read: {comment}");
    }
}

#[test]
fn ordinary_comments_pass() {
    for comment in [
        "UTF-8 and SHA-256, as RFC 7396 has it",
        "an issue for the 3 callers",
        "[`ROLL`]: at most 100",
        "https://example.org/page#12",
        "the todo of the day",
    ] {
        assert_eq!(tickets(&File::new("a.rs", format!("let a = 1; // {comment}\n"))), [], "{comment}");
    }
}

#[test]
fn a_test_switched_off_is_found() {
    for line in [format!("    {IGNORED}]"), format!("{IGNORED} = \"slow\"]"), format!("/// ```rust{IGNORED_FENCE}")] {
        assert_eq!(switched_off(&File::new("a.rs", line.as_str())).len(), 1, "{line}");
    }
    assert_eq!(switched_off(&File::new("a.rs", "/// ```no_run\n#[test]\n")), []);
}

fn tickets(file: &File) -> Vec<Finding> {
    let marker = match file.extension() {
        "rs" => "//",
        "lua" | "sql" => "--",
        _ => "#",
    };
    let comments = file.lines().filter_map(|(line, text)| Some((line, comment(text, marker)?)));
    comments.filter_map(|(line, text)| Some(file.finding(line, ticket(text)?))).collect()
}

/// Returns the comment of a line: the text after the first marker outside a string.
fn comment<'a>(line: &'a str, marker: &str) -> Option<&'a str> {
    let free = |at: usize| {
        let before = line[..at].replace("\\\"", "").replace("'\"'", "");
        let inside = before.matches('"').count() % 2 == 1;
        let touching = before.chars().next_back().is_some_and(|last| marker != "//" && !last.is_whitespace());
        !inside && !touching && !before.ends_with(':')
    };
    line.match_indices(marker).find(|(at, _)| free(*at)).map(|(at, _)| &line[at + marker.len()..])
}

/// Returns the words of a comment that read like a ticket or a note to self.
fn ticket(comment: &str) -> Option<String> {
    let words: Vec<&str> = comment.split(|c: char| c.is_whitespace() || "()[],;".contains(c)).collect();
    let found = words.iter().enumerate().find(|(at, word)| {
        let next = words.get(at + 1).copied().unwrap_or("");
        is_unfinished(word) || is_number_sign(word) || is_ticket_id(word) || (is_tracker(word) && is_number(next))
    });
    found.map(|(at, word)| format!("reads like a ticket: {} {}", word, words.get(at + 1).unwrap_or(&"")))
}

fn is_unfinished(word: &str) -> bool {
    UNFINISHED.contains(&word.trim_matches(|c: char| !c.is_alphanumeric()))
}

/// Returns whether a word is like `#12`, but not the anchor of an address.
fn is_number_sign(word: &str) -> bool {
    word.strip_prefix('#').is_some_and(is_number)
}

/// Returns whether a word consists of capitals, a dash and a number.
fn is_ticket_id(word: &str) -> bool {
    let Some((project, number)) = word.split_once('-') else { return false };
    let capitals = project.len() >= 2 && project.bytes().all(|byte| byte.is_ascii_uppercase());
    capitals && is_number(number) && !STANDARDS.contains(&project)
}

fn is_tracker(word: &str) -> bool {
    TRACKERS.contains(&word.to_ascii_lowercase().as_str())
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

fn switched_off(file: &File) -> Vec<Finding> {
    let off = |line: &str| {
        let fence = line.contains("```") && (line.contains(IGNORED_FENCE) || line.ends_with(&IGNORED_FENCE[1..]));
        (file.extension() == "rs" && line.trim_start().starts_with(IGNORED)) || fence
    };
    file.lines().filter(|(_, text)| off(text)).map(|(line, text)| file.finding(line, text.trim())).collect()
}
