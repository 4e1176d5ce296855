//! Where the server's programs are, and as whom they run.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program of the server. It does not run as root, so root runs it as the user its package made.
pub(super) fn program(name: &str) -> Command {
    let mut command = Command::new(folder().join(name));
    if let Some((user, group)) = other_user() {
        command.uid(user).gid(group);
    }
    command
}

/// The owner of the files, when it is not the user that runs the tests.
pub(super) fn other_user() -> Option<(u32, u32)> {
    let me = std::fs::metadata("/proc/self").expect("this process has an owner");
    if std::os::unix::fs::MetadataExt::uid(&me) != 0 {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").expect("the users of this machine");
    let line = users.lines().find(|line| line.starts_with("postgres:"));
    let line = line.expect("there is no user postgres to run the server as; run scripts/services to install it");
    let mut numbers = line.split(':').skip(2).map(|number| number.parse().expect("a number"));
    Some((numbers.next().expect("a user"), numbers.next().expect("a group")))
}

/// Debian keeps the programs of each version in a folder of their own; elsewhere they are where programs are.
fn folder() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian = versions.map(|version| version.path().join("bin")).filter(has_server).max();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = debian.or_else(|| std::env::split_paths(&path).find(has_server));
    found.expect("initdb is nowhere; run scripts/services to install Postgres")
}

fn has_server(folder: &PathBuf) -> bool {
    Path::new(folder).join("initdb").exists()
}
