//! A handler asks a person for an approval, waits for the answer without occupying a worker, and then continues.

use std::time::Duration;

use ff_sdk::{Context, Decision, Fault, Job, Signal, Waitpoint};
use serde_json::json;
use tokio::sync::mpsc;

/// The channel through which the person gets the approval links.
type Inbox = mpsc::UnboundedSender<Waitpoint>;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let ff = ff_sdk::connect("memory:").await?;
    let (inbox, mut letters) = mpsc::unbounded_channel::<Waitpoint>();
    let worker = ff.worker("releases").state(inbox).on("deploy", deploy);
    let working = tokio::spawn(worker.run());

    let client = ff.client();
    let job = client.submit(Job::new("deploy", &"1.4")).await?;

    // The person opens the link in a browser or, as here, a program answers.
    if let Some(waitpoint) = letters.recv().await {
        println!("asked at {}", waitpoint.approval_url("http://127.0.0.1:7070")?);
        let yes = Signal::new(&waitpoint, "approved").json(&json!({ "comment": "looks good" }));
        client.signal(yes).await?;
    }
    let answer: String = client.wait(&job.execution_id).await?.json()?;
    println!("{answer}");

    working.abort();
    ff.shutdown().await;
    Ok(())
}

/// The handler. It is called once to ask, and again from its start when the answer has arrived.
async fn deploy(ctx: Context, version: String) -> Result<String, Fault> {
    println!("the handler runs");
    let inbox = ctx.state::<Inbox>()?;
    let asked = ctx
        .wait_for_approval("deploy")
        .asking(&format!("Deploy {version} to production?"))
        .timeout(Duration::from_secs(24 * 60 * 60))
        .announce(move |waitpoint| async move {
            inbox.send(waitpoint).map_err(|_| Fault::retryable("mail", "nobody reads the inbox"))
        });
    match asked.await? {
        Decision::Approved(verdict) => Ok(format!("deployed {version}: {}", verdict.comment.unwrap_or_default())),
        Decision::Rejected(verdict) => Ok(format!("kept the old one: {}", verdict.comment.unwrap_or_default())),
    }
}
