//! An agent: a model that calls tools until its task is done. Kill it at any time with `kill -9` and start it again in the
//! same folder: it continues where it stopped, and does not repeat a tool call whose result is recorded.
//!
//! The model is a script, so that the example runs without a network. Everything else is as in a real agent: the calls of
//! the model and of the tools are steps, and tokens are streamed as they arrive and are reported as usage. A budget pauses
//! the agent when it uses too many tokens, and then a person must approve that it continues. A person must also approve
//! before money is spent.

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
    // The idempotency key makes the second start follow the execution of the first.
    let job = Job::new("agent", &"a weekend in Lisbon").idempotency_key("trip");
    let id = client.submit(job).await?.execution_id;
    let worker = ff.worker("agent").lease_ttl(Duration::from_secs(1)).on("agent", agent);
    let working = tokio::spawn(worker.run());

    // The reader: prints the output of the agent, and answers its questions in place of a person.
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

/// Returns a budget that pauses the agent for an approval when it exceeds this number of tokens.
fn tokens_at_most(hard: u64) -> serde_json::Result<BudgetDefinition> {
    let limits = serde_json::json!({ "tokens": { "hard": hard } });
    serde_json::from_value(serde_json::json!({ "scope": "kind:agent", "limits": limits, "on_hard_limit": "suspend" }))
}

/// Approves in place of a person, unless the question was answered before.
async fn answer(client: &Client, waitpoint: &Waitpoint) -> Result<&'static str, Error> {
    match client.signal(Signal::new(waitpoint, "approved")).await {
        Ok(_) => Ok("given"),
        Err(error) => match error.code() {
            Some(Code::WaitpointClosed | Code::TargetNotSignalable) => Ok("was given before"),
            _ => Err(error),
        },
    }
}

/// The agent: asks the model for the next action, performs the action, and passes its result to the model.
async fn agent(ctx: Context, task: String) -> Result<String, Fault> {
    let mut messages = vec![task];
    loop {
        let turn = messages.len();
        let reply = ctx.step("model", || model(&ctx, &messages)).key(turn).retries(3).await?;
        // The usage report is named after the turn, so that a run that starts again does not count the tokens again.
        let tokens = reply.text.split_whitespace().count() as u64;
        // If the budget is exceeded, the agent waits here for an approval.
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

/// Asks a person for an approval. The question is part of the output, where readers find it.
async fn ask(ctx: &Context, call: &Call) -> Result<(), Fault> {
    let question = ctx.stream("question");
    let approval = ctx
        .wait_for_approval("book")
        .asking(&format!("Book {}?", call.argument))
        .announce(move |waitpoint| async move { Ok(question.json(&waitpoint).await?) });
    approval.await?.approved()?;
    Ok(())
}

/// The reply of the model: a text, and the tool to call, if any.
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

/// The model: writes its next line token by token, which readers see at once.
async fn model(ctx: &Context, messages: &[String]) -> Result<ModelReply, Fault> {
    const SCRIPT: [(&str, Option<(&str, &str)>); 4] = [
        ("How is the weather in Lisbon this weekend?", Some(("weather", "Lisbon"))),
        ("It is fine. Which flights are there?", Some(("flights", "Lisbon"))),
        ("I take the cheapest one.", Some(("book", "TP 571"))),
        ("You fly with TP 571. Take sunglasses with you.", None),
    ];
    // Each earlier turn has added two messages: the text of the model and the result of the tool.
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

/// Calls a tool, and logs the call in `tools.log`.
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
