//! A crate depends only on crates of earlier rows.

use serde_json::Value;

use super::supply::metadata;

/// The rows of crates, from the lowest. A crate may depend on the crates before it.
const ROWS: &[&str] = &[
    "ff-core",
    "ff-engine",
    "ff-random-ops",
    "ff-api",
    "ff-script",
    "ff-backend-memory",
    "ff-backend-sql",
    "ff-backend-sqlite",
    "ff-backend-postgres",
    "ff-backend-valkey",
    "ff-scheduler",
    "ff-sdk",
    "ff-server",
    "ff-bench",
    "ff-cli",
];

/// Test crates, which may depend on every crate. No crate depends on them.
const TEST_CRATES: &[&str] = &["ff-conformance", "ff-testing"];

#[test]
fn crates_rest_only_on_rows_above() {
    let mut findings = Vec::new();
    let metadata = metadata(&["--no-deps"]);
    for package in metadata["packages"].as_array().expect("cargo lists its packages") {
        let uses: Vec<&str> = package["dependencies"].as_array().into_iter().flatten().filter_map(ours).collect();
        let name = package["name"].as_str().unwrap_or_default();
        findings.extend(misplaced(name, &uses).into_iter().map(|what| format!("crates/{name}/Cargo.toml: {what}")));
    }
    assert!(findings.is_empty(), "A crate depends only on crates of earlier rows.\n{}", findings.join("\n"));
}

#[test]
fn a_dependency_upwards_is_found() {
    assert_eq!(misplaced("ff-core", &["ff-sdk"]), ["uses ff-sdk, which is not on a row above it"]);
    assert_eq!(misplaced("ff-engine", &["ff-core", "ff-conformance"]).len(), 1);
    assert_eq!(misplaced("ff-other", &[]).len(), 1);
    assert_eq!(misplaced("ff-server", &["ff-core", "ff-engine", "ff-sdk"]), [""; 0]);
    assert_eq!(misplaced("ff-conformance", &["ff-server", "ff-sdk"]), [""; 0]);
}

/// Returns the name of a dependency if it is a crate of this workspace. Dependencies of tests must respect the rows
/// too, but the tests of every layer may use the store in memory.
fn ours(dependency: &Value) -> Option<&str> {
    let name = dependency["path"].as_str().and(dependency["name"].as_str());
    name.filter(|name| dependency["kind"] != "dev" || *name != "ff-backend-memory")
}

fn misplaced(name: &str, uses: &[&str]) -> Vec<String> {
    if TEST_CRATES.contains(&name) {
        return Vec::new();
    }
    let Some(row) = ROWS.iter().position(|crate_name| *crate_name == name) else {
        return vec![format!("{name} has no row; give it one in this test and in ARCHITECTURE.md")];
    };
    let below = |used: &&&str| !ROWS[..row].contains(used);
    uses.iter()
        .filter(|used| **used != name)
        .filter(below)
        .map(|used| format!("uses {used}, which is not on a row above it"))
        .collect()
}
