//! A worker for the tests of real processes: it says a line for everything it starts and finishes, and finishes the work
//! itself, so that what it calls acknowledged is what the engine has acknowledged.

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
    let teller = Teller { backend: flowfabric.backend().clone(), name: name.clone() };
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
    // A read of standard input may still be under way, and would keep the process.
    std::process::exit(0);
}

/// What lets held work go on, a line at a time.
type Gate = Arc<Mutex<Lines<BufReader<Stdin>>>>;

/// How many steps there are.
const STEPS: u32 = 4;

/// Runs steps, each of which waits at the gate, where there is one, before it is done and again when it is recorded. The result
/// tells which attempt ran each.
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

/// Reports of usage an execution makes.
const REPORTS: u64 = 4;

/// Reports the spending, each report again until the engine has answered.
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

/// Does the work and tells of it.
#[derive(Clone)]
struct Teller {
    backend: Arc<dyn EngineBackend>,
    name: String,
}

impl Teller {
    /// Works until the gate lets it finish, where there is one.
    async fn work(&self, work: &Context, gate: Option<Gate>) -> Result<Reply, Fault> {
        say(&Line::Started(work.task().execution_id))?;
        if let Some(gate) = gate {
            gate.lock().await.next_line().await?;
        }
        self.finish(work).await
    }

    /// Works for some time, which differs from work to work, and says when that began and ended. Between the two it holds the lease.
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

    /// Finishes the work, asking again until the engine has answered.
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

/// Says a line at once, whole.
fn say(line: &Line) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}
