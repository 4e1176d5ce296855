//! Reads the Lua files and generates code from their headers: the library's text, and a Rust struct for each function
//! with its keys and arguments as fields. Their order is written once, in the header.

mod header;
mod lua;
mod rust;

use std::fs;
use std::path::{Path, PathBuf};

use header::Header;

/// The folders with functions: one per domain, and one for published functions that no store calls.
const DOMAINS: &[&str] = &[
    "budget",
    "event",
    "execution",
    "flow",
    "lane",
    "lease",
    "published",
    "quota",
    "schedule",
    "signal",
    "step",
    "stream",
    "suspension",
    "engine",
    "worker",
];

fn main() {
    let source = Path::new("lua");
    println!("cargo::rerun-if-changed=lua");
    let mut helpers: Vec<_> = files(&source.join("lib")).iter().map(|path| (stem(path), read(path))).collect();
    helpers.sort();
    let doubled = helpers.windows(2).find(|pair| pair[0].0 == pair[1].0);
    assert!(doubled.is_none(), "two helpers have the name {}", doubled.map_or("", |pair| &pair[0].0));
    let names: Vec<_> = helpers.iter().map(|(name, _)| name.as_str()).collect();
    let mut functions = Vec::new();
    for domain in DOMAINS {
        for path in files(&source.join(domain)) {
            let header = Header::parse(&stem(&path), domain, &read(&path), &names);
            functions.push(header.unwrap_or_else(|why| panic!("{}: {why}", path.display())));
        }
    }
    let clock = |name: &str| read(&source.join("clock").join(name));
    let bundle = lua::Bundle { helpers: &helpers, functions: &functions };
    write("server.lua", &bundle.render(&clock("server.lua")));
    write("test.lua", &bundle.render(&clock("test.lua")));
    write("signatures.rs", &rust::render(&functions));
}

/// Returns the files of a folder and of the folders within it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
    let mut entries: Vec<_> = entries.map(|entry| entry.unwrap_or_else(|why| panic!("{why}")).path()).collect();
    entries.sort();
    entries.into_iter().flat_map(|entry| if entry.is_dir() { files(&entry) } else { vec![entry] }).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn write(name: &str, text: &str) {
    let folder = std::env::var_os("OUT_DIR").unwrap_or_else(|| panic!("cargo says where to write"));
    let path = Path::new(&folder).join(name);
    fs::write(&path, text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
}
