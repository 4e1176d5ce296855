//! An agent: a model that calls tools until it is done. Kill it with `kill -9` wherever you like and start it again in the same
//! folder: it goes on where it was, and calls no tool a second time whose result is recorded.
//!
//! The model is a script, so that this runs without a network. Everything else is as it would be: calls of the model and of the
//! tools are steps, tokens are streamed while they come and reported as usage, a budget stops it when it talks too much, and a person is
//! asked whether it may go on, and before money is spent.

use std::fs::OpenOptions;
use std::io::Write;
use std::time::Duration;

use ff_sdk::core::budget::BudgetDefinition;
use ff_sdk::core::contracts::StreamItem;
use ff_sdk::core::engine_error::Code;
use ff_sdk::{Client, Context, Error, Fault, Job, Signal, Waitpoint};
use serde::{Deserialize, Serialize};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let ff = ff_sdk::connect("sqlite:agent.db").await?;
    let client = ff.client();
    let budget = client.budget("agent")?;
    match budget.describe().await {
        Err(error) if error.code() == Some(Code::BudgetNotFound) => drop(budget.put(tokens_at_most(12)?).await?),
        known => drop(known?),
    }
    // The key makes the second start follow the execution of the first.
    let job = Job::new("agent", &"a weekend in Lisbon").idempotency_key("trip");
    let id = client.submit(job).await?.execution_id;
    let worker = ff.worker("agent").lease_ttl(Duration::from_secs(1)).on("agent", agent);
    let working = tokio::spawn(worker.run());

    // The reader: prints what the agent puts out, and is the person who is asked.
    let mut output = client.output(&id, None);
    while let Some(item) = output.next().await? {
        match item {
            StreamItem::Frame { stored, .. } if stored.frame.channel.as_str() == "question" => {
                let waitpoint: Waitpoint = serde_json::from_slice(&stored.frame.bytes)?;
                if waitpoint.waitpoint_key.as_str().starts_with("budget ") {
                    budget.put(tokens_at_most(100)?).await?;
                    println!("budget: raised, approval {}", answer(&client, &waitpoint).await?);
                } else {
                    println!("approval: {}", answer(&client, &waitpoint).await?);
                }
            }
            StreamItem::Frame { stored, .. } => println!("token: {}", str::from_utf8(&stored.frame.bytes)?),
            StreamItem::Superseded { attempt, .. } => println!("superseded: attempt {attempt}"),
            _ => {}
        }
    }
    println!("result: {}", client.wait(&id).await?.json::<String>()?);
    working.abort();
    ff.shutdown().await;
    Ok(())
}

/// A budget that has the agent ask when it has said so many tokens.
fn tokens_at_most(hard: u64) -> serde_json::Result<BudgetDefinition> {
    let limits = serde_json::json!({ "tokens": { "hard": hard } });
    serde_json::from_value(serde_json::json!({ "scope": "kind:agent", "limits": limits, "on_hard_limit": "suspend" }))
}

/// The person says yes, unless that was said before.
async fn answer(client: &Client, waitpoint: &Waitpoint) -> Result<&'static str, Error> {
    match client.signal(Signal::new(waitpoint, "approved")).await {
        Ok(_) => Ok("given"),
        Err(error) => match error.code() {
            Some(Code::WaitpointClosed | Code::TargetNotSignalable) => Ok("was given before"),
            _ => Err(error),
        },
    }
}

/// The agent: asks the model what to do next, does it, and tells the model what came of it.
async fn agent(ctx: Context, task: String) -> Result<String, Fault> {
    let mut messages = vec![task];
    loop {
        let turn = messages.len();
        let reply = ctx.step("model", || model(&ctx, &messages)).key(turn).retries(3).await?;
        // Named after the turn, so that a run that begins anew does not count it again.
        let tokens = reply.text.split_whitespace().count() as u64;
        // Where the budget is exceeded, the agent waits here until it may go on.
        let question = ctx.stream("question");
        let usage = ctx.usage().add("tokens", tokens).id(&format!("turn-{turn}"));
        usage.announce(move |waitpoint| async move { Ok(question.json(&waitpoint).await?) }).report().await?;
        let Some(call) = reply.call else { return Ok(reply.text) };
        if call.tool == "book" {
            ask(&ctx, &call).await?;
        }
        let result = ctx.step("tool", || use_tool(&call)).key(turn).retries(3).await?;
        println!("tool: {} {} -> {result}", call.tool, call.argument);
        messages.push(reply.text);
        messages.push(result);
    }
}

/// Asks a person. The question is part of the output, where readers find it.
async fn ask(ctx: &Context, call: &Call) -> Result<(), Fault> {
    let question = ctx.stream("question");
    let approval = ctx
        .wait_for_approval("book")
        .asking(&format!("Book {}?", call.argument))
        .announce(move |waitpoint| async move { Ok(question.json(&waitpoint).await?) });
    approval.await?.approved()?;
    Ok(())
}

/// What the model says, and the tool it wants to be called.
#[derive(Serialize, Deserialize)]
struct ModelReply {
    text: String,
    call: Option<Call>,
}

#[derive(Serialize, Deserialize)]
struct Call {
    tool: String,
    argument: String,
}

/// The model: says its next line token by token, which readers see at once.
async fn model(ctx: &Context, messages: &[String]) -> Result<ModelReply, Fault> {
    const SCRIPT: [(&str, Option<(&str, &str)>); 4] = [
        ("How is the weather in Lisbon this weekend?", Some(("weather", "Lisbon"))),
        ("It is fine. Which flights are there?", Some(("flights", "Lisbon"))),
        ("I take the cheapest one.", Some(("book", "TP 571"))),
        ("You fly with TP 571. Take sunglasses with you.", None),
    ];
    // Each turn before this one left what the model said and what the tool returned.
    let (text, call) = SCRIPT.get(messages.len() / 2).ok_or_else(|| Fault::permanent("model", "the script is over"))?;
    let out = ctx.stream("tokens");
    let mut pace = tokio::time::interval(Duration::from_millis(20));
    for token in text.split_inclusive(' ') {
        pace.tick().await;
        out.text(token).await?;
    }
    let call = call.map(|(tool, argument)| Call { tool: tool.to_owned(), argument: argument.to_owned() });
    Ok(ModelReply { text: (*text).to_owned(), call })
}

/// A tool. That it was called can be seen in `tools.log`.
async fn use_tool(call: &Call) -> Result<String, Fault> {
    let mut log = OpenOptions::new().create(true).append(true).open("tools.log")?;
    writeln!(log, "{} {}", call.tool, call.argument)?;
    Ok(match call.tool.as_str() {
        "weather" => "22 degrees, sun".to_owned(),
        "flights" => "TP 571 at 89 EUR, LH 1166 at 240 EUR".to_owned(),
        "book" => format!("booked {}", call.argument),
        other => return Err(Fault::permanent("tool", format!("there is no tool {other}"))),
    })
}
