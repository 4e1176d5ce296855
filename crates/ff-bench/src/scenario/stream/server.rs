//! A server process over the store, started as a user starts it, and readers that follow a stream as browsers do.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, bail, ensure};
use ff_core::types::ExecutionId;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdout, Command};

/// A running `ff server`, until it is stopped or dropped.
pub(super) struct ServerProcess {
    child: Child,
    url: String,
    _stdout: Lines<BufReader<ChildStdout>>,
}

impl ServerProcess {
    /// Starts the program `ff` as a server of a store.
    pub(super) async fn start(ff: &Path, store: &str) -> anyhow::Result<Self> {
        let mut command = Command::new(ff);
        command.args(["--json", "server", "--store", store, "--listen", "127.0.0.1:0"]);
        // A benchmark prints only its figures.
        command.env("RUST_LOG", "error");
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("the server has no output")?).lines();
        let line = lines.next_line().await?.context("the server ended before it served")?;
        let message: Value = serde_json::from_str(&line)?;
        let url = message["server"].as_str().context("the server did not say where it is")?.to_owned();
        Ok(Self { child, url, _stdout: lines })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Returns a memory line of its `/proc` status in MiB: `VmRSS` now, or `VmHWM` at its peak.
    pub(super) fn mib(&self, line: &str) -> anyhow::Result<f64> {
        let id = self.child.id().context("the server has ended")?;
        let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
        let kib =
            status.lines().find_map(|found| found.strip_prefix(line)?.strip_prefix(':')?.trim().strip_suffix(" kB"));
        Ok(kib.context("the system does not tell how much memory a process has")?.trim().parse::<f64>()? / 1024.0)
    }

    /// Stops the server with SIGTERM, and waits until it has closed the store.
    pub(super) async fn stop(mut self) -> anyhow::Result<()> {
        let id = self.child.id().context("the server has ended")?;
        let pid = Pid::from_raw(i32::try_from(id)?).context("the server has no number")?;
        kill_process(pid, Signal::TERM)?;
        let ended = self.child.wait().await?;
        ensure!(ended.success(), "the server ended with {ended}");
        Ok(())
    }
}

/// A reader of server-sent events.
pub(super) struct SseReader(Lines<BufReader<TcpStream>>);

impl SseReader {
    /// Opens the stream of an execution, and returns when the server has answered.
    pub(super) async fn open(url: &str, id: &ExecutionId) -> anyhow::Result<Self> {
        let address = url.strip_prefix("http://").context("the server does not speak plain HTTP")?;
        let id = id.to_string().replace('{', "%7B").replace('}', "%7D");
        let request =
            format!("GET /v1/executions/{id}/stream HTTP/1.1\r\nhost: {address}\r\naccept: text/event-stream\r\n\r\n");
        let mut connection = TcpStream::connect(address).await?;
        connection.write_all(request.as_bytes()).await?;
        let mut lines = BufReader::new(connection).lines();
        let status = lines.next_line().await?.unwrap_or_default();
        if status != "HTTP/1.1 200 OK" {
            bail!("a stream was answered {status:?}");
        }
        Ok(Self(lines))
    }

    /// Returns the number of the next frame; `None` at the end. Chunks never split a line, because the server sends whole events.
    pub(super) async fn next(&mut self) -> anyhow::Result<Option<u64>> {
        while let Some(line) = self.0.next_line().await? {
            if line == "event: end" {
                return Ok(None);
            }
            if let Some(data) = line.strip_prefix("data: ") {
                let data: Value = serde_json::from_str(data)?;
                if data["item"] == "frame" {
                    return Ok(data["seq"].as_u64());
                }
            }
        }
        bail!("the server closed a stream before its end")
    }
}
