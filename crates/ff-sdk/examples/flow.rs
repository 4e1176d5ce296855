//! A flow: three nodes read in parallel, the next node runs when two of them have succeeded, and its handler splits the
//! work among children.

use ff_sdk::{Context, Fault, Flow, Node, quorum};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let ff = ff_sdk::connect("memory:").await?;
    let worker = ff.worker("words").on("read", read).on("count", count).on("length", length).concurrency(4);
    let working = tokio::spawn(worker.run());

    let report = Flow::new("report")
        .node("north", Node::new("read", &"snow wind ice"))
        .node("south", Node::new("read", &"sun sand"))
        .node("west", Node::new("read", &"rain rain rain rain"))
        .node("count", Node::empty("count"))
        .after("count", "north")
        .passing("north")
        .after("count", "south")
        .passing("south")
        .after("count", "west")
        .passing("west")
        .join(quorum(2))
        .tag("team", "weather");
    let flow = ff.client().submit_flow(report).await?;

    let mut events = flow.events();
    while let Some(event) = events.next().await {
        println!("{}", serde_json::to_string(&event?.what)?);
    }
    let end = flow.wait().await?;
    let letters: usize = flow.result("count").await?.json()?;
    println!("{} with {letters} letters", end.state());

    working.abort();
    ff.shutdown().await;
    Ok(())
}

async fn read(_: Context, text: String) -> Result<Vec<String>, Fault> {
    Ok(text.split(' ').map(str::to_owned).collect())
}

/// Counts letters. It is called when two nodes have succeeded, and again from its start when its children have ended.
async fn count(ctx: Context) -> Result<usize, Fault> {
    let mut words = Vec::new();
    for place in ["north", "south", "west"] {
        words.extend(ctx.input_if_any::<Vec<String>>(place).await?.unwrap_or_default());
    }
    let children = words.iter().enumerate().map(|(nth, word)| (format!("word-{nth}"), Node::new("length", word)));
    let lengths: Vec<usize> = ctx.children("words").add_all(children).await?.results()?;
    Ok(lengths.iter().sum())
}

async fn length(_: Context, word: String) -> Result<usize, Fault> {
    Ok(word.len())
}
