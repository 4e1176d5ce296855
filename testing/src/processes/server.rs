//! The server process.

use std::process::ExitStatus;

use ff_sdk::FlowFabric;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;

use super::process::ff;
use super::process::{Process, Signal, within};

/// A process of `ff server` with its store.
pub struct ServerProcess {
    process: Process,
    store: String,
    options: Vec<String>,
    url: String,
    /// The folder of the store, if the store is a file.
    folder: Option<TempDir>,
}

impl ServerProcess {
    /// Starts the server with a SQLite store in a folder of its own, on any port.
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Self::over(format!("sqlite:{}", folder.path().join("flowfabric.db").display())).await;
        Self { folder: Some(folder), ..server }
    }

    /// Starts the server with the store at a URL, on any port.
    pub async fn over(store: String) -> Self {
        Self::with_options(store, &[]).await
    }

    /// Starts the server with further options.
    pub async fn with_options(store: String, options: &[String]) -> Self {
        Self::listening(store, options.to_vec(), "127.0.0.1:0").await
    }

    /// Kills the server and restarts it with the same store at the same address.
    pub async fn kill_and_start_again(&mut self) {
        self.process.kill().await;
        let address = self.url.strip_prefix("http://").unwrap().to_owned();
        let started = Self::listening(self.store.clone(), self.options.clone(), &address).await;
        *self = Self { folder: self.folder.take(), ..started };
    }

    /// Returns the URL of the server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the URL of the store.
    pub fn store(&self) -> &str {
        &self.store
    }

    /// Connects to the server.
    pub async fn connect(&self) -> FlowFabric {
        within("the server is connected to", ff_sdk::connect(&self.url)).await.unwrap()
    }

    /// Sends a signal to the server.
    pub fn send(&self, signal: Signal) {
        self.process.send(signal);
    }

    /// Returns the resident memory of the server in bytes.
    pub fn memory(&self) -> u64 {
        self.process.memory()
    }

    /// Returns the status of a GET request for a path.
    pub async fn get(&self, path: &str) -> u16 {
        let answer = self.read(path).await;
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        status.unwrap_or_else(|| panic!("{path} is answered with {answer:?}"))
    }

    /// Returns the value of a metric without labels.
    pub async fn metric(&self, name: &str) -> u64 {
        let answer = self.read("/metrics").await;
        let value = answer.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        value.unwrap_or_else(|| panic!("there is no metric {name} in {answer}"))
    }

    /// Returns the whole response to a GET request for a path.
    pub async fn read(&self, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        let response = async {
            let mut stream = TcpStream::connect(self.url.strip_prefix("http://").unwrap()).await?;
            stream.write_all(request.as_bytes()).await?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await?;
            Ok::<_, std::io::Error>(answer)
        };
        within("the server answers", response).await.unwrap()
    }

    /// Stops the server as Ctrl-C does, and waits for its end.
    pub async fn interrupt(&mut self) -> ExitStatus {
        self.process.send(Signal::INT);
        self.process.end().await
    }

    async fn listening(store: String, options: Vec<String>, address: &str) -> Self {
        let mut command = Command::new(ff());
        command.args(["--json", "server", "--store", &store, "--listen", address]).args(&options);
        let mut process = Process::start("the server", &mut command);
        let line = process.line().await.expect("the server ended before it served");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
        let url = message["server"].as_str().unwrap().to_owned();
        Self { process, store, options, url, folder: None }
    }
}

/// Examines a store with `ff doctor`, while no process has it open. Returns the number of executions examined. Panics
/// if there are findings.
pub async fn doctor(store: &str) -> u64 {
    let mut command = Command::new(ff());
    command.args(["--json", "doctor", "--store", store]);
    let output = within("the doctor has looked", command.output()).await.unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{output:?}: {error}"));
    assert!(output.status.success(), "the doctor found something: {report:#}");
    assert_eq!(report["findings"], Value::Array(Vec::new()));
    report["executions"].as_u64().unwrap()
}
