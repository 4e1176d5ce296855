//! Runs the conformance suite on every store, and over HTTP.
//!
//! For every change: all promises on memory, SQLite, Postgres and Valkey, and over HTTP on memory; a third on Redis; the promises
//! that cross partitions on a cluster; a sample over HTTP on the other stores, since a server does not depend on its store. `full`
//! has the rest.

mod keyspace;

use ff_conformance::worlds::postgres_server::Postgres;
use ff_conformance::worlds::servers::{Cluster, Flavour, Process};
use ff_conformance::{Scope, check, worlds};

include!(concat!(env!("OUT_DIR"), "/themes.rs"));

/// Defines a test per theme, which calls `check` of the surrounding module with the prefix of its promises.
macro_rules! one_test_per_theme {
    ($($domain:ident { $($theme:ident,)* })*) => {$(
        mod $domain {$(
            #[test]
            fn $theme() {
                super::check(concat!(stringify!($domain), "::", stringify!($theme), "::"));
            }
        )*}
    )*};
}

/// Defines a test per domain, for worlds whose servers take long to start.
macro_rules! one_test_per_domain {
    ($($domain:ident { $($theme:ident,)* })*) => {$(
        #[test]
        fn $domain() {
            check(concat!(stringify!($domain), "::"));
        }
    )*};
}

/// Defines the tests of a scope in one world. With a server, all promises of a test share it.
macro_rules! suite {
    ($module:ident: $world:ident, $scope:ident, $tests:ident) => {
        mod $module {
            use super::*;

            fn check(prefix: &str) {
                super::check(Scope::$scope, prefix, worlds::$world);
            }
            every_theme!($tests);
        }
    };
    ($module:ident: $world:ident on $server:expr, $scope:ident, $tests:ident) => {
        mod $module {
            use super::*;

            fn check(prefix: &str) {
                let server = $server;
                super::check(Scope::$scope, prefix, async || worlds::$world(&server).await);
            }
            every_theme!($tests);
        }
    };
}

suite!(memory: memory, All, one_test_per_theme);
suite!(sqlite: sqlite, All, one_test_per_theme);
suite!(http_over_memory: http_over_memory, All, one_test_per_theme);
suite!(valkey: on_valkey on Process::start(Flavour::Valkey, &[]), All, one_test_per_theme);
suite!(postgres: on_postgres on Postgres::quick(), All, one_test_per_domain);
suite!(redis: on_valkey on Process::start(Flavour::Redis, &[]), Third, one_test_per_domain);

#[test]
fn cluster() {
    let cluster = Cluster::start();
    check(Scope::AcrossPartitions, "", async || worlds::on_cluster(&cluster).await);
}

#[test]
fn http_over_sqlite() {
    check(Scope::Sample, "", worlds::http_over_sqlite);
}

#[test]
fn http_over_valkey() {
    let server = Process::start(Flavour::Valkey, &[]);
    check(Scope::Sample, "", async || worlds::http_over_valkey(&server).await);
}

#[test]
fn http_over_postgres() {
    let server = Postgres::quick();
    check(Scope::Sample, "", async || worlds::http_over_postgres(&server).await);
}

/// Token verification is the same on every store, so a test that takes long on a server runs in memory.
#[tokio::test]
async fn a_hundred_thousand_forged_tokens_open_nothing() {
    ff_conformance::forge(&worlds::memory().await, 100_000).await;
}

#[test]
fn a_scope_has_what_it_says() {
    let all = Scope::All.names().len();
    assert_eq!(Scope::Third.names().len(), all / 3);
    let sample = Scope::Sample.names().len();
    assert!((30..=60).contains(&sample), "{sample}");
    for theme in ff_conformance::ACROSS_PARTITIONS {
        let is_one = |name: &&str| name.starts_with(theme);
        assert!(Scope::AcrossPartitions.names().iter().any(is_one), "there is no promise {theme}");
    }
}

/// The promises that the tests above leave out.
mod full {
    use super::*;

    suite!(redis: on_valkey on Process::start(Flavour::Redis, &[]), All, one_test_per_domain);
    suite!(cluster: on_cluster on Cluster::start(), All, one_test_per_domain);
    suite!(http_over_sqlite: http_over_sqlite, All, one_test_per_domain);
    suite!(http_over_valkey: http_over_valkey on Process::start(Flavour::Valkey, &[]), All, one_test_per_domain);
    suite!(http_over_postgres: http_over_postgres on Postgres::quick(), All, one_test_per_domain);
}
