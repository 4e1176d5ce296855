//! `ff completions`: shells accept the scripts and complete commands with them.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::world::run_in;

fn script(shell: &str) -> String {
    run_in(Path::new(env!("CARGO_TARGET_TMPDIR")), &["completions", shell]).ok()
}

#[test]
fn bash_completes_with_the_script() {
    let query = "COMP_WORDS=(ff lanes pa); COMP_CWORD=2; _ff ff pa lanes; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let folder = TempDir::new().unwrap();
    let program = folder.path().join("program");
    fs::write(&program, format!("set -e\n{}\n{query}\n", script("bash"))).unwrap();
    let ran = Command::new("bash").arg("--norc").arg(&program).output().unwrap();
    let output = (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap());
    assert!(ran.status.success() && output.1.is_empty(), "{output:?}");
    assert_eq!(output.0.trim(), "pause");
}

#[test]
fn every_shell_has_its_own() {
    for (shell, word) in [
        ("zsh", "#compdef ff"),
        ("fish", "complete -c ff"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion:arg-completer"),
    ] {
        assert!(script(shell).contains(word), "{shell}");
    }
    run_in(Path::new(env!("CARGO_TARGET_TMPDIR")), &["completions", "tcsh"]).refused(2, "bash");
}
