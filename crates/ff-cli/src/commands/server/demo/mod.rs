//! The demo of `ff dev`: a small worker in the process of the server, a few jobs, and then continuous work of a shop.

mod shop;

use std::fmt;
use std::time::Duration;

use anyhow::Context as _;
use ff_core::policy::{Backoff, Policy};
use ff_core::types::ExecutionId;
use ff_sdk::{Client, Context, Fault, FlowFabric, Job};
use serde_json::{Value, json};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::interval;
use tokio_util::sync::CancellationToken;

use crate::exit::print_message;
use crate::output::{self, printable};
use crate::settings::Settings;

/// Duration of a step of work: long enough to watch, short enough to wait for.
const STEP: Duration = Duration::from_millis(400);

/// Starts the worker, submits the jobs, and prints their progress. The task ends after `stop` is cancelled.
pub(super) fn start(
    flowfabric: &FlowFabric,
    settings: &Settings,
    stop: CancellationToken,
) -> JoinHandle<anyhow::Result<()>> {
    let output = DemoOutput { to_stderr: settings.json };
    let worker = shop::with_handlers(flowfabric.worker("demo"))
        .concurrency(8)
        .state(output)
        .on("demo.resize", resize)
        .on("demo.charge", charge)
        .on("demo.remind", remind)
        .on("demo.import", import)
        .run_until(stop.clone().cancelled_owned());
    let client = flowfabric.client();
    tokio::spawn(async move {
        let shop = async {
            play(&client, output, &stop).await?;
            shop::run(&client, &stop).await
        };
        let (worked, played) = tokio::join!(worker, shop);
        worked.context("the demo's worker")?;
        played
    })
}

/// Submits the jobs and prints how each ends.
async fn play(client: &Client, output: DemoOutput, stop: &CancellationToken) -> anyhow::Result<()> {
    output.say("\nThe demo submits four jobs:");
    let mut waiting = JoinSet::new();
    for job in jobs() {
        let id = client.submit(job.job).await?.execution_id;
        output.say(format_args!("  {:<12} {id}  {}", job.kind, job.promise));
        let client = client.clone();
        waiting.spawn(async move { end(&client, output, job.kind, &id).await });
    }
    output.say("");
    loop {
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            ended = waiting.join_next() => match ended {
                Some(ended) => ended.context("the demo broke off")??,
                None => break,
            }
        }
    }
    output.say("\nThe first part is over: try `ff list`, and `ff attempts` on the charge. Mails, flows and an agent go on in the console.");
    Ok(())
}

async fn end(client: &Client, output: DemoOutput, kind: &str, id: &ExecutionId) -> anyhow::Result<()> {
    let end = client.wait(id).await?;
    match end.json::<Value>() {
        Ok(result) => output.say(format_args!("  {kind:<12} completed: {result}")),
        Err(error) => output.say(format_args!("  {kind:<12} {}", printable(&error.to_string()))),
    }
    Ok(())
}

/// A job, and the behavior it demonstrates.
struct DemoJob {
    kind: &'static str,
    job: Job,
    promise: &'static str,
}

fn jobs() -> [DemoJob; 4] {
    let mut soon = Policy::default();
    soon.retry_policy.backoff = Backoff::Fixed { delay_ms: 1_000, jitter: false };
    let resize = Job::new("demo.resize", &json!({ "file": "cat.png", "width": 200 }));
    let charge = Job::new("demo.charge", &json!({ "order": 17, "cents": 4_200 })).policy(soon);
    let remind = Job::new("demo.remind", &json!({ "who": "Ada" })).delay(Duration::from_secs(3));
    let import = Job::new("demo.import", &json!("rows; not a table")).tag("source", "upload");
    [
        DemoJob { kind: "demo.resize", job: resize, promise: "tells how far it is" },
        DemoJob { kind: "demo.charge", job: charge, promise: "fails the first time and is tried again" },
        DemoJob { kind: "demo.remind", job: remind, promise: "waits three seconds before it starts" },
        DemoJob { kind: "demo.import", job: import, promise: "cannot succeed and fails for good" },
    ]
}

async fn resize(work: Context, picture: Value) -> Result<Value, Fault> {
    let mut steps = interval(STEP);
    for percent in [0, 25, 50, 75] {
        steps.tick().await;
        work.progress(Some(percent), Some("resizing")).await?;
        work.state::<DemoOutput>()?.say(format_args!("  demo.resize  {percent}%"));
    }
    steps.tick().await;
    Ok(json!({ "file": picture["file"], "bytes": 18_113 }))
}

async fn charge(work: Context, order: Value) -> Result<Value, Fault> {
    if work.task().attempt_index.0 == 0 {
        work.state::<DemoOutput>()?.say("  demo.charge  the bank does not answer; again in a second");
        return Err(Fault::retryable("network", "the bank does not answer"));
    }
    Ok(json!({ "order": order["order"], "paid": true }))
}

async fn remind(_: Context, whom: Value) -> Result<Value, Fault> {
    Ok(json!({ "reminded": whom["who"] }))
}

async fn import(_: Context, rows: Value) -> Result<Value, Fault> {
    Err(Fault::permanent("invalid_payload", format!("{rows} is not a table")))
}

/// The output of the demo: standard output, or standard error if a program reads standard output.
#[derive(Clone, Copy)]
struct DemoOutput {
    to_stderr: bool,
}

impl DemoOutput {
    fn say(self, line: impl fmt::Display) {
        if self.to_stderr {
            print_message(line);
        } else if let Err(error) = output::line(line) {
            tracing::debug!(%error, "the output of the demo is closed");
        }
    }
}
