//! A wrong server is reported in one clear line, and nothing is written to it.

use std::sync::Arc;

use ff_backend_valkey::{ConnectError, ValkeyBackend, ValkeyOptions};
use ff_core::backend::Perform;
use ff_core::backend::clock::ManualClock;
use ff_core::partition::PartitionConfig;
use ff_core::types::TimestampMs;

use super::stand_in;
use crate::look::{ServerContents, held};
use crate::support::{Flavour, Process, free_port};
use crate::{FEW_PARTITIONS, connect, options};

/// Connects to a store that cannot be used, and returns the error: one line, with these words and without the password.
pub(crate) async fn refused(url: &str, options: ValkeyOptions, words: &[&str]) -> ConnectError {
    let Err(error) = ValkeyBackend::connect(url, options).await else { panic!("{url} was taken") };
    let line = error.to_string();
    assert!(!line.contains(['\n', '\r']), "{line:?} is more than one line");
    assert!(!line.contains("hunter2"), "{line:?} has the password in it");
    for word in words {
        assert!(line.contains(word), "{line:?} does not say {word:?}");
    }
    error
}

#[tokio::test]
async fn a_bad_url() {
    for url in [
        "valkey",
        "valkey://",
        "valkey://:hunter2@127.0.0.1:99999",
        "valkey://:hunter2@127.0.0.1:6379?durability=maybe",
        "valkey+cluster://:hunter2@a:1,,b:2",
    ] {
        let error = refused(url, options(), &["must be"]).await;
        assert!(matches!(error, ConnectError::BadUrl { .. }), "{error}");
    }
}

#[tokio::test]
async fn no_server() {
    let mut server = Process::start(Flavour::Valkey, &[]);
    server.kill();
    let address = format!("127.0.0.1:{}", server.port);
    for scheme in ["valkey", "redis", "valkey+cluster", "valkeys"] {
        refused(&format!("{scheme}://{address}"), options(), &["cannot reach", &address, "refused"]).await;
    }
}

#[tokio::test]
async fn a_server_of_another_protocol_is_refused() {
    let port = stand_in::answering(&[("", "HTTP/1.1 400 Bad Request\r\n\r\n")]).await;
    let url = format!("valkey://127.0.0.1:{port}");
    refused(&url, options(), &["cannot reach", &port.to_string(), "answers as no Valkey does"]).await;
}

#[tokio::test]
async fn a_server_that_does_not_answer() {
    let server = Process::start(Flavour::Valkey, &[]);
    server.freeze();
    tokio::time::pause();
    refused(&server.url(), options(), &["cannot reach", &server.port.to_string()]).await;
    tokio::time::resume();
    server.thaw();
    assert_eq!(held(&address(&server)).await, ServerContents::default());
}

#[tokio::test]
async fn a_wrong_password_or_none() {
    let server = Process::start(Flavour::Valkey, &["--requirepass", "correct"]);
    let address = address(&server);
    for url in [
        format!("valkey://{address}"),
        format!("valkey://:hunter2@{address}"),
        format!("valkey://nobody:hunter2@{address}"),
        format!("valkey+cluster://:hunter2@{address}"),
    ] {
        let error = refused(&url, options(), &["refuses the connection"]).await;
        assert!(matches!(error, ConnectError::NotAllowed { .. }), "{error:?}");
    }
    assert_eq!(held(&format!(":correct@{address}")).await, ServerContents::default());
    connect(&format!("valkey://:correct@{address}")).await;
}

#[tokio::test]
async fn a_server_too_old_to_have_functions() {
    let port = stand_in::answering(&[("INFO", "$22\r\nredis_version:6.2.14\r\n\r\n"), ("", "+OK\r\n")]).await;
    let error = refused(&format!("valkey://127.0.0.1:{port}"), options(), &["Redis 6.2.14", "too old", "7.2"]).await;
    assert!(matches!(error, ConnectError::TooOld { .. }), "{error}");
}

#[tokio::test]
async fn a_server_without_functions() {
    let renamed = Process::start(Flavour::Valkey, &["--rename-command", "FUNCTION", "THE-FUNCTIONS"]);
    refused(&renamed.url(), options(), &["has no functions", "unknown command"]).await;
    assert_eq!((renamed.ask(&["DBSIZE"]), renamed.ask(&["THE-FUNCTIONS", "LIST"])), (":0".into(), "*0".into()));

    let denied = Process::start(Flavour::Valkey, &[]);
    denied.ask(&["ACL", "SETUSER", "default", "-function"]);
    refused(&denied.url(), options(), &["has no functions", "NOPERM"]).await;
    denied.ask(&["ACL", "SETUSER", "default", "+function"]);
    assert_eq!(held(&address(&denied)).await, ServerContents::default());
}

#[tokio::test]
async fn functions_that_may_be_seen_and_not_given() {
    let server = Process::start(Flavour::Valkey, &[]);
    server.ask(&["ACL", "SETUSER", "default", "-function|load"]);
    refused(&server.url(), options(), &["NOPERM", "function|load"]).await;
    assert_eq!(held(&address(&server)).await, ServerContents::default());
}

#[tokio::test]
async fn a_cluster_url_for_a_single_server_and_the_other_way_round() {
    let single = Process::start(Flavour::Valkey, &[]);
    let url = single.url().replace("valkey:", "valkey+cluster:");
    refused(&url, options(), &["is not a cluster", "must be valkey:// without +cluster"]).await;
    assert_eq!(held(&address(&single)).await, ServerContents::default());

    let bus = free_port().to_string();
    let node = Process::start(Flavour::Valkey, &["--cluster-enabled", "yes", "--cluster-port", &bus]);
    let url = node.url().replace("valkey:", "redis:");
    refused(&url, options(), &["is part of a cluster", "must be redis+cluster://"]).await;
    assert_eq!(held(&address(&node)).await, ServerContents::default());
}

#[tokio::test]
async fn partition_counts_that_differ_are_both_named() {
    let server = Process::start(Flavour::Valkey, &[]);
    drop(connect(&server.url()).await);
    let before = held(&address(&server)).await;
    let other = PartitionConfig { num_flow_partitions: 16, ..FEW_PARTITIONS };
    let options = |partitions| ValkeyOptions { partitions, ..ValkeyOptions::default() };
    let counts = ["8 flow, 2 budget and 2 quota partitions", "16 flow, 2 budget and 2 quota partitions"];
    refused(&server.url(), options(Some(other)), &counts).await;
    refused(&format!("{}?partitions=16", server.url()), options(None), &["8 flow", "16 flow"]).await;
    assert_eq!(held(&address(&server)).await, before);

    let unsaid = ValkeyBackend::connect(&server.url(), options(None)).await.unwrap();
    assert_eq!(unsaid.partitions(), FEW_PARTITIONS, "who does not say gets what there is");
}

#[tokio::test]
async fn no_store_where_there_has_to_be_one() {
    let server = Process::start(Flavour::Valkey, &[]);
    let existing = || ValkeyOptions { existing: true, ..options() };
    refused(&server.url(), existing(), &["no store"]).await;
    assert_eq!(held(&address(&server)).await, ServerContents::default());
    drop(connect(&server.url()).await);
    ValkeyBackend::connect(&server.url(), existing()).await.unwrap();
}

#[tokio::test]
async fn no_partitions_at_all() {
    let server = Process::start(Flavour::Valkey, &[]);
    let none = PartitionConfig { num_budget_partitions: 0, ..FEW_PARTITIONS };
    let options = ValkeyOptions { partitions: Some(none), ..ValkeyOptions::default() };
    refused(&server.url(), options, &["partitions: must be at least 1 of each family", "0 budget"]).await;
    assert_eq!(held(&address(&server)).await, ServerContents::default());
}

#[tokio::test]
async fn functions_of_a_newer_program_or_with_another_clock() {
    let server = Process::start(Flavour::Valkey, &[]);
    server.ask(&[
        "FUNCTION",
        "LOAD",
        "#!lua name=flowfabric\nredis.register_function('ff_version', function() return \
                  {1, 'OK', '99.0', 'server'} end)",
    ]);
    let before = held(&address(&server)).await;
    refused(&server.url(), options(), &["99.0", "use a newer program"]).await;
    assert_eq!(held(&address(&server)).await, before);

    let server = Process::start(Flavour::Valkey, &[]);
    let clock = Arc::new(ManualClock::at(TimestampMs(1_700_000_000_000)));
    drop(ValkeyBackend::connect(&server.url(), ValkeyOptions { clock: Some(clock), ..options() }).await.unwrap());
    let before = held(&address(&server)).await;
    refused(&server.url(), options(), &["clock", "test", "server"]).await;
    assert_eq!(held(&address(&server)).await, before);
}

#[tokio::test]
async fn waiting_for_the_disk_where_that_does_not_work() {
    let cases = [
        (Process::start(Flavour::Redis, &[]), "unknown command"),
        (Process::start(Flavour::Valkey, &["--appendonly", "no"]), "appendonly is disabled"),
        (Process::start(Flavour::Valkey, &["--appendfsync", "no"]), "set it to everysec or always"),
    ];
    for (server, why) in cases {
        let url = format!("{}?durability=fsync", server.url());
        refused(&url, options(), &["durability: fsync does not work here", why]).await;
        assert_eq!(held(&address(&server)).await, ServerContents::default());
    }
}

fn address(server: &Process) -> String {
    format!("127.0.0.1:{}", server.port)
}
