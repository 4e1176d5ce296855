//! A folder of sources is one idea that a reader takes in at a glance.

use std::collections::{BTreeMap, BTreeSet};

use super::files::{self, File, Finding};

const ENTRIES_MAX: usize = 16;

/// The first files to read in a folder, which say what it holds.
const ROOTS: &[&str] = &["lib.rs", "main.rs", "mod.rs"];

/// Domains. Their modules have the same names in every crate, so a reader need not look for them.
const DOMAINS: &[&str] = &[
    "api_key",
    "budget",
    "doctor",
    "event",
    "execution",
    "explain",
    "fairness",
    "flow",
    "lane",
    "lease",
    "quota",
    "schedule",
    "signal",
    "singleton",
    "step",
    "stream",
    "suspension",
    "token",
    "trace",
    "worker",
];

/// Folders that may have more entries, each with the reason why it is still one idea.
const LARGER: &[(&str, &str)] = &[
    ("crates/ff-script/lua/execution", "one file per function, with the name of the function"),
    ("crates/ff-script/lua/flow", "one file per function, with the name of the function"),
    ("crates/ff-script/lua/published", "one file per function, with the name of the function"),
];

#[test]
fn folders_have_few_entries() {
    let findings: Vec<_> = too_large(&files::all(), LARGER).into_values().collect();
    files::assert_none(&findings, "Group the files by idea, or give the folder's reason on the list of larger ones.");
}

#[test]
fn the_list_of_larger_folders_holds_nothing_needless() {
    let found = too_large(&files::all(), &[]);
    for (folder, _) in LARGER {
        assert!(found.contains_key(*folder), "{folder} needs no exception for its number of entries");
    }
}

#[test]
fn a_folder_with_one_entry_too_many_is_found() {
    let mut sources = numbered(ENTRIES_MAX);
    assert_eq!(too_large(&sources, &[]).len(), 0);
    sources.push(source("crates/a/src/deep/er/one.lua"));
    assert!(too_large(&sources, &[]).into_keys().eq(["crates/a/src"]), "a folder is an entry, whatever is in it");
    assert_eq!(too_large(&sources, &[("crates/a/src", "one table")]).len(), 0);
}

#[test]
fn domains_roots_and_files_that_are_no_sources_are_not_counted() {
    let mut sources = numbered(ENTRIES_MAX);
    for name in ["mod.rs", "lib.rs", "main.rs", "lane.rs", "lane.lua", "flow/graph.rs", "notes.md", "notes/a.md"] {
        sources.push(source(&format!("crates/a/src/{name}")));
    }
    assert_eq!(too_large(&sources, &[]).len(), 0);
}

#[test]
fn only_folders_of_crates_are_looked_at() {
    let many = |folder: &str| (0..=ENTRIES_MAX).map(|nth| source(&format!("{folder}/f{nth}.rs"))).collect::<Vec<_>>();
    for folder in ["crates/a", "testing", "testing/tests"] {
        assert!(too_large(&many(folder), &[]).into_keys().eq([folder]));
    }
    for folder in ["crates", "docs/examples"] {
        assert_eq!(too_large(&many(folder), &[]).len(), 0, "{folder}");
    }
}

fn source(path: &str) -> File {
    File::new(path, "")
}

fn numbered(count: usize) -> Vec<File> {
    (0..count).map(|nth| source(&format!("crates/a/src/f{nth}.rs"))).collect()
}

/// Returns a finding for every folder of a crate that has too many entries, by the path of the folder.
fn too_large(files: &[File], excused: &[(&str, &str)]) -> BTreeMap<String, Finding> {
    let mut entries: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in files.iter().filter(|file| matches!(file.extension(), "rs" | "lua")) {
        for (at, _) in file.path.match_indices('/') {
            let (folder, below) = (&file.path[..at], &file.path[at + 1..]);
            let entry = below.split('/').next().unwrap_or(below);
            if is_of_a_crate(folder) && is_counted(entry) {
                entries.entry(folder).or_default().insert(entry);
            }
        }
    }
    let counts = entries.into_iter().map(|(folder, entries)| (folder, entries.len()));
    let many = counts.filter(|(folder, count)| *count > ENTRIES_MAX && excused.iter().all(|(path, _)| path != folder));
    let finding = |folder, count| File::new(folder, "").finding(1, format!("{count} entries, at most {ENTRIES_MAX}"));
    many.map(|(folder, count)| (folder.to_owned(), finding(folder, count))).collect()
}

fn is_of_a_crate(folder: &str) -> bool {
    folder.starts_with("crates/") || folder == "testing" || folder.starts_with("testing/")
}

fn is_counted(entry: &str) -> bool {
    let stem = entry.split_once('.').map_or(entry, |(stem, _)| stem);
    !ROOTS.contains(&entry) && !DOMAINS.contains(&stem)
}
