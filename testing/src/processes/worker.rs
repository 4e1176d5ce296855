//! A worker process that prints every action.

use std::time::Duration;

use tokio::process::Command;

use super::ledger::Line;
use super::process::Process;
use super::process::ledger_worker;

/// The ledger worker: it claims work over HTTP and prints a line whenever it starts or finishes work.
pub struct WorkerProcess {
    pub process: Process,
}

impl WorkerProcess {
    /// Starts a worker that runs up to `concurrency` executions at once.
    pub fn start(url: &str, name: &str, lease_ttl: Duration, concurrency: usize) -> Self {
        let mut command = Command::new(ledger_worker());
        command.args([url, name, &lease_ttl.as_millis().to_string(), &concurrency.to_string()]);
        Self { process: Process::start(name, &mut command) }
    }

    /// Starts a worker, and waits until it claims work.
    pub async fn ready(url: &str, name: &str, lease_ttl: Duration, concurrency: usize) -> Self {
        let mut worker = Self::start(url, name, lease_ttl, concurrency);
        assert_eq!(worker.says().await, Line::Ready);
        worker
    }

    /// Returns the next line of output.
    pub async fn says(&mut self) -> Line {
        Line::parse(&self.process.line().await.expect("the worker ended"))
    }

    /// Returns the lines since the last call.
    pub fn new_lines(&mut self) -> Vec<Line> {
        self.process.new_lines().iter().map(|line| Line::parse(line)).collect()
    }

    /// Lets one piece of held work finish.
    pub async fn let_finish(&mut self) {
        self.process.say("finish").await;
    }

    /// Returns all remaining lines until the process ends.
    pub async fn remaining_lines(&mut self) -> Vec<Line> {
        self.process.remaining_lines().await.iter().map(|line| Line::parse(line)).collect()
    }
}
