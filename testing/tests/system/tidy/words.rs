//! Files describe the product, not how or where it is made.

use super::files::{self, File, Finding};

const HOW_IT_IS_MADE: &[&str] = &[concat!("sub", "agent"), concat!("this", " session"), concat!("coding", " agent")];

/// Folders of a developer's machine.
const PLACES: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/")];

#[test]
fn nothing_says_how_it_is_made() {
    let findings: Vec<_> = files::all().iter().flat_map(making).collect();
    files::assert_none(&findings, "Say what the product does; how it came about is nobody's business here.");
}

#[test]
fn no_path_of_a_machine_is_written_down() {
    let findings: Vec<_> = files::all().iter().flat_map(places).collect();
    files::assert_none(&findings, "Write paths from the top of the repository, or take them as an argument.");
}

#[test]
fn words_about_the_making_are_found() {
    for word in HOW_IT_IS_MADE {
        let file = File::new("docs/a.md", format!("fine\nA {}s story\n", word.to_uppercase()));
        assert_eq!(making(&file), [file.finding(2, *word)]);
    }
    assert_eq!(making(&File::new("docs/a.md", "LLM agents run work in a session.\n")), []);
}

#[test]
fn paths_of_a_machine_are_found() {
    for place in PLACES {
        let file = File::new("a.rs", format!("let path = \"{place}main\";\n"));
        assert_eq!(places(&file), [file.finding(1, *place)]);
        assert_eq!(places(&File::new("a.rs", format!("join(\"tree{place}branch\")\n"))), [], "inside a longer path");
    }
}

fn making(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, text) in file.lines() {
        let text = text.to_lowercase();
        let found = HOW_IT_IS_MADE.iter().filter(|word| text.contains(*word));
        findings.extend(found.map(|word| file.finding(line, *word)));
    }
    findings
}

fn places(file: &File) -> Vec<Finding> {
    let absolute = |text: &str, place: &str| {
        let inside = |before: &str| before.ends_with(|c: char| c.is_alphanumeric() || "._-}".contains(c));
        text.match_indices(place).any(|(at, _)| !inside(&text[..at]))
    };
    let mut findings = Vec::new();
    for (line, text) in file.lines() {
        findings.extend(PLACES.iter().filter(|place| absolute(text, place)).map(|place| file.finding(line, *place)));
    }
    findings
}
