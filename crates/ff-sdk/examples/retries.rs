//! A handler that fails twice and then succeeds, and the record of its attempts.

use std::sync::atomic::{AtomicU32, Ordering};

use ff_sdk::core::policy::{Backoff, Policy};
use ff_sdk::{Context, Fault, Job};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let ff = ff_sdk::connect("memory:").await?;
    let worker = ff.worker("caller").state(AtomicU32::new(0)).on("call", |ctx: Context| async move {
        let calls = ctx.state::<AtomicU32>()?.fetch_add(1, Ordering::Relaxed) + 1;
        if calls < 3 {
            return Err(Fault::retryable("network", format!("no answer to call {calls}")));
        }
        Ok(format!("answered at call {calls}"))
    });
    let working = tokio::spawn(worker.run());

    let mut policy = Policy::default();
    policy.retry_policy.backoff = Backoff::Fixed { delay_ms: 20, jitter: true };
    let client = ff.client();
    let job = client.submit(Job::new("call", &()).policy(policy)).await?;
    let answer: String = client.wait(&job.execution_id).await?.json()?;
    println!("{answer}");
    for attempt in client.attempts(&job.execution_id).await?.attempts {
        println!("attempt {}: {:?}", attempt.index, attempt.end.map(|end| end.outcome));
    }

    working.abort();
    ff.shutdown().await;
    Ok(())
}
