//! A server for one test, and the commands run against it.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use std::{env, thread};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// Maximum time of an operation that succeeds. It is shorter than a lease, so that no test passes because a lease expired.
const LONG: Duration = Duration::from_secs(20);

/// A folder, and `ff dev` running in it.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) server: String,
    pub(crate) dev: Process,
}

impl World {
    pub(crate) fn start() -> Self {
        Self::within(TempDir::new().unwrap())
    }

    /// Starts `ff dev` in a folder that may already contain a store.
    pub(crate) fn within(folder: TempDir) -> Self {
        Self::start_with(folder, &[])
    }

    /// Starts `ff dev` with additional options.
    pub(crate) fn with(options: &[&str]) -> Self {
        Self::start_with(TempDir::new().unwrap(), options)
    }

    fn start_with(folder: TempDir, options: &[&str]) -> Self {
        let mut command = dev(folder.path());
        command.args(options);
        let dev = Process::start(command);
        let server = dev.prints("  server  ").trim().replace("server  ", "");
        Self { folder, server, dev }
    }

    /// Stops the server and keeps the folder.
    pub(crate) fn stop(self) -> TempDir {
        assert!(self.dev.stop().success());
        self.folder
    }

    /// Returns a command that uses this server.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = command(self.folder.path(), args);
        command.env("FF_SERVER", &self.server);
        command
    }

    /// Returns a command that runs on a terminal, which shows standard output and standard error together. `script` is
    /// part of util-linux.
    pub(crate) fn on_a_terminal(&self, args: &[&str]) -> Command {
        let quoted: Vec<_> = args.iter().map(|arg| format!("'{arg}'")).collect();
        let typed = format!("{} {}", env!("CARGO_BIN_EXE_ff"), quoted.join(" "));
        let mut command = program("script", self.folder.path(), &["-qec", &typed, "/dev/null"]);
        command.env("FF_SERVER", &self.server).env("TERM", "xterm").env_remove("NO_COLOR");
        command
    }

    /// Runs a command on a screen of this width, and asserts that its output fits.
    pub(crate) fn on_columns(&self, columns: usize, args: &[&str]) -> CommandRun {
        let mut command = self.command(args);
        command.env("COLUMNS", columns.to_string());
        let ran = CommandRun::of(command);
        assert!(ran.text().lines().all(|line| line.chars().count() <= columns), "{}", ran.text());
        ran
    }

    /// Runs a command to its end.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> CommandRun {
        CommandRun::of(self.command(args))
    }

    /// Returns the output of a command that must succeed, without white space at its end.
    pub(crate) fn ok<S: AsRef<OsStr>>(&self, args: &[S]) -> String {
        self.run(args).ok()
    }

    /// Returns the JSON document that a command prints with `--json`; the command must succeed.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        self.run(&[args, &["--json"]].concat()).json()
    }

    /// Starts a command in the background.
    pub(crate) fn spawn(&self, args: &[&str]) -> Process {
        Process::start(self.command(args))
    }

    /// Starts a worker that runs a command for executions of a kind.
    pub(crate) fn worker(&self, kind: &str, exec: &str) -> Process {
        self.spawn(&["worker", "--kind", kind, "--exec", exec])
    }
}

/// Returns the command `ff` in a folder, without the `FF_*`, log and trace variables of this process.
pub(crate) fn command<S: AsRef<OsStr>>(folder: &Path, args: &[S]) -> Command {
    program(env!("CARGO_BIN_EXE_ff"), folder, args)
}

/// Runs the command `ff` in a folder to its end.
pub(crate) fn run_in<S: AsRef<OsStr>>(folder: &Path, args: &[S]) -> CommandRun {
    CommandRun::of(command(folder, args))
}

/// Splits arguments without spaces.
pub(crate) fn words(args: &str) -> Vec<&str> {
    args.split_whitespace().collect()
}

/// Returns the ids of the executions on a page.
pub(crate) fn ids(page: &Value) -> Vec<String> {
    let executions = page["executions"].as_array().unwrap();
    executions.iter().map(|info| info["execution_id"].as_str().unwrap().to_owned()).collect()
}

fn program<S: AsRef<OsStr>>(name: &str, folder: &Path, args: &[S]) -> Command {
    let mut command = Command::new(name);
    command.args(args).current_dir(folder);
    let ours = env::vars_os().map(|(name, _)| name).filter(|name| name.to_string_lossy().starts_with("FF_"));
    for name in ours.chain(["RUST_LOG", "TRACEPARENT", "TRACESTATE"].map(OsString::from)) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Returns the command `ff dev` in a folder, with a free port.
pub(crate) fn dev(folder: &Path) -> Command {
    command(folder, &["dev", "--listen", "127.0.0.1:0"])
}

/// The output and exit code of a command that has ended.
pub(crate) struct CommandRun {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl CommandRun {
    pub(crate) fn of(mut command: Command) -> Self {
        Self::ended(command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }

    /// Runs a command that reads `input`.
    pub(crate) fn fed(mut command: Command, input: &[u8]) -> Self {
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        Self::ended(child)
    }

    fn ended(child: Child) -> Self {
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        Self { code: output.status.code(), stdout: output.stdout, stderr }
    }

    pub(crate) fn text(&self) -> &str {
        str::from_utf8(&self.stdout).unwrap()
    }

    /// Returns the output. Asserts success, and that standard error is empty.
    pub(crate) fn ok(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "printed {}", self.text());
        self.text().trim_end().to_owned()
    }

    pub(crate) fn json(self) -> Value {
        let text = self.ok();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Asserts the exit code, an empty standard output, and an error that contains `complaint`.
    pub(crate) fn refused(self, code: i32, complaint: &str) {
        assert_eq!((self.code, self.text()), (Some(code), ""), "{}", self.stderr);
        assert!(self.stderr.starts_with("error: ") && self.stderr.contains(complaint), "{}", self.stderr);
    }
}

/// A running command. Dropping it kills the process.
pub(crate) struct Process {
    child: Child,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Process {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let stdout = lines(child.stdout.take().unwrap());
        let stderr = lines(child.stderr.take().unwrap());
        Self { child, stdout, stderr }
    }

    /// Starts a server for a store, on a free port.
    pub(crate) fn serve(folder: &Path, store: &str) -> Self {
        Self::start(command(folder, &["server", "--store", store, "--listen", "127.0.0.1:0"]))
    }

    /// Returns the URL that a server prints.
    pub(crate) fn url(&self) -> String {
        self.prints("serving ").split(" at ").nth(1).unwrap().trim().to_owned()
    }

    /// Waits for a line of standard output that contains the text.
    pub(crate) fn prints(&self, text: &str) -> String {
        find(&self.stdout, text).unwrap_or_else(|| {
            let stderr: Vec<_> = self.stderr.try_iter().collect();
            panic!("it did not print {text:?}, but said {stderr:#?}")
        })
    }

    /// Waits for a line of standard error that contains the text.
    pub(crate) fn says(&self, text: &str) -> String {
        find(&self.stderr, text).unwrap_or_else(|| panic!("it did not say {text:?}"))
    }

    /// Returns the lines of standard error up to one that contains the text.
    pub(crate) fn says_until(&self, text: &str) -> Vec<String> {
        let mut lines = Vec::new();
        while !lines.last().is_some_and(|line: &String| line.contains(text)) {
            let line = self.stderr.recv_timeout(LONG);
            lines.push(line.unwrap_or_else(|_| panic!("it did not say {text:?}, but {lines:#?}")));
        }
        lines
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for the exit.
    pub(crate) fn wait(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Sends SIGTERM and waits for the exit.
    pub(crate) fn stop(self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.wait()
    }

    /// Sends SIGTERM, waits for the exit, and returns the output that has not been read yet.
    pub(crate) fn stop_and_tell(mut self) -> (ExitStatus, String) {
        self.signal(Signal::TERM);
        let status = self.child.wait().unwrap();
        let lines: Vec<_> = self.stdout.iter().chain(self.stderr.iter()).collect();
        (status, lines.join("\n"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Reads lines in a thread, so that the process never blocks on a full pipe.
fn lines(source: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    thread::spawn(move || {
        for line in BufReader::new(source).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    receive
}

fn find(lines: &Receiver<String>, text: &str) -> Option<String> {
    std::iter::from_fn(|| lines.recv_timeout(LONG).ok()).find(|line| line.contains(text))
}
