//! Dependencies have the same features whichever package is built: otherwise building one package or an example after the
//! whole workspace would build half of the tree again.

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

/// The packages that are built, each with its version and its features.
fn features(selected: &[&str]) -> BTreeSet<String> {
    let options = ["tree", "--locked", "--prefix", "none", "--no-dedupe", "--format", "{p}|{f}"];
    let listed = cargo(&[&options, selected].concat());
    listed.lines().filter(|line| line.contains('|')).map(|line| line.replace(" (proc-macro)", "")).collect()
}
