//! The smallest complete program: a store in memory, a worker, a job and its result.

use ff_sdk::{Context, Fault, Job};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let ff = ff_sdk::connect("memory:").await?;
    let worker = ff.worker("adder").on("add", add);
    let working = tokio::spawn(worker.run());

    let client = ff.client();
    let job = client.submit(Job::new("add", &[1, 2, 39])).await?;
    let sum: i64 = client.wait(&job.execution_id).await?.json()?;
    println!("1 + 2 + 39 = {sum}");

    working.abort();
    ff.shutdown().await;
    Ok(())
}

async fn add(_: Context, numbers: Vec<i64>) -> Result<i64, Fault> {
    Ok(numbers.iter().sum())
}
