//! Finds the conformance tests: every `pub(crate) async fn name(world: World)` in `src/<domain>/<theme>.rs`, which may also take
//! `held: LeasedExecution`. Writes two files: the table of the suite, and the list of themes by domain from which the tests are
//! generated.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src");
    let (mut table, mut themes) = (String::new(), String::new());
    for folder in sorted(Path::new("src"))?.into_iter().filter(|path| path.is_dir()) {
        let domain = name(&folder);
        let mut of_domain = String::new();
        for file in sorted(&folder)?.into_iter().filter(|path| path.is_file()) {
            let (theme, text) = (name(&file), fs::read_to_string(&file)?);
            let mut promises = text.lines().filter_map(promise).peekable();
            if promises.peek().is_some() {
                of_domain += &format!("{theme}, ");
            }
            for (promise, takes_held) in promises {
                let path = format!("{domain}::{theme}::{promise}");
                let call = match takes_held {
                    true => format!("async move {{ let held = world.held().await; crate::{path}(world, held).await }}"),
                    false => format!("crate::{path}(world)"),
                };
                table += &format!("({path:?}, |world| Box::pin({call})),\n");
            }
        }
        if !of_domain.is_empty() {
            themes += &format!("{domain} {{ {of_domain}}}\n");
        }
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    fs::write(out.join("promises.rs"), format!("&[\n{table}]"))?;
    let every_theme = format!("macro_rules! every_theme {{ ($make:ident) => {{ $make! {{\n{themes}}} }}; }}");
    fs::write(out.join("themes.rs"), every_theme)
}

/// Returns the name of the promise that a line begins, and whether it takes a leased execution.
fn promise(line: &str) -> Option<(&str, bool)> {
    let (name, parameters) = line.strip_prefix("pub(crate) async fn ")?.split_once('(')?;
    match parameters {
        "world: World) {" => Some((name, false)),
        "world: World, held: LeasedExecution) {" => Some((name, true)),
        _ => None,
    }
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}

/// Returns the name of a module, which is its file name without the extension.
fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().display().to_string()
}
