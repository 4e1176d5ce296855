//! Every page can be reached, its links have targets, and it names only errors that exist.

use std::collections::BTreeSet;

use ff_core::engine_error::Code;

use super::files::{self, File, Finding};

/// The pages from which a reader starts.
const ENTRANCES: &[&str] = &["README.md", "docs/README.md"];

/// Headings of table columns that hold error codes.
const CODE_COLUMNS: &[&str] = &["code", "answer"];

#[test]
fn every_page_and_example_can_be_reached() {
    let files = files::all();
    let entrances = files.iter().filter(|file| ENTRANCES.contains(&file.path.as_str()));
    let reached: BTreeSet<_> = entrances.flat_map(links).map(|link| link.leads_to).collect();
    let findings: Vec<_> = files.iter().filter_map(|file| unreached(file, &reached)).collect();
    files::assert_none(&findings, "Link it from README.md or docs/README.md.");
}

#[test]
fn every_link_leads_somewhere() {
    let pages = files::all().into_iter().filter(|file| file.extension() == "md");
    let broken: Vec<_> = pages
        .flat_map(|page| links(&page))
        .filter(|link| !files::root().join(&link.leads_to).exists())
        .map(|link| link.at)
        .collect();
    files::assert_none(&broken, "Correct the link; it is read from the folder of its page.");
}

#[test]
fn the_docs_name_only_errors_that_exist() {
    let pages: Vec<_> = files::all().into_iter().filter(|file| file.extension() == "md").collect();
    let mentions: Vec<_> = pages.iter().flat_map(codes).collect();
    assert!(mentions.len() >= 20, "only {} error codes were found in the docs", mentions.len());
    let unknown: Vec<_> = mentions.into_iter().filter(|mention| !mention.exists()).map(|mention| mention.at).collect();
    files::assert_none(&unknown, "Name a code of the error table, with its own status.");
}

#[test]
fn a_page_without_links_to_it_is_found() {
    let entrance =
        File::new("docs/README.md", "[a](a.md#part) [b](../crates/x/examples/b.rs) [c](https://example.org)\n");
    let reached: BTreeSet<_> = links(&entrance).into_iter().map(|link| link.leads_to).collect();
    assert_eq!(reached.len(), 2, "{reached:?}");
    for (path, lost) in [
        ("docs/a.md", false),
        ("docs/lost.md", true),
        ("crates/x/examples/b.rs", false),
        ("crates/x/examples/lost.rs", true),
        ("crates/x/src/lib.rs", false),
    ] {
        assert_eq!(unreached(&File::new(path, ""), &reached).is_some(), lost, "{path}");
    }
}

#[test]
fn links_are_read_from_the_folder_of_their_page() {
    let page =
        File::new("docs/domains/a.md", "see [up](../b.md)\n```\n[not a link](c.md)\n```\n[here](#part), [d](d.md)\n");
    let found: Vec<_> = links(&page).into_iter().map(|link| link.leads_to).collect();
    assert_eq!(found, ["docs/b.md", "docs/domains/d.md"]);
}

#[test]
fn an_error_that_does_not_exist_is_found() {
    for (text, exists) in [
        ("refused with `409 stale_lease`", true),
        ("refused with `404 stale_lease`", false),
        ("refused with `409 stale_leash`", false),
        ("{\"code\": \"invalid_cursor\"}", true),
        ("{\"code\":\"invalid_curser\"}", false),
        ("| code | when |\n|---|---|\n| `unknown_field` | `field` is misspelt |", true),
        ("| when | answer |\n|---|---|\n| late | done, or `lease_expird` |", false),
    ] {
        let mentions = codes(&File::new("docs/a.md", text));
        assert_eq!(mentions.iter().map(Mention::exists).collect::<Vec<_>>(), [exists], "{text}");
    }
    assert!(codes(&File::new("docs/a.md", "| name | `a_b` |\n`lease_id`, `200 OK`, in 30 `s`\n")).is_empty());
}

/// A link to another file of the repository, and its position.
struct Link {
    at: Finding,
    leads_to: String,
}

fn links(page: &File) -> Vec<Link> {
    let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut links = Vec::new();
    for (line, text) in prose(page) {
        for rest in text.split("](").skip(1) {
            let target = rest.split([')', '#']).next().unwrap_or("");
            if !target.is_empty() && !target.contains(':') {
                links.push(Link { at: page.finding(line, target), leads_to: joined(folder, target) });
            }
        }
    }
    links
}

/// Returns the lines of a page outside its fenced blocks.
fn prose(page: &File) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    page.lines().filter(move |(_, text)| {
        let fence = text.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

fn joined(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            name => parts.push(name),
        }
    }
    parts.join("/")
}

fn unreached(file: &File, reached: &BTreeSet<String>) -> Option<Finding> {
    let page = file.path.starts_with("docs/") && file.extension() == "md";
    let example = file.path.contains("/examples/") && file.extension() == "rs";
    ((page || example) && !reached.contains(&file.path)).then(|| file.finding(1, "no entrance links to it"))
}

/// A place that names an error, with its status if the page names one.
struct Mention {
    at: Finding,
    code: String,
    status: Option<u16>,
}

impl Mention {
    fn exists(&self) -> bool {
        let known = Code::from_code(&self.code);
        known.is_some_and(|code| self.status.is_none_or(|status| status == code.http_status()))
    }
}

/// Returns the errors that a page names: as the `code` of a JSON body, in a table's column of codes, or after a status.
fn codes(page: &File) -> Vec<Mention> {
    let mention = |line, code: &str, status| Mention { at: page.finding(line, code), code: code.into(), status };
    let mut mentions = Vec::new();
    let mut column = None;
    for (line, text) in page.lines() {
        mentions.extend(in_json(text).map(|code| mention(line, code, None)));
        mentions.extend(with_status(text).map(|(status, code)| mention(line, code, Some(status))));
        let cells: Vec<&str> = text.trim().trim_matches('|').split('|').map(str::trim).collect();
        if !text.starts_with('|') {
            column = None;
        } else if let Some(at) = cells.iter().position(|cell| CODE_COLUMNS.contains(cell)) {
            column = Some(at);
        } else if let Some(cell) = column.and_then(|at| cells.get(at)) {
            mentions.extend(spans(cell).filter(|span| is_word(span)).map(|code| mention(line, code, None)));
        }
    }
    mentions
}

fn in_json(text: &str) -> impl Iterator<Item = &str> {
    let values = text.split("\"code\":").skip(1);
    values.filter_map(|value| value.trim_start().strip_prefix('"')?.split('"').next())
}

fn with_status(text: &str) -> impl Iterator<Item = (u16, &str)> {
    let pairs = spans(text).filter_map(|span| span.split_once(' '));
    pairs.filter(|(_, code)| is_word(code)).filter_map(|(status, code)| Some((status.parse().ok()?, code)))
}

/// Returns the texts between backticks.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn is_word(text: &str) -> bool {
    text.contains('_') && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}
