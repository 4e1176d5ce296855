//! The log about stores that may lose acknowledged work, and about unreachable stores: its messages and their rate.

use std::path::Path;

use crate::postgres_server::{Disk, Postgres};
use crate::servers::{Flavour, Process as Valkey};
use crate::world::{CommandRun, Process, command, run_in};

fn serve_strictly(folder: &Path, store: &str) -> CommandRun {
    run_in(folder, &["server", "--store", store, "--listen", "127.0.0.1:0", "--strict-durability"])
}

#[test]
fn a_valkey_that_can_lose_work_is_a_warning_or_in_strict_mode_refused() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--appendonly", "no", "--maxmemory-policy", "allkeys-lru"];
    let store = Valkey::start(Flavour::Valkey, &options);
    let risks = ["appendonly is no: set it to yes", "maxmemory-policy is allkeys-lru: set it to noeviction"];
    let refused = serve_strictly(folder.path(), &store.url());
    assert!(refused.stderr.trim_end().lines().count() == 1 && refused.stderr.contains(risks[1]), "{}", refused.stderr);
    refused.refused(1, &format!("may lose acknowledged work: {}", risks[0]));
    assert_eq!(store.ask(&["DBSIZE"]), ":0");
    let server = Process::serve(folder.path(), &store.url());
    server.url();
    let (_, log) = server.stop_and_tell();
    for risk in risks {
        assert!(log.lines().any(|line| line.contains("WARN") && line.contains(risk)), "{log}");
    }
    let unsynced = Valkey::start(Flavour::Valkey, &["--appendfsync", "no"]);
    serve_strictly(folder.path(), &unsynced.url()).refused(1, "appendfsync is no: set it to everysec or always");
}

#[test]
fn a_valkey_setting_that_may_not_be_read_is_said_to_be_unchecked() {
    let (folder, store) = (tempfile::tempdir().unwrap(), Valkey::start(Flavour::Valkey, &[]));
    store.ask(&["ACL", "SETUSER", "limited", "on", ">word", "~*", "&*", "+@all", "-config"]);
    let limited = store.url().replace("valkey://", "valkey://limited:word@");
    let server = Process::serve(folder.path(), &limited);
    server.url();
    let (_, log) = server.stop_and_tell();
    assert!(log.contains("appendfsync could not be checked") && log.contains("+config|get"), "{log}");
    serve_strictly(folder.path(), &limited).refused(1, "appendfsync could not be checked");
}

#[test]
fn a_valkey_that_keeps_its_work_is_served_strictly_and_without_a_warning() {
    let (folder, store) =
        (tempfile::tempdir().unwrap(), Valkey::start(Flavour::Valkey, &["--appendfsync", "everysec"]));
    let strict = ["server", "--store", &store.url(), "--listen", "127.0.0.1:0", "--strict-durability"];
    let server = Process::start(command(folder.path(), &strict));
    server.url();
    let (status, log) = server.stop_and_tell();
    assert!(status.success() && !log.contains("WARN"), "{log}");
}

#[test]
fn other_stores_that_may_lose_work_are_refused_as_well() {
    let (folder, database) = (tempfile::tempdir().unwrap(), Postgres::quick());
    let store = database.url("flowfabric");
    serve_strictly(folder.path(), &store).refused(1, "may lose acknowledged work: fsync is off: set it to on");
    let unwaited = format!("{store}&options=-c%20synchronous_commit%3Doff");
    serve_strictly(folder.path(), &unwaited).refused(1, "synchronous_commit is off: set it to on");
    let server = Process::serve(folder.path(), &store);
    server.url();
    let (_, log) = server.stop_and_tell();
    assert!(log.contains("may lose acknowledged work: fsync is off"), "{log}");
    serve_strictly(folder.path(), "memory:").refused(1, "memory: may lose acknowledged work");
    serve_strictly(folder.path(), "sqlite:a.db?synchronous=normal").refused(1, "synchronous is normal");
    assert!(!folder.path().join("a.db").exists());
}

/// The database is down for more than ten seconds while a worker claims and callers submit.
#[test]
fn a_database_that_is_away_is_logged_every_ten_seconds_and_once_when_it_is_back() {
    let (folder, mut database) = (tempfile::tempdir().unwrap(), Postgres::start(Disk::Waited, &[]));
    let server = Process::serve(folder.path(), &database.url("flowfabric"));
    let address = server.url();
    let submit = |kind: &str| run_in(folder.path(), &["submit", kind, "--server", &address, "--wait"]);
    let work = ["worker", "--kind", "echo", "--exec", "cat", "--server", &address];
    let worker = Process::start(command(folder.path(), &work));
    submit("echo").ok();
    database.kill();
    let mut lines = server.says_until("the store does not answer");
    for _ in 0..5 {
        assert_ne!(submit("echo").code, Some(0));
    }
    lines.extend(server.says_until("the store does not answer"));
    // A heartbeat of the worker and its retries fail.
    let mut worker_lines = worker.says_until("the store does not answer");
    database.restart();
    lines.extend(server.says_until("the store answers again"));
    let alarms = lines.iter().filter(|line| line.contains("WARN") || line.contains("ERROR")).count();
    // The second warning is logged after ten seconds, a third if the start of the database takes ten more.
    assert!((2..=3).contains(&alarms), "{lines:#?}");
    assert!(lines.iter().filter(|line| line.contains("WARN")).all(|line| line.contains("failures=")), "{lines:#?}");
    assert_eq!(lines.iter().filter(|line| line.contains("answers again")).count(), 1);
    submit("echo").ok();
    let (_, log) = worker.stop_and_tell();
    worker_lines.extend(log.lines().map(str::to_owned));
    let alarms = worker_lines.iter().filter(|line| line.contains("WARN") || line.contains("ERROR")).count();
    assert!((1..=3).contains(&alarms), "the worker logs as seldom: {worker_lines:#?}");
}
