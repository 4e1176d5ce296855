//! Reading the Lua files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// A Lua file.
pub(crate) struct LuaFile {
    /// The folder in `lua` that has the file: a domain, or a folder of shared code.
    pub(crate) folder: String,
    /// The name without the extension.
    pub(crate) name: String,
    pub(crate) text: String,
}

impl LuaFile {
    /// Returns whether the file has a function, and not shared code.
    pub(crate) fn is_function(&self) -> bool {
        !matches!(self.folder.as_str(), "lib" | "clock")
    }

    /// Returns the code without comments.
    pub(crate) fn code(&self) -> impl Iterator<Item = &str> {
        self.text.lines().filter(|line| !line.trim_start().starts_with("--"))
    }

    /// Returns the header lines that begin with a word, each as the words after it. A plus after that word marks an
    /// optional line.
    pub(crate) fn header<'a>(&'a self, first: &'a str) -> impl Iterator<Item = Vec<&'a str>> {
        let header = self.text.lines().map_while(|line| line.strip_prefix("---"));
        header.filter_map(move |line| {
            let mut words = line.split_whitespace();
            (words.next().map(|word| word.trim_end_matches('+')) == Some(first)).then(|| words.collect())
        })
    }

    /// Returns the second words of the header lines that begin with a word.
    pub(crate) fn named<'a>(&'a self, first: &'a str) -> Vec<&'a str> {
        self.header(first).map(|words| words[0]).collect()
    }

    /// Returns the codes of the refusals that the code calls.
    pub(crate) fn refusals(&self) -> Vec<&str> {
        let mut codes = Vec::new();
        for line in self.code() {
            for (at, _) in line.match_indices("no.") {
                let free = !line[..at].ends_with(|before: char| before.is_alphanumeric() || "._".contains(before));
                let code = line[at + 3..].split_once('(').map_or("", |(code, _)| code);
                if free && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') {
                    codes.push(code);
                }
            }
        }
        codes
    }
}

/// Returns all Lua files, in the order of their paths.
pub(crate) fn lua_files() -> Vec<LuaFile> {
    let lua = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua");
    entries(&lua).into_iter().flat_map(|folder| read_all(&folder, &folder)).collect()
}

/// Returns the files of a folder and of the folders within it. `top` is the folder in `lua` that has them.
fn read_all(folder: &Path, top: &Path) -> Vec<LuaFile> {
    let read_one = |path: PathBuf| if path.is_dir() { read_all(&path, top) } else { vec![read(&path, top)] };
    entries(folder).into_iter().flat_map(read_one).collect()
}

/// Returns the files with functions.
pub(crate) fn functions() -> Vec<LuaFile> {
    lua_files().into_iter().filter(LuaFile::is_function).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn read(path: &Path, top: &Path) -> LuaFile {
    let part = |path: Option<&std::ffi::OsStr>| path.and_then(|part| part.to_str()).unwrap().to_owned();
    assert_eq!(path.extension().and_then(|ending| ending.to_str()), Some("lua"), "{}", path.display());
    LuaFile { folder: part(top.file_name()), name: part(path.file_stem()), text: fs::read_to_string(path).unwrap() }
}
