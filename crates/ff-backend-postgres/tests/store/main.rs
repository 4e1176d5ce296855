//! What a store on Postgres promises beyond what every store does.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod dispatch;
mod feed;
mod flows;
mod hints;
mod history;
mod inbox;
mod lanes;
mod load;
mod losing;
mod opening;
mod plans;
mod pool;
mod restart;
mod schema;
mod staying;
#[path = "../support/mod.rs"]
mod support;
mod trying_again;

use std::future::poll_fn;
use std::sync::Arc;

use ff_backend_postgres::{PostgresBackend, PostgresOptions};
use ff_core::backend::{EngineStore, Perform};
use ff_core::clock::ManualClock;
use ff_core::contracts::{ClaimArgs, DeliverArgs, GrantedWaitpoint, SubmitArgs, SuspendArgs, WaitpointRef};
use ff_core::doctor::{Finding, examine};
use ff_core::lease::Holder;
use ff_core::payload::Payload;
use ff_core::token::PresentedToken;
use ff_core::types::{ExecutionId, Kind, SignalName, TimestampMs, WaitpointKey};
use support::Postgres;
use tokio::sync::mpsc;
use tokio_postgres::{AsyncMessage, Client, NoTls};

/// A server of its own for a test, and the schema of its store.
struct Place(Postgres);

impl Place {
    fn new() -> Self {
        Self(Postgres::quick())
    }

    fn url(&self) -> String {
        self.0.url("flowfabric")
    }

    async fn open(&self) -> PostgresBackend {
        self.open_with(PostgresOptions::default()).await
    }

    async fn open_with(&self, options: PostgresOptions) -> PostgresBackend {
        ff_backend_postgres::connect(&self.url(), options).await.unwrap()
    }

    /// The database as anybody sees it, for looking behind the store's back.
    async fn look(&self) -> Client {
        let url = format!("postgres://postgres@127.0.0.1:{}/postgres", self.0.port);
        let (client, conversation) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        tokio::spawn(conversation);
        client.batch_execute("SET search_path = flowfabric").await.unwrap();
        client
    }

    /// What programs tell each other, from now on.
    async fn overhear(&self) -> (Client, mpsc::UnboundedReceiver<String>) {
        let url = format!("postgres://postgres@127.0.0.1:{}/postgres", self.0.port);
        let (client, mut conversation) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        let (hear, heard) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|cx| conversation.poll_message(cx)).await {
                if let AsyncMessage::Notification(note) = message {
                    hear.send(note.payload().to_owned()).unwrap();
                }
            }
        });
        client.batch_execute("LISTEN flowfabric_hints").await.unwrap();
        (client, heard)
    }
}

fn at(ms: u64) -> TimestampMs {
    TimestampMs(1_700_000_000_000) + ms
}

fn standing_clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(at(0)))
}

fn work() -> SubmitArgs {
    SubmitArgs::new(Kind::parse("resize").unwrap(), Payload::json("1"))
}

fn claim_on(id: &ExecutionId) -> ClaimArgs {
    ClaimArgs::new(id.partition(), Holder::parse("w", "w-1").unwrap())
}

fn key(text: &str) -> WaitpointKey {
    WaitpointKey::parse(text).unwrap()
}

/// New work that waits for a signal, and what opens it.
async fn suspended(store: &PostgresBackend) -> (ExecutionId, GrantedWaitpoint) {
    // Of a kind of its own, so that no older work is claimed instead.
    let work = work();
    let kind = Kind::parse(&work.uuid.to_string()).unwrap();
    let id = store.submit(SubmitArgs { kind: kind.clone(), ..work }).await.unwrap().execution_id;
    let claims = store.claim(ClaimArgs { kinds: vec![kind], ..claim_on(&id) }).await.unwrap();
    let fence = claims.claimed[0].task.fence;
    let granted = store.suspend(SuspendArgs::new(id, fence, key("approval"))).await.unwrap().waitpoints.remove(0);
    (id, granted)
}

fn signal(id: &ExecutionId, to: &GrantedWaitpoint, name: &str) -> DeliverArgs {
    let token = PresentedToken::from(&to.waitpoint_token);
    DeliverArgs::new(*id, WaitpointRef::Id(to.waitpoint_id), token, SignalName::parse(name).unwrap())
}

/// What a doctor finds on every partition.
async fn findings(store: &PostgresBackend) -> Vec<Finding> {
    let now = store.now().await.unwrap();
    let mut found = Vec::new();
    for partition in 0..store.partitions().num_flow_partitions {
        found.extend(examine(&store.snapshot(partition).await.unwrap(), partition, now));
    }
    found
}
