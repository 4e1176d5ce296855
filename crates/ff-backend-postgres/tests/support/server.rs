//! One server process.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::binaries::{other_user, program};
use super::ports::free_port;

/// Whether the server waits for the disk before it acknowledges a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disk {
    /// It waits, as by default.
    Waited,
    /// It does not wait: the test needs the server's data, not its durability.
    Unwaited,
}

/// A server that runs, or that was killed.
pub struct Postgres {
    folder: TempDir,
    settings: Vec<String>,
    pub port: u16,
    child: Option<Child>,
}

impl Postgres {
    /// Creates and starts a server with further settings.
    pub fn start(disk: Disk, settings: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder for a server");
        if let Some((user, group)) = other_user() {
            std::os::unix::fs::chown(folder.path(), Some(user), Some(group)).expect("the folder is given away");
        }
        let mut initdb = program("initdb");
        initdb.args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync", "--wal-segsize=1"]);
        let made = initdb.arg("-D").arg(folder.path().join("data")).output().expect("initdb runs");
        assert!(made.status.success(), "initdb: {}", String::from_utf8(made.stderr).expect("text"));
        let fsync = if disk == Disk::Waited { "fsync=on" } else { "fsync=off" };
        let settings = settings.iter().copied().chain([fsync, "listen_addresses=127.0.0.1", "shared_buffers=32MB"]);
        let settings = settings.map(str::to_owned).collect();
        let mut server = Self { folder, settings, port: 0, child: None };
        // Another program may take the port between asking for it and using it.
        for _ in 0..20 {
            server.port = free_port();
            if server.run() {
                return server;
            }
        }
        panic!("Postgres did not start on any port");
    }

    /// Starts a server for a test that does not need durability.
    pub fn quick() -> Self {
        Self::start(Disk::Unwaited, &[])
    }

    /// Returns the URL of a store in one schema.
    pub fn url(&self, schema: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres?schema={schema}", self.port)
    }

    /// Kills the server, as a crash would.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("a server can be killed");
            child.wait().expect("a killed server ends");
        }
    }

    /// Starts the server again on the same port with the files on its disk.
    pub fn restart(&mut self) {
        self.kill();
        // The child processes of the killed server notice its end by themselves. Until then they hold resources that the new
        // server needs.
        let started = (0..200).any(|_| self.run());
        assert!(started, "Postgres did not start again on port {}", self.port);
    }

    /// Stops the server and its child processes, without their noticing. Connections stay open, and nothing is answered.
    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    /// Resumes the stopped server.
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    /// Signals the server before its child processes, because a running server makes new ones for new connections.
    fn signal(&self, signal: &str) {
        let id = self.child.as_ref().expect("the server runs").id().to_string();
        for command in [["kill", signal].as_slice(), &["pkill", signal, "-P"]] {
            let sent = Command::new(command[0]).args(&command[1..]).arg(&id).status();
            assert!(sent.is_ok_and(|sent| sent.success()), "{command:?} did not reach the server");
        }
    }

    /// Runs the server and waits until it is ready. Returns false if it cannot have its port.
    fn run(&mut self) -> bool {
        let mut command = program("postgres");
        command.arg("-D").arg(self.folder.path().join("data")).arg("-p").arg(self.port.to_string());
        command.arg("-k").arg(self.folder.path());
        for setting in &self.settings {
            command.arg("-c").arg(setting);
        }
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = spawned.unwrap_or_else(|error| panic!("postgres: {error}; run scripts/services to install it"));
        let output = child.stderr.take().expect("its output is a pipe");
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        let ready = lines.any(|line| line.contains("ready to accept connections"));
        // Its later output is read and dropped, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        if ready {
            self.child = Some(child);
        } else {
            child.wait().expect("a server that did not start ends");
        }
        ready
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.kill();
    }
}
