//! Any program as a handler: the payload on its standard input, the result from its standard output, and its exit code
//! decides.

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

/// How long a program may take to stop once it is asked to, before it is killed.
const STOP_WITHIN: Duration = Duration::from_secs(10);

/// A command line that is run once for every attempt.
pub(crate) struct Program {
    command: String,
    /// The content type of its output; unless given, JSON when it reads as JSON, otherwise plain bytes.
    content_type: Option<ContentType>,
    /// Whether its output is streamed while it runs.
    streams: bool,
}

impl Program {
    pub(crate) fn new(command: String, content_type: Option<ContentType>, streams: bool) -> Self {
        Self { command, content_type, streams }
    }

    /// Runs the command to its end, or stops it when the work is no longer wanted.
    ///
    /// A command that had to be stopped has not done its work, whatever its exit code, so the work is given back:
    /// if it is still ours, another worker goes on with it at once.
    pub(crate) async fn run(&self, work: &Context) -> Result<Reply, Fault> {
        let inputs = lay_out(work).await?;
        let folder = inputs.as_ref().map(|folder| folder.path());
        let result = self.streams.then(TempDir::new).transpose();
        let result = result.map_err(|error| broken("cannot make a folder for its result", &error))?;
        let result = result.as_ref().map(|folder| folder.path().join("result"));
        let mut child = self
            .spawn(work, folder, result.as_deref())
            .map_err(|error| Fault::retryable("spawn", format!("cannot run sh: {error}")))?;
        let group = Group::led_by(&child);
        let payload = work.payload().bytes.clone();
        let mut running = Box::pin(see_through(&mut child, payload, self.streams.then_some(work)));
        tokio::select! {
            ended = &mut running => {
                let ProgramExit { status, output, complaint } = ended?;
                group.disband();
                verdict::judge(status, &complaint)?;
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
        // Work that is in no trace is not in the one this worker was started in.
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

/// Feeds the program, reads its output, and waits for its end: all at once, since it may do them in any order.
///
/// Its output is streamed when `work` is given, and otherwise collected.
async fn see_through(child: &mut Child, payload: Bytes, work: Option<&Context>) -> Result<ProgramExit, Fault> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let ended = async { child.wait().await.map_err(|error| broken("cannot wait for it", &error)) };
    let output = async {
        match work {
            Some(work) => lines::put_out(work, stdout).await,
            None => collect(stdout).await,
        }
    };
    let ((), output, complaint, status) = tokio::try_join!(feed(stdin, payload), output, tail::follow(stderr), ended)?;
    Ok(ProgramExit { status, output, complaint })
}

/// Writes the payload. A program need not read it: one that has closed its input wants no more.
async fn feed(stdin: Option<ChildStdin>, payload: Bytes) -> Result<(), Fault> {
    let Some(mut stdin) = stdin else { return Ok(()) };
    match stdin.write_all(&payload).await {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(broken("cannot write to it", &error)),
        _ => Ok(()),
    }
}

/// Reads the result, and gives up as soon as it is larger than any result may be.
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

/// The result a program wrote into the file it was told of; nothing when it wrote none.
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

/// Writes the inputs into a folder for the program; `None` without inputs. Dropping the folder deletes it.
pub(super) async fn lay_out(work: &Context) -> Result<Option<TempDir>, Fault> {
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
