//! Servers that hang, vanish or close connections: a caller gets the right error, and the next call starts afresh.

use std::sync::atomic::Ordering;
use std::time::Duration;

use ff_core::backend::{EngineStore, Perform};
use ff_core::engine_error::EngineError;
use futures_util::FutureExt;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::stand_in::{self, Wire};
use crate::support::{Flavour, Process, lone_primary};
use crate::{connect, findings, insist, start, work};

/// Shorter than the timeout of any call.
const SOON: Duration = Duration::from_secs(2);

/// Time is paused while the server is frozen, so that the wait for its answer takes none.
#[tokio::test]
async fn a_call_a_hanging_server_does_not_answer_has_an_unknown_outcome() {
    let (server, store) = start().await;
    let args = work();
    server.freeze();
    tokio::time::pause();
    let answer = store.submit(args.clone()).await;
    tokio::time::resume();
    server.thaw();
    assert!(matches!(answer, Err(EngineError::Unknown(_))), "{answer:?}");
    let id = store.submit(args).await.unwrap().execution_id;
    let waiting = store.snapshot(id.partition()).await.unwrap().executions;
    assert_eq!(waiting.keys().collect::<Vec<_>>(), [&id], "asked twice, there once");
    assert_eq!(findings(&store).await, []);
}

#[tokio::test]
async fn a_connection_that_went_silent_is_replaced() {
    let server = Process::start(Flavour::Valkey, &[]);
    let wire = Wire::to(server.port).await;
    let store = connect(&format!("valkey://127.0.0.1:{}", wire.port)).await;
    store.submit(work()).await.unwrap();
    wire.cut();
    tokio::time::pause();
    let answer = store.submit(work()).await;
    tokio::time::resume();
    assert!(matches!(answer, Err(EngineError::Unknown(_))), "{answer:?}");
    store.submit(work()).await.unwrap();
}

/// A host that vanished closes no connection, and its replacement has a new one.
#[tokio::test]
async fn a_connection_to_a_cluster_that_went_silent_is_replaced() {
    let primary = lone_primary(&["--cluster-announce-ip", "127.0.0.1"]);
    let wire = Wire::to(primary.port).await;
    primary.ask(&["CONFIG", "SET", "cluster-announce-port", &wire.port.to_string()]);
    let store = connect(&format!("valkey+cluster://127.0.0.1:{}", wire.port)).await;
    store.submit(work()).await.unwrap();
    wire.cut();
    tokio::time::pause();
    let answer = store.submit(work()).await;
    tokio::time::resume();
    assert!(matches!(answer, Err(EngineError::Unknown(_))), "{answer:?}");
    insist(|| store.submit(work())).await;
}

#[tokio::test]
async fn a_server_that_is_away_is_unavailable_until_it_is_back() {
    let mut server = Process::start(Flavour::Valkey, &[]);
    let store = connect(&server.url()).await;
    let id = store.submit(work()).await.unwrap().execution_id;
    server.kill();
    let first = store.submit(work()).await;
    assert!(matches!(first, Err(EngineError::Unavailable(_) | EngineError::Unknown(_))), "{first:?}");
    let answer = store.submit(work()).await;
    assert!(matches!(answer, Err(EngineError::Unavailable(_))), "{answer:?}");
    server.restart();
    insist(|| store.describe(&id)).await;
    assert_eq!(findings(&store).await, []);
}

#[tokio::test]
async fn an_unreachable_server_is_not_contacted_by_every_call() {
    let mut server = Process::start(Flavour::Valkey, &[]);
    let store = connect(&server.url()).await;
    server.kill();
    let connections = stand_in::closing(server.port).await;
    let calls = 2_000;
    for _ in 0..calls {
        let answer = store.submit(work()).await;
        assert!(matches!(answer, Err(EngineError::Unavailable(_) | EngineError::Unknown(_))), "{answer:?}");
        tokio::task::yield_now().await;
    }
    let made = connections.load(Ordering::SeqCst);
    assert!((1..calls / 20).contains(&made), "{calls} calls made {made} connections");
}

/// This happens when one of several calls in a set is not polled while its owner awaits something else.
#[tokio::test]
async fn calls_that_are_not_polled_block_no_other() {
    let (single, primary) = (Process::start(Flavour::Valkey, &[]), lone_primary(&[]));
    for url in [single.url(), primary.url().replace("valkey:", "valkey+cluster:")] {
        let store = connect(&url).await;
        let id = store.submit(work()).await.unwrap().execution_id;
        let mut forgotten: Vec<_> = (0..500).map(|_| Box::pin(store.describe(&id))).collect();
        assert!(forgotten.iter_mut().all(|call| call.as_mut().now_or_never().is_none()), "{url}");
        timeout(SOON, store.describe(&id)).await.expect(&url).unwrap();
    }
}

/// This holds at whichever step the call is when it is no longer polled.
#[tokio::test]
async fn a_call_that_loads_the_functions_and_is_not_polled_holds_up_no_other() {
    let (server, store) = start().await;
    let id = store.submit(work()).await.unwrap().execution_id;
    let mut ticks = interval(Duration::from_millis(1));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for polls in 1..20 {
        assert_eq!(server.ask(&["FUNCTION", "FLUSH", "SYNC"]), "+OK");
        let mut forgotten = Box::pin(store.describe(&id));
        for _ in 0..polls {
            if forgotten.as_mut().now_or_never().is_some() {
                break;
            }
            ticks.tick().await;
        }
        timeout(SOON, store.describe(&id)).await.unwrap_or_else(|_| panic!("after {polls} polls")).unwrap();
    }
}
