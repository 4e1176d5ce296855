//! A server to test against, and its responses.

use std::sync::Arc;

use ff_backend_memory::MemoryBackend;
use ff_core::backend::EngineStore;
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::backend::entropy::SystemEntropy;
use ff_core::backend::snapshot::Snapshot;
use ff_core::partition::PartitionConfig;
use ff_scheduler::Runtime;
use ff_server::{Limits, Metrics, Server, ServerOptions};
use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Number of partitions, small enough to check all of them after every request.
pub(crate) const PARTITIONS: u16 = 4;

/// A server over a store in memory, with a client of it.
pub(crate) struct World {
    pub(crate) url: String,
    pub(crate) http: reqwest::Client,
    pub(crate) stop: CancellationToken,
    pub(crate) serving: JoinHandle<std::io::Result<()>>,
    /// The API key of every request, if the server requires keys.
    pub(crate) key: Option<String>,
    store: Arc<dyn EngineStore>,
}

/// A response of the server.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

/// Returns a store with this clock.
pub(crate) fn memory(clock: Arc<dyn Clock>) -> MemoryBackend {
    let partitions = PartitionConfig { num_flow_partitions: PARTITIONS, ..PartitionConfig::default() };
    MemoryBackend::new(partitions, clock, Arc::new(SystemEntropy))
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::over(Arc::new(memory(Arc::new(SystemClock)))).await
    }

    pub(crate) async fn over(store: Arc<dyn EngineStore>) -> Self {
        Self::over_within(store, Limits::default()).await
    }

    /// Starts a server with these limits over a store of its own.
    pub(crate) async fn within(limits: Limits) -> Self {
        Self::over_within(Arc::new(memory(Arc::new(SystemClock))), limits).await
    }

    /// Starts a server with these limits.
    pub(crate) async fn over_within(store: Arc<dyn EngineStore>, limits: Limits) -> Self {
        Self::over_with(store, ServerOptions { limits, ..ServerOptions::default() }).await
    }

    /// Starts a server with these options.
    pub(crate) async fn over_with(store: Arc<dyn EngineStore>, options: ServerOptions) -> Self {
        let ff = Runtime::without_engine(store.clone());
        let server = Server::bind_with("127.0.0.1:0".parse().unwrap(), ff, options).await.unwrap();
        Self::serving(server, store)
    }

    /// Starts a server with metrics.
    pub(crate) async fn counted(store: Arc<dyn EngineStore>, metrics: Metrics) -> Self {
        let server =
            Server::bind("127.0.0.1:0".parse().unwrap(), Runtime::without_engine(store.clone())).await.unwrap();
        Self::serving(server.measured(metrics), store)
    }

    fn serving(server: Server, store: Arc<dyn EngineStore>) -> Self {
        let url = format!("http://{}", server.local_addr().unwrap());
        let stop = CancellationToken::new();
        let serving = tokio::spawn(server.serve(stop.clone()));
        // The client needs a TLS provider even for plain HTTP. Another test of the process may have installed it already.
        drop(rustls::crypto::ring::default_provider().install_default());
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { url, http, stop, serving, key: None, store }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.url));
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// Returns a GET request with another key, or with other text in its place.
    pub(crate) fn request_with(&self, key: &str, path: &str) -> RequestBuilder {
        self.http.get(format!("{}{path}", self.url)).bearer_auth(key)
    }

    /// Returns a request for an event stream, which goes on after the last event that was received.
    pub(crate) fn follow(&self, path: &str, last: Option<&str>) -> RequestBuilder {
        let request = self.request(Method::GET, path).header("accept", "text/event-stream");
        last.into_iter().fold(request, |request, id| request.header("last-event-id", id))
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        answer(self.request(Method::GET, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Reply {
        answer(self.request(Method::POST, path).json(body)).await
    }

    /// Sends a body unchanged.
    pub(crate) async fn post_text(&self, path: &str, body: impl Into<reqwest::Body>) -> Reply {
        answer(self.request(Method::POST, path).header("content-type", "application/json").body(body)).await
    }

    /// Submits an execution and returns its id.
    pub(crate) async fn submit(&self, new: &Value) -> String {
        let reply = self.post("/v1/executions", new).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        reply.text("execution_id")
    }

    /// Submits a flow and returns its id.
    pub(crate) async fn flow(&self, new: &Value) -> String {
        let reply = self.post("/v1/flows", new).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        reply.text("flow_id")
    }

    /// Claims an execution of a kind, as instance `w-1`.
    pub(crate) async fn claim(&self, kind: &str) -> LeasedExecution {
        let claimed = self.post("/v1/workers/w-1/claim", &json!({"worker_id": "w", "kinds": [kind]})).await;
        assert_eq!(claimed.status, 200, "{claimed:?}");
        LeasedExecution(claimed.body["executions"][0].clone())
    }

    /// Claims any execution, as instance `w-2`.
    pub(crate) async fn claim_next(&self) -> LeasedExecution {
        let claimed = self.post("/v1/workers/w-2/claim", &json!({"worker_id": "w"})).await;
        LeasedExecution(claimed.body["executions"][0].clone())
    }

    /// Submits an execution of this kind and claims it as instance `w-1`. The result has its fence.
    pub(crate) async fn running(&self, kind: &str) -> LeasedExecution {
        self.submit(&json!({"kind": kind, "payload": kind})).await;
        self.claim(kind).await
    }

    /// Returns everything the store holds.
    pub(crate) async fn contents(&self) -> Vec<Snapshot> {
        let mut contents = Vec::new();
        for partition in 0..PARTITIONS {
            contents.push(self.store.snapshot(partition).await.unwrap());
        }
        contents
    }

    /// Stops the server and waits until it has.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.serving.await.unwrap().unwrap();
    }
}

/// An execution under a lease.
pub(crate) struct LeasedExecution(pub(crate) Value);

impl LeasedExecution {
    /// Returns the path of a call on the execution.
    pub(crate) fn path(&self, verb: &str) -> String {
        format!("/v1/executions/{}/{verb}", self.0["execution_id"].as_str().unwrap())
    }

    /// Returns the body of a holder's call: the fence and the fields of the call.
    pub(crate) fn call(&self, body: Value) -> Value {
        let mut call = body;
        for part in ["lease_id", "lease_epoch", "attempt_id"] {
            call[part] = self.0[part].clone();
        }
        call
    }
}

impl LeasedExecution {
    /// Returns the description of the execution.
    pub(crate) async fn info(&self, world: &World) -> Value {
        world.get(self.path("").trim_end_matches('/')).await.body
    }

    /// Completes the execution with a result.
    pub(crate) async fn complete(&self, world: &World, result: Value) {
        let reply = world.post(&self.path("complete"), &self.call(json!({"result": result}))).await;
        assert_eq!(reply.status, 200, "{reply:?}");
    }

    /// Suspends the execution; the reply has its waitpoints with their tokens.
    pub(crate) async fn suspend(&self, world: &World, body: Value) -> Value {
        let reply = world.post(&self.path("suspend"), &self.call(body)).await;
        assert_eq!((reply.status.as_u16(), &reply.body["outcome"]), (200, &json!("suspended")), "{reply:?}");
        reply.body
    }

    /// Suspends the execution on one waitpoint, and returns the granted waitpoint.
    pub(crate) async fn suspended(&self, world: &World, key: &str) -> Value {
        self.suspend(world, json!({"waitpoints": [{"key": key}]})).await["waitpoints"][0].clone()
    }

    /// Creates a waitpoint ahead of a suspension, and returns the granted waitpoint.
    pub(crate) async fn ahead(&self, world: &World, key: &str) -> Value {
        let reply = world.post(&self.path("waitpoints"), &self.call(json!({"key": key}))).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.body
    }
}

impl Reply {
    pub(crate) fn text(&self, field: &str) -> String {
        self.body[field].as_str().unwrap_or_else(|| panic!("no {field} in {self:?}")).to_owned()
    }

    /// Asserts that this is a refusal with a code, about a field.
    pub(crate) fn assert_refused(&self, status: u16, code: &str, field: Option<&str>) {
        let content_type = self.headers.get("content-type").and_then(|value| value.to_str().ok());
        assert_eq!(content_type, Some("application/problem+json"), "{self:?}");
        assert_eq!(self.body["code"], code, "{self:?}");
        assert_eq!((self.status.as_u16(), &self.body["status"]), (status, &json!(status)), "{self:?}");
        assert_eq!(self.body.get("field").and_then(Value::as_str), field, "{self:?}");
        assert_eq!(self.body["type"], format!("/errors/{code}"), "{self:?}");
        assert!(self.body["title"].as_str().is_some_and(|title| title.ends_with('.')), "{self:?}");
        assert!(self.body["class"].is_string(), "{self:?}");
        self.assert_says_what_is_wrong();
    }

    /// Asserts that the detail of bad input reads `field: what is wrong, what is allowed`. The field is a path, which may
    /// contain names that the caller chose, or a header.
    fn assert_says_what_is_wrong(&self) {
        let Some(field) = self.body.get("field").and_then(Value::as_str).filter(|_| self.status == 400) else {
            assert_ne!(self.body["code"], "invalid_input", "{self:?}");
            return;
        };
        assert!(field.starts_with(|first: char| first.is_ascii_alphabetic()), "{self:?}");
        if let Some(detail) = self.body.get("detail").and_then(Value::as_str) {
            let what = detail.strip_prefix(field).and_then(|detail| detail.strip_prefix(": "));
            assert!(what.is_some_and(|what| what.starts_with(|first: char| first.is_ascii_lowercase())), "{self:?}");
        }
    }
}

pub(crate) async fn answer(request: RequestBuilder) -> Reply {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let bytes = response.bytes().await.unwrap();
    let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
    Reply { status, headers, body }
}
