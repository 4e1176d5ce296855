//! A worker for the tests with real processes. It prints a line whenever it starts or finishes work. It completes the
//! executions itself, so it reports a completion only after the engine has acknowledged it.

use std::env;
use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::EngineBackend;
use ff_core::contracts::CompleteArgs;
use ff_core::engine_error::EngineError;
use ff_core::payload::Payload;
use ff_sdk::{Context, Fault, Reply};
use ff_testing::processes::{Line, StepRun};
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};
use tokio::sync::Mutex;
use tokio::time::interval;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().collect();
    let [_, url, name, lease_ttl_ms, concurrency] = &arguments[..] else {
        return Err("usage: ledger-worker URL NAME LEASE_TTL_MS CONCURRENCY".into());
    };
    let flowfabric = ff_sdk::connect(url).await?;
    let gate = Arc::new(Mutex::new(BufReader::new(tokio::io::stdin()).lines()));
    let teller = ReportingWorker { backend: flowfabric.backend().clone(), name: name.clone() };
    let (hurrying, timing, spending, holding) = (teller.clone(), teller.clone(), teller.clone(), teller);
    let held = gate.clone();
    let worker = flowfabric
        .worker(name)
        .lease_ttl(Duration::from_millis(lease_ttl_ms.parse()?))
        .concurrency(concurrency.parse()?)
        .on("hurry", move |work: Context| {
            let teller = hurrying.clone();
            async move { teller.work(&work, None).await }
        })
        .on("hold", move |work: Context| {
            let (teller, gate) = (holding.clone(), gate.clone());
            async move { teller.work(&work, Some(gate)).await }
        })
        .on("timed", move |work: Context| {
            let teller = timing.clone();
            async move { teller.work_timed(&work).await }
        })
        .on("spend", move |work: Context| {
            let teller = spending.clone();
            async move {
                spend(&work).await?;
                teller.work(&work, None).await
            }
        })
        .on("hurry-steps", |work: Context| async move { steps(&work, None).await })
        .on("hold-steps", move |work: Context| {
            let gate = held.clone();
            async move { steps(&work, Some(gate)).await }
        });
    say(&Line::Ready)?;
    worker.run().await?;
    // A pending read of standard input would keep the process alive.
    std::process::exit(0);
}

/// Standard input, of which each line lets held work continue once.
type Gate = Arc<Mutex<Lines<BufReader<Stdin>>>>;

/// Number of steps.
const STEPS: u32 = 4;

/// Runs the steps. If there is a gate, each step waits at the gate before it is done, and again after it is recorded.
/// The result names the attempt that ran each step.
async fn steps(work: &Context, gate: Option<Gate>) -> Result<Vec<u32>, Fault> {
    let (id, attempt) = (work.task().execution_id, work.task().attempt_index.0);
    let pass = async || match &gate {
        Some(gate) => gate.lock().await.next_line().await.map(drop),
        None => Ok(()),
    };
    say(&Line::Started(id))?;
    let mut ran_by = Vec::new();
    for nth in 0..STEPS {
        let step = StepRun { nth, attempt };
        let run = || async {
            say(&Line::Ran(id, step))?;
            pass().await?;
            Ok(attempt)
        };
        let by = work.step("count", run).key(nth).await?;
        say(&Line::Recorded(id, step, by))?;
        ran_by.push(by);
        pass().await?;
    }
    Ok(ran_by)
}

/// Number of usage reports of an execution.
const REPORTS: u64 = 4;

/// Reports usage. Repeats each report until the engine has answered.
async fn spend(work: &Context) -> Result<(), Fault> {
    let mut again = interval(Duration::from_millis(20));
    for nth in 1..=REPORTS {
        loop {
            again.tick().await;
            match work.usage().add("tokens", nth).add("calls", 1).id(&format!("report-{nth}")).report().await {
                Ok(_) => break,
                Err(ff_sdk::Error::Engine(EngineError::Refused(refusal))) => return Err(refusal.into()),
                Err(_) => {}
            }
        }
    }
    Ok(())
}

/// Performs work and prints its progress.
#[derive(Clone)]
struct ReportingWorker {
    backend: Arc<dyn EngineBackend>,
    name: String,
}

impl ReportingWorker {
    /// Performs work. If there is a gate, waits at the gate before the completion.
    async fn work(&self, work: &Context, gate: Option<Gate>) -> Result<Reply, Fault> {
        say(&Line::Started(work.task().execution_id))?;
        if let Some(gate) = gate {
            gate.lock().await.next_line().await?;
        }
        self.finish(work).await
    }

    /// Works for a time that depends on the execution, and prints the times of its begin and end. The worker holds the
    /// lease in between.
    async fn work_timed(&self, work: &Context) -> Result<Reply, Fault> {
        let id = work.task().execution_id;
        let now = || jiff::Timestamp::now().as_millisecond();
        say(&Line::Began(id, now()))?;
        let mut over = interval(Duration::from_millis(20 + u64::from(id.uuid().as_bytes()[15])));
        over.tick().await;
        over.tick().await;
        say(&Line::Ended(id, now()))?;
        self.finish(work).await
    }

    /// Completes the execution. Repeats the call until the engine has answered.
    async fn finish(&self, work: &Context) -> Result<Reply, Fault> {
        let (execution_id, fence) = (work.task().execution_id, work.task().fence);
        let text = format!("{{\"by\":\"{}\",\"attempt\":{}}}", self.name, work.task().attempt_index);
        let result = Payload::json(text.clone());
        let mut again = interval(Duration::from_millis(50));
        loop {
            again.tick().await;
            let args = CompleteArgs { execution_id, fence, result: Some(result.clone()) };
            match self.backend.complete(args).await {
                Ok(_) => {
                    say(&Line::Completed(execution_id, text))?;
                    return Ok(Reply::payload(result));
                }
                Err(EngineError::Refused(refusal)) => {
                    say(&Line::Refused(execution_id, refusal.code.to_string()))?;
                    return Err(refusal.into());
                }
                Err(_) => {}
            }
        }
    }
}

/// Prints a whole line and flushes it at once.
fn say(line: &Line) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}
