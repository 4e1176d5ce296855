//! The text files of the repository, and the violations of a rule in them.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// A text file of the repository. Its path is relative to the top of the repository.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A place that violates a rule.
#[derive(Debug, PartialEq)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

impl File {
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    /// Returns the lines of the file, counted from one.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(at, line)| (at + 1, line))
    }

    /// Returns the text after the last dot of the file's name, or an empty text if there is no dot.
    pub(crate) fn extension(&self) -> &str {
        Path::new(&self.path).extension().and_then(|extension| extension.to_str()).unwrap_or("")
    }

    /// Returns whether the file is a program, as opposed to prose or data.
    pub(crate) fn is_source(&self) -> bool {
        matches!(self.extension(), "rs" | "lua" | "py" | "sh" | "sql") || is_script(&self.path)
    }

    pub(crate) fn finding(&self, line: usize, what: impl Into<String>) -> Finding {
        Finding { path: self.path.clone(), line, what: what.into() }
    }
}

/// Panics with all findings and the advice of the rule, unless there are no findings.
pub(crate) fn assert_none(findings: &[Finding], rule: &str) {
    let list: Vec<_> = findings.iter().map(Finding::to_string).collect();
    assert!(findings.is_empty(), "{rule}\n{}", list.join("\n"));
}

/// Returns the top of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns every text file of the repository, except in `.git`, `.flowfabric` and `target`.
pub(crate) fn all() -> Vec<File> {
    let mut files = Vec::new();
    walk(&root(), "", &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(files.iter().any(|file| file.path == "Cargo.toml"), "the top of the repository was not found");
    files
}

/// Returns one file by its path from the top of the repository.
pub(crate) fn one(path: &str) -> File {
    File::new(path, read(&root().join(path)))
}

fn walk(folder: &Path, prefix: &str, files: &mut Vec<File>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let entry = entry.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let name = entry.file_name().into_string().unwrap_or_else(|name| panic!("{prefix}{name:?} is not text"));
        let path = format!("{prefix}{name}");
        if entry.path().is_dir() {
            if !matches!(name.as_str(), ".git" | ".flowfabric" | "target") {
                walk(&entry.path(), &format!("{path}/"), files);
            }
        } else if is_text(&path) {
            files.push(File::new(path, read(&entry.path())));
        }
    }
}

fn is_text(path: &str) -> bool {
    let extension = Path::new(path).extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("rs" | "lua" | "py" | "sh" | "sql" | "md" | "toml" | "tsv" | "json")) || is_script(path)
}

fn is_script(path: &str) -> bool {
    path.starts_with("scripts/") || path.starts_with(".ci/")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
