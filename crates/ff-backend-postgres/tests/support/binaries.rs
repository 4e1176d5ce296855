//! The server's programs and the user that runs them.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns a command for a program of the server. The server refuses to run as root, so root runs it as the user that its package
/// made.
pub(super) fn program(name: &str) -> Command {
    let mut command = Command::new(folder().join(name));
    if let Some((user, group)) = other_user() {
        command.uid(user).gid(group);
    }
    command
}

/// Returns the owner of the server's files, if it is not the user that runs the tests.
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

/// Returns the folder of the server's programs. Debian has one per version; elsewhere it is in the path.
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
