//! Where the programs under test are.

use std::env;
use std::path::{Path, PathBuf};

/// The binary `ff`: what `FF_BIN` names, otherwise the one built beside this test.
pub(super) fn ff() -> PathBuf {
    find("FF_BIN", "ff", "build it with `cargo build --bin ff` in the profile of this test, or name it in FF_BIN")
}

/// The worker that keeps a ledger, which cargo builds together with this test.
pub(super) fn ledger_worker() -> PathBuf {
    find("FF_LEDGER_WORKER", "ledger-worker", "build it with `cargo build -p ff-testing --bins`")
}

fn find(variable: &str, name: &str, otherwise: &str) -> PathBuf {
    if let Some(named) = env::var_os(variable) {
        return named.into();
    }
    let test = env::current_exe().unwrap();
    // Tests are built into `deps`, programs one folder above.
    let path = test.parent().and_then(Path::parent).unwrap().join(name);
    assert!(path.exists(), "there is no program {}: {otherwise}", path.display());
    path
}
