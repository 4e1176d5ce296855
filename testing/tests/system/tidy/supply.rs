//! Limits of the dependency tree: a single registry, and the licences that deny.toml allows.

use std::process::Command;

use serde_json::Value;

use super::files::{self, File, Finding};

/// The name of the registry in the lock file, for any mirror.
const REGISTRY: (&str, &str) = ("registry+", "/rust-lang/crates.io-index");

#[test]
fn every_dependency_comes_from_the_one_registry() {
    files::assert_none(&strays(&files::one("Cargo.lock")), "Depend on published crates only, with their checksum.");
}

#[test]
fn every_licence_is_allowed() {
    let allowed = allowed(&files::one("deny.toml").text);
    let metadata = metadata(&[]);
    let packages = metadata["packages"].as_array().expect("cargo lists its packages");
    assert!(packages.len() > 50, "cargo listed only {} packages", packages.len());
    let refused: Vec<_> = packages
        .iter()
        .filter(|package| !permitted(package["license"].as_str().unwrap_or(""), &allowed))
        .map(|package| format!("{} {}: licence {}", package["name"], package["version"], package["license"]))
        .collect();
    assert!(refused.is_empty(), "deny.toml allows {}\n{}", allowed.join(", "), refused.join("\n"));
}

#[test]
fn a_dependency_from_elsewhere_is_found() {
    let locked = |source: &str| File::new("Cargo.lock", format!("[[package]]\nname = \"a\"\nsource = \"{source}\"\n"));
    assert_eq!(strays(&locked("git+https://example.org/a#1")).len(), 1);
    assert_eq!(strays(&locked("registry+https://example.org/index")).len(), 1);
    assert_eq!(strays(&locked("registry+https://example.org/rust-lang/crates.io-index")).len(), 1, "no checksum");
    assert_eq!(strays(&File::new("Cargo.lock", "[[package]]\nname = \"ours\"\n")), []);
}

#[test]
fn licence_expressions_are_understood() {
    let allowed = allowed("[licenses]\nallow = [\n    \"MIT\",\n    \"Apache-2.0\",\n    \"Zlib WITH rider\",\n]\n");
    assert_eq!(allowed, ["MIT", "Apache-2.0", "Zlib WITH rider"]);
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR GPL-3.0) AND Apache-2.0", true),
        ("MIT OR Apache-2.0 AND GPL-3.0", true),
        ("(MIT OR Apache-2.0) AND GPL-3.0", false),
        ("(GPL-3.0) OR MIT", true),
        ("(MIT", false),
        ("Zlib WITH rider", true),
        ("Zlib", false),
        ("MIT MIT", false),
    ] {
        assert_eq!(permitted(expression, &allowed), expected, "{expression}");
    }
}

/// Returns the metadata of the workspace and, without other options, of all its dependencies.
pub(crate) fn metadata(options: &[&str]) -> Value {
    let output = cargo(&[&["metadata", "--format-version", "1", "--locked"], options].concat());
    serde_json::from_str(&output).unwrap_or_else(|error| panic!("cargo metadata: {error}"))
}

/// Returns the output of cargo at the top of the repository.
pub(crate) fn cargo(arguments: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(files::root())
        .output()
        .unwrap_or_else(|error| panic!("cargo {arguments:?}: {error}"));
    assert!(output.status.success(), "cargo {arguments:?}: {:?}", str::from_utf8(&output.stderr));
    String::from_utf8(output.stdout).unwrap_or_else(|error| panic!("cargo {arguments:?}: {error}"))
}

/// Returns the packages of a lock file that are not from the registry or have no checksum.
fn strays(lock: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut lines = lock.lines().peekable();
    while let Some((line, text)) = lines.next() {
        let Some(source) = text.strip_prefix("source = ") else { continue };
        let source = source.trim_matches('"');
        let pinned = lines.peek().is_some_and(|(_, next)| next.starts_with("checksum = "));
        if !(source.starts_with(REGISTRY.0) && source.ends_with(REGISTRY.1) && pinned) {
            findings.push(lock.finding(line, source));
        }
    }
    findings
}

/// Returns the licences that deny.toml allows.
fn allowed(deny: &str) -> Vec<String> {
    let list = deny.split("allow = [").nth(1).and_then(|rest| rest.split(']').next()).unwrap_or("");
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns whether allowed licences alone satisfy a licence expression.
fn permitted(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().collect::<Vec<_>>();
    words.reverse();
    either(&mut words, allowed) && words.is_empty()
}

/// Evaluates terms joined by OR. The remaining words are in reverse order.
fn either(words: &mut Vec<&str>, allowed: &[String]) -> bool {
    let mut met = both(words, allowed);
    while words.pop_if(|word| *word == "OR").is_some() {
        met |= both(words, allowed);
    }
    met
}

/// Evaluates terms joined by AND, which binds more tightly than OR.
fn both(words: &mut Vec<&str>, allowed: &[String]) -> bool {
    let mut met = term(words, allowed);
    while words.pop_if(|word| *word == "AND").is_some() {
        met &= term(words, allowed);
    }
    met
}

/// Evaluates one licence, with its exception if any, or an expression in brackets.
fn term(words: &mut Vec<&str>, allowed: &[String]) -> bool {
    let Some(first) = words.pop() else { return false };
    if first == "(" {
        let met = either(words, allowed);
        return words.pop() == Some(")") && met;
    }
    let mut licence = first.to_owned();
    if words.pop_if(|word| *word == "WITH").is_some() {
        licence = format!("{licence} WITH {}", words.pop().unwrap_or(""));
    }
    allowed.contains(&licence)
}
