//! The page of error codes agrees with the table. `FF_BLESS=1` rewrites the page instead of comparing it.

use std::path::Path;

use ff_core::engine_error::Code;

const INTRODUCTION: &str = "\
# Errors

Every error carries a code. Programs may rely on the code, its class and its status; the sentence is for people and may
improve. An error means that nothing was written, except `outcome_unknown`, `request_timeout` and `internal`: after
those, ask again or look.

| class | what to do about it |
|---|---|
| terminal | Do not retry the same request: it cannot succeed. |
| retryable | Retry later. If the response says when, wait until then. |
| cooperative | Stop: a limit asks for it. |
| informational | Nothing had to be done; continue. |
| bug | Report it: the engine or its caller has a defect. |
| expected | Something is absent, as it normally can be; continue. |
| soft_error | Worth a warning only. |

The page is made from the table in `crates/ff-core/src/engine_error/table.rs` by
`FF_BLESS=1 cargo test -p ff-core --test rules errors_doc`.

| code | class | HTTP status | what was wrong |
|---|---|---|---|
";

#[test]
fn the_page_of_errors_says_what_the_table_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
    let page = page();
    if std::env::var_os("FF_BLESS").is_some_and(|bless| bless == "1") {
        std::fs::write(&path, &page).expect("docs/errors.md can be written");
    }
    let written = std::fs::read_to_string(&path).expect("docs/errors.md can be read");
    assert!(written == page, "docs/errors.md is behind the table; run this test with FF_BLESS=1");
}

fn page() -> String {
    INTRODUCTION.to_owned() + &Code::ALL.iter().map(row).collect::<String>()
}

#[test]
fn every_code_of_the_table_is_raised() {
    let source = Source::read();
    let unused: Vec<_> = Code::ALL.iter().filter(|code| !source.raises(**code)).collect();
    assert!(unused.is_empty(), "nothing raises {unused:?}");
}

fn row(code: &Code) -> String {
    let class = serde_json::to_value(code.class()).expect("a class is a word");
    let class = class.as_str().expect("a class is a word");
    format!("| `{code}` | {class} | {} | {} |\n", code.http_status(), code.sentence())
}

/// The Rust and Lua sources of every crate, without inline test modules. The error table itself contains no `Code::`.
struct Source {
    rust: String,
    lua: String,
}

impl Source {
    fn read() -> Self {
        let mut source = Self { rust: String::new(), lua: String::new() };
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for entry in std::fs::read_dir(crates).expect("the crates can be listed") {
            let folder = entry.expect("a crate can be listed").path();
            for below in ["src", "lua"] {
                source.add(&folder.join(below));
            }
        }
        assert!(source.rust.len() > 100_000 && source.lua.len() > 10_000, "the sources were not found");
        source
    }

    fn add(&mut self, folder: &Path) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for entry in entries {
            let path = entry.expect("a source can be listed").path();
            if path.is_dir() {
                self.add(&path);
                continue;
            }
            let text = || std::fs::read_to_string(&path).expect("a source can be read");
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("rs") => self.rust += text().split("#[cfg(test)]\nmod tests").next().unwrap_or_default(),
                Some("lua") => self.lua.extend(text().lines().filter(|line| !line.starts_with("--")).map(in_line)),
                _ => {}
            }
        }
    }

    /// Returns whether any code creates an error with this code, or checks for one.
    fn raises(&self, code: Code) -> bool {
        let variant = format!("Code::{code:?}");
        let is_word = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
        let in_rust = self.rust.match_indices(&variant).any(|(at, _)| is_word(&self.rust[at + variant.len()..]));
        let refusal = format!("no.{code}");
        let in_lua = self.lua.match_indices(&refusal).any(|(at, _)| is_word(&self.lua[at + refusal.len()..]));
        in_rust || in_lua
    }
}

fn in_line(line: &str) -> String {
    format!("{line}\n")
}
