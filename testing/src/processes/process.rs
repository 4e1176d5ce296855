//! A child process: its output line by line, and its end.

use std::env;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

pub use rustix::process::Signal;

/// Time limit after which an event counts as never happening.
const PATIENCE: Duration = Duration::from_secs(20);

/// Panics if the event does not happen within the time limit.
pub async fn within<T>(what: &str, happens: impl Future<Output = T>) -> T {
    timeout(PATIENCE, happens).await.unwrap_or_else(|_| panic!("never happened: {what}"))
}

/// A running program. It is killed when the value is dropped.
pub struct Process {
    name: String,
    child: Child,
    stdin: ChildStdin,
    lines: mpsc::UnboundedReceiver<String>,
}

impl Process {
    /// Starts a program. Its error output appears in the output of the test.
    pub fn start(name: &str, command: &mut Command) -> Self {
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn();
        let mut child = spawned.unwrap_or_else(|error| panic!("{name} does not start: {error}"));
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (say, lines) = mpsc::unbounded_channel();
        tokio::spawn(listen(stdout, say));
        Self { name: name.to_owned(), child, stdin, lines }
    }

    /// Returns the next line of output, or `None` at the end of the output.
    pub async fn line(&mut self) -> Option<String> {
        within(&format!("{} says something", self.name), self.lines.recv()).await
    }

    /// Returns the lines since the last call.
    pub fn new_lines(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.lines.try_recv().ok()).collect()
    }

    /// Returns all remaining lines until the process ends.
    pub async fn remaining_lines(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(line) = self.line().await {
            lines.push(line);
        }
        lines
    }

    /// Writes a line to the standard input of the process.
    pub async fn say(&mut self, line: &str) {
        self.stdin.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Sends a signal to the process.
    pub fn send(&self, signal: Signal) {
        let id = self.child.id().unwrap_or_else(|| panic!("{} has ended", self.name));
        let pid = Pid::from_raw(id.cast_signed()).unwrap();
        kill_process(pid, signal).unwrap_or_else(|error| panic!("{} cannot be signalled: {error}", self.name));
    }

    /// Returns the resident memory of the process in bytes.
    pub fn memory(&self) -> u64 {
        let id = self.child.id().unwrap_or_else(|| panic!("{} has ended", self.name));
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
        resident.and_then(|kib| kib.trim().parse::<u64>().ok()).unwrap() * 1024
    }

    /// Kills the process as a power cut would: it has no chance to react.
    pub async fn kill(&mut self) {
        self.child.start_kill().unwrap();
        self.end().await;
    }

    /// Returns whether the process is still running.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for the end of the process.
    pub async fn end(&mut self) -> ExitStatus {
        within(&format!("{} ends", self.name), self.child.wait()).await.unwrap()
    }
}

/// Forwards every line at once, so that the program never waits for the test.
async fn listen(stdout: ChildStdout, say: mpsc::UnboundedSender<String>) {
    let mut lines = BufReader::new(stdout).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if say.send(line).is_err() {
            return;
        }
    }
}

/// Returns the path of the binary `ff`: the one in `FF_BIN`, otherwise the one built together with this test.
pub(super) fn ff() -> PathBuf {
    find("FF_BIN", "ff", "build it with `cargo build --bin ff` in the profile of this test, or name it in FF_BIN")
}

/// Returns the path of the ledger worker, which cargo builds together with this test.
pub(super) fn ledger_worker() -> PathBuf {
    find("FF_LEDGER_WORKER", "ledger-worker", "build it with `cargo build -p ff-testing --bins`")
}

fn find(variable: &str, name: &str, otherwise: &str) -> PathBuf {
    if let Some(named) = env::var_os(variable) {
        return named.into();
    }
    let test = env::current_exe().unwrap();
    // Cargo builds tests into `deps` and programs into the folder above.
    let path = test.parent().and_then(Path::parent).unwrap().join(name);
    assert!(path.exists(), "there is no program {}: {otherwise}", path.display());
    path
}
