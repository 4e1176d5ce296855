//! Every promise, on every store, and over HTTP.
//!
//! What runs for every change: all promises on memory, SQLite, Postgres and Valkey, and over HTTP on memory; a third on Redis;
//! on a cluster those that cross partitions; a sample over HTTP on the other stores, since a server does not depend on what
//! is beneath it. `full` has the rest.

mod keyspace;

use ff_conformance::worlds::postgres_server::Postgres;
use ff_conformance::worlds::servers::{Cluster, Flavour, Process};
use ff_conformance::{Scope, check, every_domain, worlds};

/// A world per promise that needs no server.
macro_rules! in_process {
    ($world:ident, $scope:expr) => {
        fn check(prefix: &str) {
            super::check($scope, prefix, worlds::$world);
        }
    };
}

/// A server for all promises of a test.
macro_rules! on_server {
    ($start:expr, $world:ident, $scope:expr) => {
        fn check(prefix: &str) {
            let server = $start;
            super::check($scope, prefix, async || worlds::$world(&server).await);
        }
    };
}

mod memory {
    use super::*;
    in_process!(memory, Scope::All);
    every_domain!(one_test_per_theme);
}

mod sqlite {
    use super::*;
    in_process!(sqlite, Scope::All);
    every_domain!(one_test_per_theme);
}

mod http_over_memory {
    use super::*;
    in_process!(http_over_memory, Scope::All);
    every_domain!(one_test_per_theme);
}

mod valkey {
    use super::*;
    on_server!(Process::start(Flavour::Valkey, &[]), on_valkey, Scope::All);
    every_domain!(one_test_per_theme);
}

mod postgres {
    use super::*;
    on_server!(Postgres::quick(), on_postgres, Scope::All);
    every_domain!(one_test_per_domain);
}

mod redis {
    use super::*;
    on_server!(Process::start(Flavour::Redis, &[]), on_valkey, Scope::Third);
    every_domain!(one_test_per_domain);
}

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

/// A judgement is the same everywhere, so one that takes long on a server is checked in memory.
#[tokio::test]
async fn a_hundred_thousand_forged_tokens_open_nothing() {
    ff_conformance::forge(&worlds::memory().await, 100_000).await;
}

#[test]
fn a_scope_has_what_it_says() {
    let all = Scope::All.names().len();
    assert_eq!(Scope::Third.names().len(), all / 3);
    let sample = Scope::Sample.names().len();
    assert!((30..=50).contains(&sample), "{sample}");
    for theme in ff_conformance::ACROSS_PARTITIONS {
        let is_one = |name: &&str| name.starts_with(theme);
        assert!(Scope::AcrossPartitions.names().iter().any(is_one), "there is no promise {theme}");
    }
}

/// What is left out above.
mod full {
    use super::*;

    mod redis {
        use super::*;
        on_server!(Process::start(Flavour::Redis, &[]), on_valkey, Scope::All);
        every_domain!(one_test_per_domain);
    }

    mod cluster {
        use super::*;
        on_server!(Cluster::start(), on_cluster, Scope::All);
        every_domain!(one_test_per_domain);
    }

    mod http_over_sqlite {
        use super::*;
        in_process!(http_over_sqlite, Scope::All);
        every_domain!(one_test_per_domain);
    }

    mod http_over_valkey {
        use super::*;
        on_server!(Process::start(Flavour::Valkey, &[]), http_over_valkey, Scope::All);
        every_domain!(one_test_per_domain);
    }

    mod http_over_postgres {
        use super::*;
        on_server!(Postgres::quick(), http_over_postgres, Scope::All);
        every_domain!(one_test_per_domain);
    }
}
