//! Lists the files of the console and embeds them in the server. A new file needs no line of Rust.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=console");
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("console");
    let mut files = Vec::new();
    collect(&root, &root, &mut files)?;
    files.sort();
    let mut text = String::from("static FILES: &[File] = &[\n");
    for path in files {
        let whole = root.join(&path);
        let tag = format!("\"{:016x}\"", fingerprint(&fs::read(&whole)?));
        let media_type = media_type(&path);
        writeln!(
            text,
            "    File {{ path: {path:?}, media_type: {media_type:?}, tag: {tag:?}, bytes: include_bytes!({whole:?}) }},"
        )
        .map_err(io::Error::other)?;
    }
    text.push_str("];\n");
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("console_files.rs"), text)
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else if let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str) {
            files.push(name.to_owned());
        }
    }
    Ok(())
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}

/// Returns a hash of the file, good enough to detect a changed one.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
