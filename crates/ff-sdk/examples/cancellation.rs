//! A long handler is notified at once that its execution was cancelled.

use std::sync::Arc;

use ff_sdk::{Context, Fault, Job, Reply};
use tokio::sync::Notify;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let ff = ff_sdk::connect("memory:").await?;
    let started = Arc::new(Notify::new());
    let stopped = Arc::new(Notify::new());
    let (tell_started, tell_stopped) = (started.clone(), stopped.clone());
    let worker = ff.worker("patient").on("wait", move |ctx: Context| {
        let (started, stopped) = (tell_started.clone(), tell_stopped.clone());
        async move {
            started.notify_one();
            ctx.cancelled().await;
            println!("the handler was told to stop");
            stopped.notify_one();
            Ok::<_, Fault>(Reply::done())
        }
    });
    let working = tokio::spawn(worker.run());

    let client = ff.client();
    let job = client.submit(Job::new("wait", &())).await?;
    started.notified().await;
    client.cancel(&job.execution_id, Some("changed my mind")).await?;
    stopped.notified().await;
    println!("the execution is {}", client.get(&job.execution_id).await?.public_state);

    working.abort();
    ff.shutdown().await;
    Ok(())
}
