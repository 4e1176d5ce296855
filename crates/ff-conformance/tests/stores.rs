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

/// A database takes a second to make, so the promises of a room share one, each in a schema of its own.
macro_rules! on_postgres {
    ($($room:ident)*) => {
        mod postgres {$(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $room() {
                let server = ff_conformance::worlds::postgres_server::Postgres::quick();
                for promise in crate::promises_about(stringify!($room)) {
                    ff_conformance::keep(ff_conformance::worlds::on_postgres(&server).await, promise).await;
                }
            }
        )*}

        mod http_over_postgres {$(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $room() {
                let server = ff_conformance::worlds::postgres_server::Postgres::quick();
                for promise in crate::promises_about(stringify!($room)) {
                    ff_conformance::keep(ff_conformance::worlds::http_over_postgres(&server).await, promise).await;
                }
            }
        )*}

        #[test]
        fn no_room_is_left_out_on_postgres() {
            let rooms = [$(stringify!($room)),*];
            let left_out = |promise: &&str| !rooms.iter().any(|room| promise.starts_with(&format!("{room}::")));
            assert_eq!(ff_conformance::promises().filter(left_out).collect::<Vec<_>>(), [""; 0]);
        }
    };
}

on_postgres! { execution lease lane flow suspension signal token worker key event }

/// The promises of one room; each is named before it is tried.
fn promises_about(room: &str) -> impl Iterator<Item = &'static str> {
    let of_room = ff_conformance::promises().filter(move |promise| promise.starts_with(&format!("{room}::")));
    of_room.inspect(|promise| println!("{promise}"))
}

/// What takes too long on a server is quick in memory, and the judgement is the same.
#[tokio::test]
async fn a_hundred_thousand_forged_tokens_open_nothing() {
    ff_conformance::forge(&ff_conformance::worlds::memory().await, 100_000).await;
}
