//! A file contains one concept and begins with a comment that names it.

use super::files::{self, File, Finding};

const LINES_MAX: usize = 400;

/// Files that may be longer, each with the reason why it is still one concept.
const LONGER: &[(&str, &str)] = &[];

/// Files that cannot begin with a module comment, each with the reason.
const WITHOUT_HEADER: &[(&str, &str)] = &[(
    "crates/ff-core/src/engine_error/table.rs",
    "included into the middle of another module, which says what it is",
)];

#[test]
fn source_files_are_short() {
    let findings: Vec<_> = sources().iter().filter_map(|file| too_long(file, LONGER)).collect();
    files::assert_none(&findings, "Split the file by idea, or give its reason on the list of longer ones.");
}

#[test]
fn every_module_says_what_it_is() {
    let findings: Vec<_> = sources().iter().filter_map(|file| headless(file, WITHOUT_HEADER)).collect();
    files::assert_none(&findings, "Begin the file with `//!` and a sentence that says what it holds.");
}

#[test]
fn the_lists_of_exceptions_hold_nothing_needless() {
    let sources = sources();
    for (path, _) in LONGER {
        let file = sources.iter().find(|file| file.path == *path);
        assert!(file.is_some_and(|file| too_long(file, &[]).is_some()), "{path} needs no exception for its length");
    }
    for (path, _) in WITHOUT_HEADER {
        let file = sources.iter().find(|file| file.path == *path);
        assert!(file.is_some_and(|file| headless(file, &[]).is_some()), "{path} needs no exception for its header");
    }
}

#[test]
fn a_file_one_line_too_long_is_found() {
    let lines = |count| File::new("a.rs", "x\n".repeat(count));
    assert_eq!(too_long(&lines(LINES_MAX), &[]), None);
    assert!(too_long(&lines(LINES_MAX + 1), &[]).is_some());
    assert_eq!(too_long(&lines(LINES_MAX + 1), &[("a.rs", "one table")]), None);
}

#[test]
fn a_module_without_a_header_is_found() {
    assert!(headless(&File::new("a.rs", "use std::fmt;\n//! Late.\n"), &[]).is_some());
    assert!(headless(&File::new("a.rs", ""), &[]).is_some());
    assert_eq!(headless(&File::new("a.rs", "//! What this is.\n"), &[]), None);
    assert_eq!(headless(&File::new("a.lua", "return 1\n"), &[]), None);
}

fn sources() -> Vec<File> {
    files::all().into_iter().filter(File::is_source).collect()
}

fn too_long(file: &File, longer: &[(&str, &str)]) -> Option<Finding> {
    let count = file.text.lines().count();
    let excused = longer.iter().any(|(path, _)| *path == file.path);
    (count > LINES_MAX && !excused).then(|| file.finding(LINES_MAX + 1, format!("{count} lines, at most {LINES_MAX}")))
}

fn headless(file: &File, excused: &[(&str, &str)]) -> Option<Finding> {
    let says = file.text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line.starts_with("//!"));
    let applies = file.extension() == "rs" && !excused.iter().any(|(path, _)| *path == file.path);
    (applies && !says).then(|| file.finding(1, "no module comment"))
}
