//! `ff worker`: runs a command for each execution.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clap::Args;
use ff_core::contracts::Task;
use ff_core::limits;
use ff_core::types::{Capability, ContentType, Kind, LaneId, WorkerId};
use ff_sdk::{Context, Fault, Reply};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::args::span;
use crate::exit::{Exit, print_message};
use crate::program::Program;
use crate::settings::Settings;
use crate::signals::Signals;

/// Run a command for every execution of a kind: payload on stdin, result on stdout, outcome by exit code
#[derive(Args)]
#[command(after_help = CODES)]
pub(crate) struct Worker {
    /// Kind of executions to claim (repeatable)
    #[arg(long = "kind", value_name = "KIND", required = true)]
    kinds: Vec<Kind>,

    /// Command, run by sh; it reads the payload and writes the result
    #[arg(long, value_name = "COMMAND")]
    exec: String,

    /// Content type of the result; unless given, JSON if it is valid JSON, otherwise bytes
    #[arg(long, value_name = "TYPE")]
    content_type: Option<ContentType>,

    /// Stream each line of its output while it runs; the last line is the result, unless the file $FF_RESULT has one
    #[arg(long)]
    stream: bool,

    /// Lane to claim from (repeatable, in order of preference)
    #[arg(long = "lane", value_name = "LANE", default_value = "default")]
    lanes: Vec<LaneId>,

    /// Capability of the worker, such as gpu or region=eu (repeatable)
    #[arg(long = "capability", value_name = "CAPABILITY")]
    capabilities: Vec<Capability>,

    /// Maximum number of commands running at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = concurrency)]
    concurrency: usize,

    /// Duration of a lease; it is renewed after a third of this
    #[arg(long, value_name = "SPAN", default_value = "30s", value_parser = lease_ttl)]
    lease_ttl: Duration,

    /// Name of the worker
    #[arg(long, value_name = "NAME", default_value = "ff-worker")]
    name: WorkerId,
}

const CODES: &str = "\
Exit codes of the command:
    0  completed; its output is the result
   65  failed permanently: the payload is invalid
 else  failed; the policy of the execution decides about a retry

The environment of the command has FF_EXECUTION_ID, FF_KIND, FF_ATTEMPT, FF_LANE and FF_NAMESPACE, and TRACEPARENT
and TRACESTATE when the execution was submitted in a trace.";

impl Worker {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let mut signals = Signals::listen()?;
        let flowfabric = settings.connect().await?;
        let program = Arc::new(Program::new(self.exec, self.content_type, self.stream));
        let running = Arc::new(AtomicUsize::new(0));
        let mut worker = flowfabric
            .worker(self.name.as_str())
            .namespace(settings.namespace().as_str())
            .concurrency(self.concurrency)
            .lease_ttl(self.lease_ttl);
        for lane in &self.lanes {
            worker = worker.lane(lane.as_str());
        }
        for capability in &self.capabilities {
            worker = worker.capability(capability.as_str());
        }
        for kind in &self.kinds {
            let (program, running) = (program.clone(), running.clone());
            worker = worker.on(kind.as_str(), move |work: Context| {
                let (program, job) = (program.clone(), JobLine::begin(&running, work.task()));
                async move { job.end(program.run(&work).await) }
            });
        }
        let kinds: Vec<_> = self.kinds.iter().map(Kind::as_str).collect();
        print_message(format_args!("{} takes {} from {}", self.name, kinds.join(", "), settings.server));
        let stop = CancellationToken::new();
        let mut working = pin!(worker.run_until(stop.clone().cancelled_owned()));
        tokio::select! {
            ended = &mut working => return Ok(ended.map(|()| Exit::Done)?),
            () = signals.next() => {}
        }
        match running.load(Ordering::Relaxed) {
            0 => print_message("stopping"),
            1 => print_message("stopping: waiting for 1 running job; Ctrl-C again stops it now"),
            count => {
                print_message(format_args!("stopping: waiting for {count} running jobs; Ctrl-C again stops them now"))
            }
        }
        stop.cancel();
        tokio::select! {
            ended = &mut working => Ok(ended.map(|()| Exit::Done)?),
            // Dropping the worker kills its running commands. Other workers claim their executions when the leases expire.
            () = signals.next() => Ok(Exit::Interrupted),
        }
    }
}

/// The messages about one job: one when it begins, one when it ends.
struct JobLine {
    running: Arc<AtomicUsize>,
    what: String,
    since: Instant,
    end_printed: bool,
}

impl JobLine {
    fn begin(running: &Arc<AtomicUsize>, task: &Task) -> Self {
        running.fetch_add(1, Ordering::Relaxed);
        let what = format!("{} {}", task.kind, task.execution_id);
        print_message(format_args!("running {what}"));
        Self { running: running.clone(), what, since: Instant::now(), end_printed: false }
    }

    fn end(mut self, ended: Result<Reply, Fault>) -> Result<Reply, Fault> {
        match &ended {
            Ok(Reply::Done(_)) => self.print_message("done", ""),
            Ok(Reply::Later(_)) => self.print_message("given back", ""),
            Err(fault) => self.print_message("failed", &format!(": {}: {}", fault.category, fault.message)),
        }
        ended
    }

    fn print_message(&mut self, outcome: &str, why: &str) {
        let took = span::short(span::ms(self.since.elapsed()));
        print_message(format_args!("{outcome} {} after {took}{why}", self.what));
        self.end_printed = true;
    }
}

/// Reports a job that was dropped before its end, because its execution was lost or the worker stopped.
impl Drop for JobLine {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::Relaxed);
        if !self.end_printed {
            self.print_message("stopped", "");
        }
    }
}

fn concurrency(text: &str) -> Result<usize, String> {
    let most = limits::CLAIM;
    text.parse().ok().filter(|n| (1..=most).contains(n)).ok_or_else(|| format!("must be from 1 to {most}"))
}

fn lease_ttl(text: &str) -> Result<Duration, String> {
    let (shortest, longest) =
        (Duration::from_millis(limits::LEASE_TTL_MIN_MS), Duration::from_millis(limits::LEASE_TTL_MAX_MS));
    let ttl = span::parse(text)?;
    if (shortest..=longest).contains(&ttl) { Ok(ttl) } else { Err("must be from 1s to 1h".to_owned()) }
}
