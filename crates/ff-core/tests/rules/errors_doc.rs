//! The page of error codes says what the table says. `FF_BLESS=1` rewrites the page instead of comparing it.

use std::path::Path;

use ff_core::engine_error::Code;

const INTRODUCTION: &str = "\
# Errors

Every error carries a code. Programs may rely on the code, its class and its status; the sentence is for people and may
improve. An error means that nothing was written, except `outcome_unknown`, `request_timeout` and `internal`: after
those, ask again or look.

| class | what to do about it |
|---|---|
| terminal | Do not ask again the same way: it cannot help. |
| retryable | Ask again later: it can help. Where the answer says when, wait until then. |
| cooperative | Stop politely: a limit asks for it. |
| informational | Nothing was to be done; go on. |
| bug | Report it: the engine or its caller has a defect. |
| expected | An ordinary absence; go on. |
| soft_error | Worth a warning, and no more. |

The page is made from the table in `crates/ff-core/src/error_table.rs` by
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

fn row(code: &Code) -> String {
    let class = serde_json::to_value(code.class()).expect("a class is a word");
    let class = class.as_str().expect("a class is a word");
    format!("| `{code}` | {class} | {} | {} |\n", code.http_status(), code.sentence())
}
