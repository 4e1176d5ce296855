//! A server that loses its functions under load: they are loaded again, and no caller notices. They are flushed
//! synchronously, because Valkey 8.0 sometimes crashes when functions are loaded while it still frees others in the
//! background.

use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{Filter, ListArgs, SubmitArgs};
use ff_core::types::{IdempotencyKey, Namespace};

use crate::load::Load;
use crate::support::{Flavour, Process};
use crate::{connect, start, work};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn functions_flushed_under_load_are_loaded_again_without_an_error() {
    let server = Process::start(Flavour::Valkey, &[]);
    let load = Load::on(connect(&server.url()).await);
    let callers = load.start(25);
    for _ in 0..10 {
        load.goes_on(50).await;
        assert_eq!(server.ask(&["FUNCTION", "FLUSH", "SYNC"]), "+OK");
    }
    callers.join_all().await;
    assert_eq!(load.repeated(), 0, "a caller was told of it");
    load.drain().await;
    load.holds().await;
}

#[tokio::test]
async fn every_kind_of_call_survives_the_loss_of_the_functions() {
    let server = Process::start(Flavour::Redis, &[]);
    let store = connect(&server.url()).await;
    let id = store.submit(work()).await.unwrap().execution_id;
    let flush = || assert_eq!(server.ask(&["FUNCTION", "FLUSH", "SYNC"]), "+OK");
    flush();
    store.describe(&id).await.unwrap();
    flush();
    store.pump(id.partition()).await.unwrap();
    flush();
    store.sweep(id.partition()).await.unwrap();
    flush();
    store.now().await.unwrap();
    flush();
    let args = ListArgs { filter: Filter::everything(Namespace::default_name()), after: None, limit: 5 };
    assert_eq!(store.list(args).await.unwrap().executions.len(), 1);
    flush();
    assert_eq!(store.snapshot(id.partition()).await.unwrap().executions.len(), 1);
}

/// A server that lost all its data and functions serves like a new one.
#[tokio::test]
async fn a_server_that_lost_everything_lists_what_comes_after() {
    let (server, store) = start().await;
    let keyed = SubmitArgs { idempotency_key: Some(IdempotencyKey::parse("order 7").unwrap()), ..work() };
    store.submit(keyed.clone()).await.unwrap();
    server.ask(&["FLUSHALL"]);
    server.ask(&["FUNCTION", "FLUSH", "SYNC"]);
    let args = ListArgs { filter: Filter::everything(Namespace::default_name()), after: None, limit: 5 };
    assert_eq!(store.list(args.clone()).await.unwrap().executions, []);
    let after = store.submit(keyed).await.unwrap().execution_id;
    let listed = store.list(args).await.unwrap().executions;
    assert_eq!(listed.iter().map(|info| info.execution_id).collect::<Vec<_>>(), [after]);
}
