//! A server in front of Valkey, and the one-line error for a Valkey that cannot be used, to which nothing is written.

use std::time::{Duration, Instant};

use crate::servers::{Flavour, Process};
use crate::world::{Process as Running, run_in};

#[test]
fn work_is_served_from_valkey_and_survives_the_server_in_front_of_it() {
    let (folder, store) = (tempfile::tempdir().unwrap(), Process::start(Flavour::Valkey, &[]));
    let first = Running::serve(folder.path(), &store.url());
    let to = |url: &str, args: &[&str]| run_in(folder.path(), &[args, &["--server", url]].concat());
    let address = first.url();
    let id = to(&address, &["submit", "later", "--payload", "[1,2]"]).ok();
    let keyed = to(&address, &["submit", "later", "--payload", "[1,2]", "--idempotency-key", "order-17"]).ok();
    assert!(first.stop().success());
    let second = Running::serve(folder.path(), &store.url());
    let address = second.url();
    for id in [&id, &keyed] {
        let uuid = id.split_once("}:").unwrap().1;
        assert_eq!(to(&address, &["get", id, "--payload"]).ok(), "[1,2]");
        assert_eq!(to(&address, &["get", uuid, "--json"]).json()["execution_id"], id.as_str());
    }
    to(&address, &["get", "00000000-0000-7000-8000-000000000000"]).refused(1, "execution_not_found");
    assert!(to(&address, &["doctor"]).ok().contains("2 executions"));
    let direct = run_in(folder.path(), &["doctor", "--store", &store.url()]).ok();
    assert!(direct.ends_with("nothing is wrong"), "{direct}");
}

/// A hanging store is worse than a stopped one, because its connections stay open. Callers still get an answer, the log
/// reports the outage, and SIGTERM ends the server.
#[test]
fn a_store_that_hangs_is_reported_and_does_not_keep_the_server_from_stopping() {
    let (folder, store) = (tempfile::tempdir().unwrap(), Process::start(Flavour::Valkey, &[]));
    let server = Running::serve(folder.path(), &store.url());
    let url = server.url();
    let submit = || run_in(folder.path(), &["submit", "later", "--server", &url]);
    submit().ok();
    store.freeze();
    let began = Instant::now();
    submit().refused(1, "outcome_unknown");
    assert!(began.elapsed() < Duration::from_secs(20), "answered after {:?}", began.elapsed());
    server.says("the store does not answer");
    let began = Instant::now();
    assert!(server.stop().success());
    assert!(began.elapsed() < Duration::from_secs(35), "stopped after {:?}", began.elapsed());
    store.thaw();
}

#[test]
fn an_unusable_valkey_is_reported_in_one_line_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let open = Process::start(Flavour::Valkey, &[]);
    let locked = Process::start(Flavour::Valkey, &["--requirepass", "secret"]);
    let cluster = open.url().replace("valkey://", "valkey+cluster://");
    let wrong = locked.url().replace("valkey://", "valkey://:guess@");
    let none = "valkey://127.0.0.1:1".to_owned();
    for (store, why) in [
        (&none, "cannot reach 127.0.0.1:1"),
        (&locked.url(), "refuses the connection"),
        (&wrong, "refuses the connection"),
        (&cluster, "is not a cluster, must be valkey://"),
    ] {
        let ran = run_in(folder.path(), &["server", "--store", store, "--listen", "127.0.0.1:0"]);
        assert!(!ran.stderr.contains("guess") && ran.stderr.trim_end().lines().count() == 1, "{}", ran.stderr);
        ran.refused(1, why);
    }
    let doctor = run_in(folder.path(), &["doctor", "--store", &open.url()]);
    doctor.refused(1, "the server holds no store");
    assert_eq!(open.ask(&["DBSIZE"]), ":0");
    assert!(!open.ask(&["FUNCTION", "LIST"]).contains("flowfabric"));
}

#[test]
fn partition_counts_that_differ_are_both_named() {
    let (folder, store) = (tempfile::tempdir().unwrap(), Process::start(Flavour::Valkey, &[]));
    let bench = |store: &str| run_in(folder.path(), &["bench", "idle", "--store", store, "--for", "1ms"]);
    bench(&format!("{}?partitions=4", store.url())).ok();
    let other = bench(&format!("{}?partitions=8", store.url()));
    assert!(other.stderr.contains("4 flow") && other.stderr.contains("8 flow"), "{}", other.stderr);
    other.refused(1, "partitions: the store was made with");
}
