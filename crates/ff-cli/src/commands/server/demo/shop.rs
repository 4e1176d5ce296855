//! The continuous work of the demo, for the console: mails, a nightly flow, an agent that streams text and asks for an
//! approval, answers that cost tokens, and reports in a paused lane.

use std::time::Duration;

use ff_api::PutSchedule;
use ff_core::contracts::QuotaDefinition;
use ff_core::policy::{Backoff, Policy};
use ff_core::quota::Rate;
use ff_core::types::ScheduleName;
use ff_sdk::{Client, Context, Fault, Flow, Job, Node, Worker};
use serde_json::{Value, json};
use tokio::time::interval;
use tokio_util::sync::CancellationToken;

/// Length of a round. Each round submits a mail.
const PACE: Duration = Duration::from_millis(1_500);

/// Number of rounds. They take half an hour, so that a forgotten demo does not fill the disk.
const ROUNDS: u64 = 1_200;

/// Rounds between two flows, and between two jobs of the agent.
const FLOW_EVERY: u64 = 24;
const AGENT_EVERY: u64 = 60;

/// Rounds between two questions, and the number of questions. The answers need more tokens than the budget has.
const QUESTION_EVERY: u64 = 2;
const QUESTIONS: u64 = 16;

/// Tokens that an answer reserves before it runs, and the budget for a quarter of an hour.
const ANSWER_TOKENS: u64 = 2_000;
const BUDGET_TOKENS: u64 = 20_000;

/// Time between two words that the agent streams.
const WORD: Duration = Duration::from_millis(90);

const CUSTOMERS: [&str; 4] = ["acme", "globex", "initech", "umbrella"];

/// Adds the lanes and the handlers of the work below to a worker.
pub(super) fn with_handlers(worker: Worker) -> Worker {
    worker
        .lane("default")
        .lane("mail")
        .lane("agents")
        .on("mail.send", send_mail)
        .on("table.fetch", fetch)
        .on("table.join", work_a_while)
        .on("report.render", work_a_while)
        .on("agent.offer", offer)
        .on("agent.answer", answer)
}

/// Submits work until `stop` is cancelled, for half an hour at most.
pub(super) async fn run(client: &Client, stop: &CancellationToken) -> anyhow::Result<()> {
    prepare(client).await?;
    let mut pace = interval(PACE);
    for round in 0..ROUNDS {
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            _ = pace.tick() => {}
        }
        client.submit(mail(round)).await?;
        if round % FLOW_EVERY == 0 {
            client.submit_flow(nightly()).await?;
        }
        if round % QUESTION_EVERY == 0 && round < QUESTION_EVERY * QUESTIONS {
            client.submit(question(round / QUESTION_EVERY)).await?;
        }
        if round % AGENT_EVERY == 0 {
            client.submit(agent_job(round)).await?;
        }
    }
    Ok(())
}

/// Creates a quota per customer, a budget that runs out, a schedule, and a paused lane with work in it.
async fn prepare(client: &Client) -> anyhow::Result<()> {
    let per_customer = QuotaDefinition {
        scope: "kind:mail.send".parse()?,
        per: Some("tag:customer".parse()?),
        rate: Some(Rate { limit: 30, window_ms: 60_000 }),
        max_concurrent: Some(2),
    };
    client.quota("mails-per-customer")?.put(per_customer).await?;
    let tokens = json!({
        "scope": "kind:agent.answer",
        "limits": { "tokens": { "hard": BUDGET_TOKENS, "soft": BUDGET_TOKENS * 3 / 4 }, "usd_micros": { "soft": 250_000 } },
        "reset": { "interval": { "every_ms": 900_000 } },
        "estimate": { "agent.answer": { "tokens": ANSWER_TOKENS } },
    });
    client.budget("answer-tokens")?.put(serde_json::from_value(tokens)?).await?;
    let hourly =
        json!({ "cron": "@hourly", "execution": { "kind": "report.render", "payload": { "hour": "{{tick}}" } } });
    let hourly: PutSchedule = serde_json::from_value(hourly)?;
    let name = ScheduleName::parse("hourly-report")?;
    let schedule = client.schedule(name.as_str())?;
    schedule.put(hourly.into_args(name)?.definition).await?;
    client.lane("reports")?.pause().await?;
    for week in 1..=5 {
        let report = Job::new("report.weekly", &json!({ "week": week })).lane("reports");
        client.submit(report.idempotency_key(&format!("demo-week-{week}"))).await?;
    }
    Ok(())
}

fn mail(round: u64) -> Job {
    let customer = CUSTOMERS[usize::try_from(round).unwrap_or_default() % CUSTOMERS.len()];
    let to = format!("user{}@{customer}.example", round % 17);
    Job::new("mail.send", &json!({ "to": to, "template": "receipt", "order": 1_700 + round }))
        .lane("mail")
        .tag("customer", customer)
        .policy(soon())
}

fn soon() -> Policy {
    let mut policy = Policy::default();
    policy.retry_policy.backoff = Backoff::Fixed { delay_ms: 2_000, jitter: false };
    policy
}

/// Returns a flow that fetches tables in parallel, joins them, and renders a report.
fn nightly() -> Flow {
    let fetch = |table: &str| Node::new("table.fetch", &json!({ "table": table }));
    Flow::new("demo.nightly")
        .tag("team", "data")
        .node("orders", fetch("orders"))
        .node("customers", fetch("customers"))
        .node("rates", fetch("rates"))
        .node("revenue", Node::new("table.join", &json!({ "ms": 2_400 })))
        .after("revenue", "orders")
        .after("revenue", "rates")
        .node("churn", Node::new("table.join", &json!({ "ms": 1_200 })))
        .after("churn", "orders")
        .after("churn", "customers")
        .node("report", Node::new("report.render", &json!({ "ms": 1_800 })))
        .after("report", "revenue")
        .after("report", "churn")
        .node("archive", Node::new("report.render", &json!({ "ms": 500 })))
        .after("archive", "report")
}

fn agent_job(round: u64) -> Job {
    let customer = CUSTOMERS[usize::try_from(round / AGENT_EVERY).unwrap_or_default() % CUSTOMERS.len()];
    Job::new("agent.offer", &json!({ "customer": customer, "product": "support plan", "seats": 40 }))
        .lane("agents")
        .tag("customer", customer)
        .policy(soon())
}

/// Returns the question of a customer. The answer costs tokens.
fn question(nth: u64) -> Job {
    const QUESTIONS: [&str; 3] = ["Where is my parcel?", "How do I cancel?", "Why was I charged twice?"];
    let pick = |of: &[&'static str]| of[usize::try_from(nth).unwrap_or_default() % of.len()];
    let customer = pick(&CUSTOMERS);
    Job::new("agent.answer", &json!({ "customer": customer, "question": pick(&QUESTIONS), "nth": nth }))
        .lane("agents")
        .tag("customer", customer)
}

/// Sends a mail. One mail in seven fails at first and is retried; one in nineteen cannot be delivered.
async fn send_mail(ctx: Context, mail: Value) -> Result<Value, Fault> {
    let order = mail["order"].as_u64().unwrap_or_default();
    let mut wait = interval(Duration::from_millis(120 + order * 37 % 500));
    wait.tick().await;
    wait.tick().await;
    if order.is_multiple_of(19) {
        return Err(Fault::permanent("smtp", format!("550 no such mailbox: {}", mail["to"])));
    }
    if order.is_multiple_of(7) && ctx.task().attempt_index.0 == 0 {
        return Err(Fault::retryable("smtp", "421 try again later"));
    }
    Ok(json!({ "accepted": true, "message_id": format!("{order}@mx.example") }))
}

async fn fetch(ctx: Context, table: Value) -> Result<Value, Fault> {
    let name = table["table"].as_str().unwrap_or_default();
    let mut steps = interval(Duration::from_millis(150 + 90 * name.len() as u64));
    for percent in [0, 50] {
        steps.tick().await;
        ctx.progress(Some(percent), Some(&format!("reading {name}"))).await?;
    }
    steps.tick().await;
    Ok(json!({ "table": name, "rows": 1_000 * name.len() }))
}

async fn work_a_while(_: Context, work: Value) -> Result<Value, Fault> {
    let mut wait = interval(Duration::from_millis(work["ms"].as_u64().unwrap_or(1_000).max(1)));
    wait.tick().await;
    wait.tick().await;
    Ok(json!({ "rows": 4_711 }))
}

/// Runs the agent: each action is a step, its text is streamed, and a person must approve the mail. The first attempt
/// fails in the middle, so that the stream contains superseded output.
async fn offer(ctx: Context, task: Value) -> Result<Value, Fault> {
    let customer = task["customer"].as_str().unwrap_or_default();
    ctx.step("read the contract", || say(&ctx, "Reading the contract: 12 months, 40 seats, renewal in three weeks.\n"))
        .await?;
    if ctx.task().attempt_index.0 == 0 {
        say(&ctx, "Drafting an offer: since you have used ").await?;
        return Err(Fault::retryable("model", "the model was overloaded"));
    }
    let draft = format!("Drafting an offer: {customer} gets 15 % for two years, and keeps its seats.\n");
    let draft = ctx.step("draft the offer", || say(&ctx, &draft)).await?;
    let question = format!("Send this offer to {customer}? 15 % off for two years.");
    ctx.wait_for_approval("send").asking(&question).timeout(Duration::from_secs(24 * 3_600)).await?.approved()?;
    ctx.step("send the offer", || say(&ctx, "Approved. The offer is on its way.\n")).await?;
    Ok(json!({ "customer": customer, "offer": draft }))
}

/// Answers a question and reports its cost: tokens, and money at five dollars per million tokens.
async fn answer(ctx: Context, task: Value) -> Result<Value, Fault> {
    let nth = task["nth"].as_u64().unwrap_or_default();
    let words = [
        ("Looking at the orders", 420),
        (" of this customer.", 310),
        (" Here is what I found …\n", 700 + nth * 137 % 500),
    ];
    let mut tokens = 0;
    for (text, cost) in words {
        say(&ctx, text).await?;
        ctx.usage().add("tokens", cost).add("usd_micros", cost * 5).report().await?;
        tokens += cost;
    }
    Ok(json!({ "question": task["question"], "tokens": tokens }))
}

/// Streams a text word by word.
async fn say(ctx: &Context, text: &str) -> Result<String, Fault> {
    let out = ctx.stream("out");
    let mut pace = interval(WORD);
    for word in text.split_inclusive(' ') {
        pace.tick().await;
        out.text(word).await?;
    }
    Ok(text.trim_end().to_owned())
}
