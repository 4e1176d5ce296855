//! Every promise, on every store, and on every store behind a server.

ff_conformance::conformance! { memory, sqlite, valkey, redis, http_over_memory, http_over_sqlite, http_over_valkey }

/// A cluster takes seconds to start, so all promises share one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_promise_is_kept_on_a_cluster() {
    let cluster = ff_conformance::worlds::servers::Cluster::start();
    for promise in ff_conformance::promises() {
        println!("{promise}");
        ff_conformance::keep(ff_conformance::worlds::on_cluster(&cluster).await, promise).await;
    }
}

/// What takes too long on a server is quick in memory, and the judgement is the same.
#[tokio::test]
async fn a_hundred_thousand_forged_tokens_open_nothing() {
    ff_conformance::forge(&ff_conformance::worlds::memory().await, 100_000).await;
}
