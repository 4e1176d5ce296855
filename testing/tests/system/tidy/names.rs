//! A type is a noun that says what it is, never a bare participle.

use super::files::{self, File, Finding};

/// Nouns that have the ending of a participle.
const NOUNS: &[&str] = &["Feed", "Need"];

/// Irregular participles.
const IRREGULAR: &[&str] = &[
    "Begun", "Bound", "Brought", "Built", "Done", "Drawn", "Found", "Given", "Held", "Kept", "Known", "Lost", "Made",
    "Seen", "Sent", "Shown", "Spent", "Taken", "Told", "Woken", "Written",
];

#[test]
fn no_type_is_named_by_a_participle() {
    let files: Vec<_> = files::all().into_iter().filter(|file| file.extension() == "rs").collect();
    let findings: Vec<_> = files.iter().flat_map(participles).collect();
    files::assert_none(&findings, "Name the type by what it is: a noun, with the participle before it if need be.");
}

#[test]
fn a_participle_is_found() {
    let name = concat!("Na", "med");
    for text in
        [format!("struct {name} {{"), format!("    pub(crate) enum {name}<T> {{"), format!("pub type {name} = u8;")]
    {
        let file = File::new("a.rs", format!("\n{text}\n"));
        assert_eq!(participles(&file), [file.finding(2, name)]);
    }
    let held = concat!("He", "ld");
    assert_eq!(participles(&File::new("a.rs", format!("pub trait {held}: Send {{"))).len(), 1);
    for text in ["struct Feed;", "struct NamedSpan;", "enum Event {", "let struct_named = 1;", "// struct named so"] {
        assert_eq!(participles(&File::new("a.rs", text)), [], "{text}");
    }
}

fn participles(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, text) in file.lines() {
        let Some(name) = type_name(text) else { continue };
        let is_one_word = name.chars().skip(1).all(char::is_lowercase);
        let ends_so = name.ends_with("ed") && !NOUNS.contains(&name);
        if is_one_word && (ends_so || IRREGULAR.contains(&name)) {
            findings.push(file.finding(line, name));
        }
    }
    findings
}

/// Returns the name of the type that a line declares.
fn type_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let declared = match line.strip_prefix("pub") {
        Some(rest) => rest.split_once(' ')?.1,
        None => line,
    };
    let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|word| declared.strip_prefix(word))?;
    let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| name.starts_with(char::is_uppercase))
}
