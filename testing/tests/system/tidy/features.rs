//! Dependencies have the same features for every package that is built. Otherwise building one package or an example
//! after the whole workspace would rebuild half of the tree.

use std::collections::BTreeSet;

use super::supply::{cargo, metadata};

#[test]
fn every_package_has_the_features_of_the_workspace() {
    let all = features(&["--workspace", "--edges", "normal,build,dev"]);
    assert!(all.len() > 200, "cargo listed only {} packages", all.len());
    let metadata = metadata(&["--no-deps"]);
    let packages = metadata["packages"].as_array().expect("cargo lists its packages");
    let mut findings = Vec::new();
    for name in packages.iter().filter_map(|package| package["name"].as_str()) {
        for edges in ["normal,build", "normal,build,dev"] {
            let own = features(&["--package", name, "--edges", edges]);
            findings.extend(own.difference(&all).map(|other| format!("{name} ({edges}): {other}")));
        }
    }
    assert!(
        findings.is_empty(),
        "Name these in the workspace's Cargo.toml with all their features, and in the package's.\n{}",
        findings.join("\n")
    );
}

/// A worker that talks to a server compiles no database client, and the server does not depend on its own client.
#[test]
fn a_default_sdk_brings_no_store_and_the_server_brings_no_sdk() {
    let built = |package: &str, features: &str| {
        let listed = cargo(&[
            "tree",
            "--locked",
            "--prefix",
            "none",
            "--package",
            package,
            "--edges",
            "normal,build",
            "--features",
            features,
        ]);
        listed.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let stores = ["rusqlite", "libsqlite3-sys", "tokio-postgres", "redis", "ff-backend-memory", "ff-script"];
    let sdk = built("ff-sdk", "");
    assert!(sdk.contains("reqwest") && stores.iter().all(|store| !sdk.contains(*store)), "{sdk:?}");
    let every = built("ff-sdk", "memory,postgres,sqlite,valkey");
    assert!(stores.iter().all(|store| every.contains(*store)), "{every:?}");
    assert!(!built("ff-server", "").contains("ff-sdk"));
}

/// Returns the built packages, each with its version and its features.
fn features(selected: &[&str]) -> BTreeSet<String> {
    let options = ["tree", "--locked", "--prefix", "none", "--no-dedupe", "--format", "{p}|{f}"];
    let listed = cargo(&[&options, selected].concat());
    // The crates of the workspace differ by design: the SDK has a feature for each store.
    let theirs = listed.lines().filter(|line| line.contains('|') && !line.starts_with("ff-"));
    theirs.map(|line| line.replace(" (proc-macro)", "")).collect()
}
