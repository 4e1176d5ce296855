//! Any program as a handler: it reads the payload from standard input and writes the result to standard output, and its
//! exit code decides the outcome.

mod lines;
mod tail;
mod verdict;

use std::io::ErrorKind;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use bytes::Bytes;
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::types::ContentType;
use ff_sdk::{Context, Fault, Reply};
use serde::de::IgnoredAny;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::timeout;
use verdict::Group;

/// Time for a program to stop after SIGTERM, before it is killed.
const STOP_WITHIN: Duration = Duration::from_secs(10);

/// A command that runs once for every attempt.
pub(crate) struct Program {
    command: String,
    /// The content type of the result. If absent: JSON if the result is valid JSON, otherwise bytes.
    content_type: Option<ContentType>,
    /// Whether the output is streamed while the program runs.
    streams: bool,
}

impl Program {
    pub(crate) fn new(command: String, content_type: Option<ContentType>, streams: bool) -> Self {
        Self { command, content_type, streams }
    }

    /// Runs the command until it exits, or stops it when the handler is cancelled.
    ///
    /// A stopped command has not done its work, whatever its exit code, so the execution is delayed by zero: if this
    /// worker still holds the lease, another worker can claim the execution at once.
    pub(crate) async fn run(&self, work: &Context) -> Result<Reply, Fault> {
        let inputs = write_inputs(work).await?;
        let folder = inputs.as_ref().map(|folder| folder.path());
        let result = self.streams.then(TempDir::new).transpose();
        let result = result.map_err(|error| broken("cannot make a folder for its result", &error))?;
        let result = result.as_ref().map(|folder| folder.path().join("result"));
        let mut child = self
            .spawn(work, folder, result.as_deref())
            .map_err(|error| Fault::retryable("spawn", format!("cannot run sh: {error}")))?;
        let group = Group::led_by(&child);
        let payload = work.payload().bytes.clone();
        let mut running = Box::pin(run_child(&mut child, payload, self.streams.then_some(work)));
        tokio::select! {
            ended = &mut running => {
                let ProgramExit { status, output, complaint } = ended?;
                group.release();
                verdict::check_exit(status, &complaint)?;
                Ok(self.reply(written(result.as_deref()).await?.unwrap_or(output)))
            }
            () = work.cancelled() => {
                group.terminate();
                if timeout(STOP_WITHIN, running).await.is_err() {
                    tracing::warn!(execution = %work.task().execution_id, "the command did not stop; killing it");
                }
                Ok(Reply::Later(Duration::ZERO))
            }
        }
    }

    fn spawn(&self, work: &Context, inputs: Option<&Path>, result: Option<&Path>) -> std::io::Result<Child> {
        let task = work.task();
        let mut command = Command::new("sh");
        if let Some(flow) = work.flow() {
            command.env("FF_FLOW_ID", flow.flow_id.to_string()).env("FF_NODE", flow.node.as_str());
        }
        if let Some(inputs) = inputs {
            command.env("FF_INPUTS", inputs);
        }
        if let Some(result) = result {
            command.env("FF_RESULT", result);
        }
        for secret in verdict::withheld(std::env::vars_os()) {
            command.env_remove(secret);
        }
        // An execution without a trace must not inherit the trace in which this worker was started.
        command.env_remove("TRACEPARENT").env_remove("TRACESTATE");
        if let Some(trace) = work.trace() {
            command.env("TRACEPARENT", trace.traceparent());
            command.envs(trace.tracestate().map(|state| ("TRACESTATE", state)));
        }
        command
            .arg("-c")
            .arg(&self.command)
            .env("FF_EXECUTION_ID", task.execution_id.to_string())
            .env("FF_KIND", task.kind.as_str())
            .env("FF_ATTEMPT", task.attempt_index.to_string())
            .env("FF_LANE", task.lane_id.as_str())
            .env("FF_NAMESPACE", task.namespace.as_str())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
    }

    fn reply(&self, output: Vec<u8>) -> Reply {
        if output.is_empty() {
            return Reply::done();
        }
        let content_type = self.content_type.clone().unwrap_or_else(|| {
            let reads_as_json = serde_json::from_slice::<IgnoredAny>(&output).is_ok();
            if reads_as_json { ContentType::json() } else { ContentType::bytes() }
        });
        Reply::payload(Payload::new(content_type, output))
    }
}

/// The exit of a program: status, output and last lines of standard error.
struct ProgramExit {
    status: ExitStatus,
    output: Vec<u8>,
    complaint: String,
}

/// Writes the payload, reads the output, and waits for the exit of the program, all concurrently: the program may read,
/// write and exit in any order.
///
/// Streams the output if `work` is given, otherwise collects it.
async fn run_child(child: &mut Child, payload: Bytes, work: Option<&Context>) -> Result<ProgramExit, Fault> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let ended = async { child.wait().await.map_err(|error| broken("cannot wait for it", &error)) };
    let output = async {
        match work {
            Some(work) => lines::stream_lines(work, stdout).await,
            None => collect(stdout).await,
        }
    };
    let ((), output, complaint, status) = tokio::try_join!(feed(stdin, payload), output, tail::follow(stderr), ended)?;
    Ok(ProgramExit { status, output, complaint })
}

/// Writes the payload. A program need not read it: a closed standard input is no error.
async fn feed(stdin: Option<ChildStdin>, payload: Bytes) -> Result<(), Fault> {
    let Some(mut stdin) = stdin else { return Ok(()) };
    match stdin.write_all(&payload).await {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(broken("cannot write to it", &error)),
        _ => Ok(()),
    }
}

/// Reads the result. Fails as soon as it is larger than the maximum size of a result.
async fn collect(stdout: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, Fault> {
    let Some(stdout) = stdout else { return Ok(Vec::new()) };
    let mut output = Vec::new();
    let most = limits::PAYLOAD_BYTES;
    stdout
        .take(most as u64 + 1)
        .read_to_end(&mut output)
        .await
        .map_err(|error| broken("cannot read from it", &error))?;
    if output.len() > most {
        return Err(Fault::permanent(
            "invalid_result",
            format!("the command wrote more than the {most} bytes of a result"),
        ));
    }
    Ok(output)
}

/// Returns the result that the program wrote into the file of `FF_RESULT`; `None` if it wrote none.
async fn written(result: Option<&Path>) -> Result<Option<Vec<u8>>, Fault> {
    let Some(result) = result else { return Ok(None) };
    match tokio::fs::File::open(result).await {
        Ok(file) => collect(Some(file)).await.map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(broken("cannot read its result", &error)),
    }
}

fn broken(what: &str, error: &std::io::Error) -> Fault {
    Fault::retryable("command", format!("{what}: {error}"))
}

/// Writes the inputs of the execution into a folder for the program. Returns `None` if there are none. Dropping the
/// folder deletes it.
pub(super) async fn write_inputs(work: &Context) -> Result<Option<TempDir>, Fault> {
    let mut folder = None;
    for name in work.inputs() {
        let input = work.input_payload(name).await?;
        let folder = match &mut folder {
            Some(folder) => folder,
            none => none.insert(TempDir::new().map_err(|error| broken("cannot make a folder for its inputs", &error))?),
        };
        let written = tokio::fs::write(folder.path().join(name), &input.bytes).await;
        written.map_err(|error| broken("cannot write its inputs", &error))?;
    }
    Ok(folder)
}
