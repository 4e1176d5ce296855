//! One tenant, and callers without a key, use as many resources as they can get. Another tenant is still served, and
//! the server stays within its memory limit.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use ff_core::api_key::{Role, SecretKey};
use ff_core::backend::Answer;
use ff_core::backend::entropy::SystemEntropy;
use ff_core::contracts::{CompleteArgs, CreateKeyArgs, NextArgs, SubmitArgs, Task};
use ff_core::execution::Tags;
use ff_core::lease::Holder;
use ff_core::payload::Payload;
use ff_core::types::{KeyName, Kind, Namespace, TagKey, TagValue};
use ff_sdk::{Connect, FlowFabric};
use ff_testing::number;
use ff_testing::processes::ServerProcess;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::stop;

/// Limit of the 99th percentile of the other tenant's response times.
const P99: Duration = Duration::from_millis(50);

/// The memory that callers may make the server use: half of the bytes of bodies for the one key, pages and payloads of
/// requests in progress, and the buffers of all connections that this test opens.
const MEMORY: u64 = 512 * 1024 * 1024;

/// The requests by which a caller tries to exhaust the server, each on its own connection.
#[derive(Clone, Copy, Debug)]
enum Attack {
    /// Requests without a key that send one byte of their body, to a route that requires no key.
    SlowBodies,
    /// The same requests with a key.
    SlowBodiesWithKey,
    /// Submissions of flows that omit the last byte of the body.
    UnfinishedFlows,
    /// Connections without any request.
    Silence,
    /// Large request heads that never end.
    UnfinishedHeads,
    /// Pages of a listing that the caller does not read.
    UnreadPages,
    /// Documents that the caller does not read, requested without a key.
    UnreadDocuments,
    /// Authorization headers without a valid key, a hundred on each connection.
    WrongKeys,
    /// Event streams.
    Streams,
    /// Claims with a long poll.
    Waits,
}

const ATTACKS: &[(Attack, usize)] = &[
    (Attack::SlowBodies, 1_200),
    (Attack::SlowBodiesWithKey, 1_200),
    (Attack::UnfinishedFlows, 16),
    (Attack::Silence, 1_500),
    (Attack::UnfinishedHeads, 300),
    (Attack::UnreadPages, 200),
    (Attack::UnreadDocuments, 200),
    (Attack::WrongKeys, 50),
    (Attack::Streams, 300),
    (Attack::Waits, 600),
];

/// `FF_ABUSE_CALLS` sets how often the other tenant is served during each attack. A machine may stall for a moment, so another
/// server, which is not attacked, serves at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attacking_tenant_does_not_starve_another_tenant() {
    open_as_many_files_as_allowed();
    let folder = tempfile::tempdir().unwrap();
    let store = |name: &str| format!("sqlite:{}", folder.path().join(name).display());
    let [greedy, other] = keys(&store("attacked.db"), ["greedy", "other"]).await;
    let server = ServerProcess::over(store("attacked.db")).await;
    let others = connect(&server, other, "other").await;
    let [unattacked] = keys(&store("left-alone.db"), ["unattacked"]).await;
    let left_alone = ServerProcess::over(store("left-alone.db")).await;
    let unattacked = connect(&left_alone, unattacked, "unattacked").await;
    fill(&connect(&server, greedy.clone(), "greedy").await).await;
    let calls = number("FF_ABUSE_CALLS", 150);
    for (attack, times) in ATTACKS {
        let held = begin(&server, *attack, *times, &greedy.expose()).await;
        let mut comparison = Vec::new();
        let took = tokio::select! {
            took = serve(&others, calls) => took,
            never = serve_on(&unattacked, &mut comparison) => match never {},
        };
        let (took, comparison, memory) = (p99(took), p99(comparison), server.memory());
        drop(held);
        println!("{attack:?}: p99 {took:?}, without attacks {comparison:?}, {} MiB", memory / 1024 / 1024);
        let limit = P99.max(3 * comparison);
        assert!(took <= limit, "{attack:?}: the other tenant waits {took:?}, without attacks {comparison:?}");
        assert!(memory <= MEMORY, "{attack:?}: the server holds {memory} bytes");
    }
    stop(left_alone).await;
    stop(server).await;
}

fn open_as_many_files_as_allowed() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
}

/// Creates a key for each of these tenants, with all permissions of a tenant.
async fn keys<const N: usize>(store: &str, tenants: [&str; N]) -> [SecretKey; N] {
    let ff = Connect::to(store).without_engine().connect().await.unwrap();
    let keys = tenants.map(|_| SecretKey::draw(&SystemEntropy));
    for (key, tenant) in keys.iter().zip(tenants) {
        let args = CreateKeyArgs {
            key_id: key.id().clone(),
            name: KeyName::parse(tenant).unwrap(),
            secret_hash: key.hash(),
            roles: [Role::Submit, Role::Work, Role::Operate].into(),
            namespace: Some(Namespace::parse(tenant).unwrap()),
            ttl_ms: None,
        };
        ff.client().create_key(args).await.unwrap();
    }
    ff.shutdown().await;
    keys
}

/// A tenant's connection.
struct Tenant {
    ff: FlowFabric,
    namespace: Namespace,
}

async fn connect(server: &ServerProcess, key: SecretKey, tenant: &str) -> Tenant {
    let ff = Connect::to(server.url()).key(key).connect().await.unwrap();
    Tenant { ff, namespace: Namespace::parse(tenant).unwrap() }
}

/// Submits executions that make the pages of a listing large.
async fn fill(tenant: &Tenant) {
    for _ in 0..4 {
        let tag = |nth: u8| (TagKey::parse(&format!("t{nth}")).unwrap(), TagValue::parse(&"v".repeat(200)).unwrap());
        let tags: Tags = (0..8).map(tag).collect();
        let many = (0..250).map(|_| SubmitArgs { tags: tags.clone(), ..tenant.submission("big") }).collect();
        for submitted in tenant.ff.backend().submit_many(many).await.unwrap() {
            submitted.unwrap();
        }
    }
}

impl Tenant {
    fn submission(&self, kind: &str) -> SubmitArgs {
        let args = SubmitArgs::new(Kind::parse(kind).unwrap(), Payload::json("1".to_owned()));
        SubmitArgs { namespace: self.namespace.clone(), ..args }
    }

    fn claim(&self) -> NextArgs {
        NextArgs {
            namespace: self.namespace.clone(),
            wait_ms: 1_000,
            ..NextArgs::new(Holder::parse("w", "w-1").unwrap())
        }
    }
}

/// Submits, claims and completes work this many times. Returns the durations of the calls.
async fn serve(tenant: &Tenant, times: usize) -> Vec<Duration> {
    let mut took = Vec::new();
    for _ in 0..times {
        serve_once(tenant, &mut took).await;
    }
    took
}

/// Submits, claims and completes work for ever.
async fn serve_on(tenant: &Tenant, took: &mut Vec<Duration>) -> Infallible {
    loop {
        serve_once(tenant, took).await;
    }
}

async fn serve_once(tenant: &Tenant, took: &mut Vec<Duration>) {
    timed(took, tenant.ff.backend().submit(tenant.submission("k"))).await;
    let claimed = timed(took, tenant.ff.long_poll().next(tenant.claim())).await;
    let Task { execution_id, fence, .. } = claimed[0].task.clone();
    timed(took, tenant.ff.backend().complete(CompleteArgs { execution_id, fence, result: None })).await;
}

fn p99(mut durations: Vec<Duration>) -> Duration {
    durations.sort_unstable();
    durations[durations.len() * 99 / 100]
}

async fn timed<T>(took: &mut Vec<Duration>, call: impl Future<Output = Answer<T>>) -> T {
    let began = Instant::now();
    let answer = call.await.unwrap();
    took.push(began.elapsed());
    answer
}

/// Starts an attack, which lasts until the returned connections are dropped.
async fn begin(server: &ServerProcess, attack: Attack, times: usize, key: &str) -> Vec<TcpStream> {
    let address = server.url().strip_prefix("http://").unwrap().to_owned();
    let request = request(attack, key);
    let mut begun = Vec::new();
    let mut beginning = JoinSet::new();
    for _ in 0..times {
        let (address, request) = (address.clone(), request.clone());
        beginning.spawn(async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            // The server may have closed the connection to protect itself.
            drop(stream.write_all(&request).await);
            stream
        });
        if beginning.len() >= 64 {
            begun.extend(beginning.join_next().await.map(Result::unwrap));
        }
    }
    begun.extend(beginning.join_all().await);
    begun
}

/// Returns the bytes that are sent over each connection.
fn request(attack: Attack, key: &str) -> Vec<u8> {
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n");
    let post = |path: &str, length: usize| {
        let keyed = format!("authorization: Bearer {key}\r\ncontent-length: {length}\r\n\r\n");
        format!("POST {path} HTTP/1.1\r\nhost: localhost\r\n{keyed}")
    };
    let link = "/approvals/%7Bfp:0%7D:0199f3a0-7c1e-7b43-9d6e-3c1f0a5b8e21/0199f3a0-7c1e-7b43-9d6e-3c1f0a5b8e21";
    let text = match attack {
        Attack::SlowBodies => format!("POST {link} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nx"),
        Attack::SlowBodiesWithKey => post("/v1/executions", 100) + "{",
        Attack::UnfinishedFlows => post("/v1/flows", 31 << 20) + &" ".repeat((31 << 20) - 1),
        Attack::Silence => String::new(),
        Attack::UnfinishedHeads => get("/healthz") + "x: " + &"x".repeat(60 * 1024),
        Attack::UnreadPages => get("/v1/executions?limit=1000") + "\r\n",
        Attack::UnreadDocuments => "GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned(),
        Attack::WrongKeys => {
            "GET /v1/partitions HTTP/1.1\r\nhost: localhost\r\nauthorization: nonsense\r\n\r\n".repeat(100)
        }
        Attack::Streams => get("/v1/events") + "accept: text/event-stream\r\n\r\n",
        Attack::Waits => {
            let body = "{\"worker_id\":\"w\",\"kinds\":[\"none\"],\"wait_ms\":60000}";
            post("/v1/workers/greedy-1/claim", body.len()) + body
        }
    };
    text.into_bytes()
}
