//! Any program as a worker.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use ff_core::limits;
use ff_core::types::{ContentType, Kind, LaneId, WorkerId};
use ff_sdk::Context;

use crate::exit::{Exit, tell};
use crate::program::Program;
use crate::settings::Settings;
use crate::signals::Signals;
use crate::span;

/// Run a command for every execution of a kind: payload in, result out, exit code decides
#[derive(Args)]
#[command(after_help = CODES)]
pub(crate) struct Worker {
    /// The kind of work it takes; may be given again
    #[arg(long = "kind", value_name = "KIND", required = true)]
    kinds: Vec<Kind>,

    /// The command, run by sh: it reads the payload and writes the result
    #[arg(long, value_name = "COMMAND")]
    exec: String,

    /// What the result is; unless said, JSON when it reads as JSON and bytes otherwise
    #[arg(long, value_name = "TYPE")]
    content_type: Option<ContentType>,

    /// A lane it takes work from; given again, lanes in the order preferred
    #[arg(long = "lane", value_name = "LANE", default_value = "default")]
    lanes: Vec<LaneId>,

    /// How many commands run at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = concurrency)]
    concurrency: usize,

    /// How long work stays its own without a sign of life; renewed at a third of it
    #[arg(long, value_name = "SPAN", default_value = "30s", value_parser = lease_ttl)]
    lease_ttl: Duration,

    /// What others see it as
    #[arg(long, value_name = "NAME", default_value = "ff-worker")]
    name: WorkerId,
}

const CODES: &str = "\
What the command's exit code means:
    0  done; what it wrote is the result
   65  the payload is wrong and will be every time: failed, not tried again
 else  failed; the execution's policy says whether it is tried again

The command finds FF_EXECUTION_ID, FF_KIND, FF_ATTEMPT, FF_LANE and FF_NAMESPACE in its environment, and
TRACEPARENT and TRACESTATE when it was submitted in a trace.";

impl Worker {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let mut signals = Signals::listen()?;
        let flowfabric = settings.connect().await?;
        let program = Arc::new(Program::new(self.exec, self.content_type));
        let mut worker = flowfabric
            .worker(self.name.as_str())
            .namespace(settings.namespace.as_str())
            .concurrency(self.concurrency)
            .lease_ttl(self.lease_ttl);
        for lane in &self.lanes {
            worker = worker.lane(lane.as_str());
        }
        for kind in &self.kinds {
            let program = program.clone();
            worker = worker.on(kind.as_str(), move |work: Context| {
                let program = program.clone();
                async move { program.run(&work).await }
            });
        }
        let kinds: Vec<_> = self.kinds.iter().map(Kind::as_str).collect();
        tell(format_args!("{} takes {} from {}", self.name, kinds.join(", "), settings.server));
        worker.run_until(async move { signals.next().await }).await?;
        Ok(Exit::Done)
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
