//! A trace from the submitter over a real server to the handler of a real worker, as the worker's log shows it.

use ff_sdk::{Context, Fault};
use ff_server::Server;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::log;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

#[tokio::test]
async fn the_log_lines_of_a_handler_have_the_trace_of_the_submission() {
    log::collect();
    let store = ff_sdk::connect("memory:").await.unwrap();
    let server = Server::bind("127.0.0.1:0".parse().unwrap(), store.runtime().unwrap().clone()).await.unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    let stop = CancellationToken::new();
    let serving = tokio::spawn(server.serve(stop.clone()));

    let fabric = ff_sdk::connect(&url).await.unwrap();
    let worker = fabric.worker("w").lane("images").on("resize", |work: Context| async move {
        tracing::info!("resizing");
        if work.task().attempt_index.0 == 0 {
            return Err(Fault::retryable("network", "the first try fails"));
        }
        Ok::<_, Fault>(work.trace().map(|trace| trace.traceparent().to_owned()))
    });
    let working = tokio::spawn(worker.run());

    let traceparent = format!("00-{TRACE}-b7ad6b7169203331-01");
    let at_once = json!({"retry_policy": {"max_retries": 1, "backoff": {"type": "fixed", "delay_ms": 0}}});
    drop(rustls::crypto::ring::default_provider().install_default());
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = http.post(format!("{url}/v1/executions")).header("traceparent", &traceparent);
    let request = request.json(&json!({"kind": "resize", "lane": "images", "policy": at_once}));
    let submitted: Value = request.send().await.unwrap().json().await.unwrap();
    let id = submitted["execution_id"].as_str().unwrap();
    let end = fabric.client().wait(&id.parse().unwrap()).await.unwrap();
    assert_eq!(end.json::<Option<String>>().unwrap(), Some(traceparent), "a retry is in the same trace");

    working.abort();
    stop.cancel();
    serving.await.unwrap().unwrap();
    let text = log::collected();
    let from_handler: Vec<_> = text.lines().filter(|line| line.ends_with("resizing")).collect();
    assert_eq!(from_handler.len(), 2, "{text}");
    for (line, attempt) in from_handler.into_iter().zip(["attempt=0", "attempt=1"]) {
        let trace = format!("trace_id=\"{TRACE}\"");
        for expected in [&format!("execution={id}"), "lane=images", "worker=w-", attempt, &trace] {
            assert!(line.contains(expected), "{expected} is not in {line}");
        }
    }
}
