//! One server process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::ports::free_port;

/// The kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    Valkey,
    /// The oldest supported Redis.
    Redis,
}

impl Flavour {
    pub fn binary(self) -> &'static str {
        match self {
            Self::Valkey => "valkey-server",
            Self::Redis => "redis-server",
        }
    }
}

/// A server that is running, or that was killed.
pub struct Process {
    flavour: Flavour,
    options: Vec<String>,
    folder: TempDir,
    pub port: u16,
    child: Option<Child>,
}

impl Process {
    /// Starts a server that keeps an append-only file, with further options.
    pub fn start(flavour: Flavour, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder for a server");
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        let mut process = Self { flavour, options, folder, port: 0, child: None };
        // Another program may take the port between the choice and the start.
        for _ in 0..20 {
            process.port = free_port();
            if process.run() {
                return process;
            }
        }
        panic!("{} did not start on any port", flavour.binary());
    }

    pub fn url(&self) -> String {
        format!("valkey://127.0.0.1:{}", self.port)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Kills the server, as a crash would.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("a server can be killed");
            child.wait().expect("a killed server ends");
        }
    }

    /// Restarts the server on the same port with the data on its disk.
    pub fn restart(&mut self) {
        self.kill();
        assert!(self.run(), "{} did not start again on port {}", self.flavour.binary(), self.port);
    }

    /// Freezes the server: it keeps its connections and answers nothing.
    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    /// Resumes the frozen server.
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    /// Sends one command over a new connection and returns the server's reply.
    pub fn ask(&self, words: &[&str]) -> String {
        self.exchange(&[words])
    }

    /// Repeats a command to a primary until the answer is as wanted. Each try blocks on the server for a moment, so
    /// that this does not spin.
    pub fn wait_until(&self, words: &[&str], wanted: impl Fn(&str) -> bool) {
        let a_moment = ["WAIT", "9", "20"];
        let mut answers = (0..3_000).map(|_| self.exchange(&[&a_moment, words]));
        assert!(answers.any(|answer| wanted(&answer)), "{words:?} is never answered as wanted");
    }

    fn exchange(&self, commands: &[&[&str]]) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("the server listens");
        let mut request = String::new();
        for words in commands.iter().copied().chain([&["QUIT"][..]]) {
            request += &format!("*{}\r\n", words.len());
            for word in words {
                request += &format!("${}\r\n{word}\r\n", word.len());
            }
        }
        stream.write_all(request.as_bytes()).expect("the server reads");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("the server answers");
        let reply = reply.strip_suffix("+OK\r\n").expect("the server says goodbye");
        reply.trim_end().to_owned()
    }

    fn signal(&self, signal: &str) {
        let child = self.child.as_ref().expect("the server runs");
        let sent = Command::new("kill").arg(signal).arg(child.id().to_string()).status();
        assert!(sent.is_ok_and(|sent| sent.success()), "kill {signal} did not reach the server");
    }

    /// Runs the server and waits until it is ready. Returns false when it cannot get its port.
    fn run(&mut self) -> bool {
        let binary = self.flavour.binary();
        let mut command = Command::new(binary);
        command.arg("--port").arg(self.port.to_string());
        command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--appendfsync", "always"]);
        command.arg("--dir").arg(self.folder.path()).args(&self.options);
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = spawned.unwrap_or_else(|error| panic!("{binary}: {error}; run scripts/services to install it"));
        let output = child.stdout.take().expect("its output is a pipe");
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        let ready = lines.any(|line| line.contains("Ready to accept connections"));
        // Its later output is read and dropped, so that it never blocks on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        if ready {
            self.child = Some(child);
        } else {
            child.wait().expect("a server that did not start ends");
        }
        ready
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
