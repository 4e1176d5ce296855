//! The metrics for Prometheus, and a check that docs/metrics.md describes the same ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ff_backend_memory::MemoryBackend;
use ff_core::backend::EngineStore;
use ff_core::backend::clock::ManualClock;
use ff_core::types::TimestampMs;
use ff_scheduler::Runtime;
use ff_server::{Metrics, Server};
use reqwest::Method;
use serde_json::json;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::world::{PARTITIONS, World, memory};

const PAGE: &str = include_str!("../../../../../docs/metrics.md");

/// A server with metrics, over a store whose clock the test controls.
struct MeteredServer {
    world: World,
    store: Arc<dyn EngineStore>,
    clock: Arc<ManualClock>,
}

impl MeteredServer {
    async fn start() -> Self {
        let clock = Arc::new(ManualClock::at(TimestampMs(1_760_000_000_000)));
        let metrics = Metrics::new();
        let store = metrics.over(Arc::new(memory(clock.clone())));
        Self { world: World::counted(store.clone(), metrics).await, store, clock }
    }

    /// Fires all due timers.
    async fn pump(&self) {
        for partition in 0..PARTITIONS {
            self.store.pump(partition).await.unwrap();
        }
    }

    async fn scrape(&self) -> String {
        self.world.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap()
    }
}

/// Returns the value of a sample, found by the start of its line.
fn value(text: &str, sample: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("there is no {sample} in\n{text}")).parse().unwrap()
}

/// Returns the type and labels of every metric, from its samples.
fn parse_metrics(text: &str) -> BTreeMap<String, (String, BTreeSet<String>)> {
    let mut found = BTreeMap::new();
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    for (name, kind) in types {
        let samples = text.lines().filter(|line| !line.starts_with('#') && line.starts_with(name));
        let labels = samples.filter_map(|line| line.split_once('{')?.1.rsplit_once('}'));
        let keys = labels.flat_map(|(labels, _)| labels.split("\",").filter_map(|label| label.split_once('=')));
        let keys = keys.map(|(key, _)| key.to_owned()).filter(|key| key != "le");
        found.insert(name.to_owned(), (kind.to_owned(), keys.collect()));
    }
    found
}

/// Returns the type and labels of every metric, from the table in docs/metrics.md.
fn documented() -> BTreeMap<String, (String, BTreeSet<String>)> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `ff_")?.split_once("` | "));
    let cells = |rest: &'static str| rest.split('|').map(str::trim).collect::<Vec<_>>();
    let rows = rows.map(|(name, rest)| (format!("ff_{name}"), cells(rest)));
    rows.filter(|(_, cells)| ["gauge", "counter", "histogram"].contains(&cells[0]))
        .map(|(name, cells)| {
            let labels = cells[1].split(',').map(|label| label.trim().trim_matches('`').to_owned());
            (name, (cells[0].to_owned(), labels.filter(|label| !label.is_empty()).collect()))
        })
        .collect()
}

#[tokio::test]
async fn the_page_and_the_server_name_the_same_metrics() {
    let counted = MeteredServer::start().await;
    let world = &counted.world;
    let cursor = world.get("/v1/events").await.text("next");
    world.submit(&json!({"kind": "waits"})).await;
    world.running("done").await.complete(world, json!(1)).await;
    let held = world.running("goes-wrong").await;
    world.post(&held.path("fail"), &held.call(json!({"category": "net", "message": "no route"}))).await;
    assert_eq!(world.get(&format!("/v1/events?after={cursor}")).await.status, 200);
    let budget = json!({"scope": "kind:other", "limits": {"tokens": {"hard": 5, "soft": 4}}});
    assert_eq!(world.post("/v1/budgets/daily", &budget).await.status, 200);
    assert_eq!(parse_metrics(&counted.scrape().await), documented());
}

#[tokio::test]
async fn every_metric_of_the_page_is_among_what_to_alert_on() {
    let alerts = PAGE.split("## What to alert on").nth(1).unwrap();
    for name in documented().keys() {
        assert!(alerts.contains(name.as_str()), "nothing is said about {name}");
    }
}

#[tokio::test]
async fn a_repeated_call_is_counted_once() {
    let counted = MeteredServer::start().await;
    let world = &counted.world;
    let held = world.running("done").await;
    held.complete(world, json!(1)).await;
    held.complete(world, json!(1)).await;
    let held = world.running("goes-wrong").await;
    let failure = held.call(json!({"category": "net", "message": "no route", "permanent": true}));
    for _ in 0..2 {
        assert_eq!(world.post(&held.path("fail"), &failure).await.status, 200);
    }
    let text = counted.scrape().await;
    let lane = r#"{namespace="default",lane="default"}"#;
    assert_eq!(value(&text, &format!("ff_claims_total{lane}")), 2.0);
    assert_eq!(value(&text, r#"ff_attempts_total{origin="initial"}"#), 2.0);
    assert_eq!(value(&text, "ff_completions_total"), 1.0);
    assert_eq!(value(&text, r#"ff_failures_total{category="net",outcome="failed"}"#), 1.0);
    assert_eq!(value(&text, "ff_start_latency_seconds_count"), 2.0);
    for outcome in ["completed", "failed"] {
        assert_eq!(value(&text, &format!("ff_run_seconds_count{{outcome=\"{outcome}\"}}")), 1.0);
    }
    let route = r#"ff_http_request_seconds_count{method="POST",route="/v1/executions/{id}/complete",status="2xx"}"#;
    assert_eq!(value(&text, route), 2.0);
}

#[tokio::test]
async fn an_expired_lease_is_counted_once() {
    let counted = MeteredServer::start().await;
    counted.world.running("slow").await;
    counted.clock.advance(3_600_000);
    counted.pump().await;
    counted.pump().await;
    counted.world.claim("slow").await;
    let text = counted.scrape().await;
    assert_eq!(value(&text, "ff_lease_expiries_total"), 1.0);
    assert_eq!(value(&text, r#"ff_attempts_total{origin="reclaim"}"#), 1.0);
    assert_eq!(value(&text, "ff_attempt_timeouts_total"), 0.0);
}

#[tokio::test]
async fn lane_metrics_come_from_the_store_without_finished_executions() {
    let counted = MeteredServer::start().await;
    let world = &counted.world;
    world.running("done").await.complete(world, json!(1)).await;
    world.submit(&json!({"kind": "waits", "lane": "mail", "namespace": "acme"})).await;
    counted.clock.advance(7_000);
    world.submit(&json!({"kind": "waits", "lane": "mail", "namespace": "acme"})).await;
    let text = counted.scrape().await;
    let waiting = r#"{namespace="acme",lane="mail",state="waiting"}"#;
    assert_eq!(value(&text, &format!("ff_lane_depth{waiting}")), 2.0);
    assert_eq!(value(&text, &format!("ff_lane_oldest_seconds{waiting}")), 7.0);
    assert_eq!(value(&text, "ff_store_up"), 1.0);
    assert!(!text.contains("finished"), "{text}");
    assert!(!text.contains(r#"ff_lane_depth{namespace="default""#), "{text}");
}

#[tokio::test]
async fn repeated_scrapes_do_not_load_the_store() {
    let counted = MeteredServer::start().await;
    for _ in 0..20 {
        counted.scrape().await;
    }
    let looked = value(&counted.scrape().await, r#"ff_store_seconds_count{operation="list_lanes"}"#);
    // A read of the lanes is reused for five seconds; a machine that takes longer for this loop may read again.
    assert!(looked <= 2.0, "{looked} looks");
}

#[tokio::test]
async fn a_server_that_counts_nothing_says_so() {
    let reply = World::start().await.get("/metrics").await;
    assert_eq!(reply.status, 404);
    assert!(reply.text("detail").contains("collects no metrics"), "{reply:?}");
}

#[tokio::test]
async fn scrapers_have_an_address_where_there_is_nothing_else() {
    let ff = Runtime::without_engine(Arc::new(MemoryBackend::default()));
    let mut server = Server::bind("127.0.0.1:0".parse().unwrap(), ff).await.unwrap();
    let scraped = server.scraped_at("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let stop = CancellationToken::new();
    let serving = tokio::spawn(server.serve(stop.clone()));
    drop(rustls::crypto::ring::default_provider().install_default());
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let response = http.get(format!("http://{scraped}/metrics")).send().await.unwrap();
    let media_type = response.headers()["content-type"].to_str().unwrap().to_owned();
    assert!(media_type.starts_with("text/plain"), "{media_type}");
    assert!(!response.text().await.unwrap().contains("# EOF"), "the older format knows no end");
    let request =
        http.get(format!("http://{scraped}/metrics")).header("accept", "application/openmetrics-text;version=1.0.0");
    let response = request.send().await.unwrap();
    assert!(response.headers()["content-type"].to_str().unwrap().starts_with("application/openmetrics-text"));
    assert!(response.text().await.unwrap().ends_with("# EOF\n"));
    let other = http.get(format!("http://{scraped}/v1/partitions")).send().await.unwrap();
    assert_eq!(other.status(), 404);
    let page = http.get(format!("http://{scraped}/metrics")).header("host", "example.org").send().await.unwrap();
    assert_eq!(page.status(), 403, "a page of another site reads nothing over loopback");
    let mut silent = Vec::new();
    for _ in 0..64 {
        silent.push(TcpStream::connect(scraped).await.unwrap());
    }
    let request = reqwest::Client::builder().no_proxy().build().unwrap().get(format!("http://{scraped}/metrics"));
    assert_eq!(request.send().await.unwrap().status(), 200, "connections that say nothing keep no scraper out");
    stop.cancel();
    serving.await.unwrap().unwrap();
}
