//! `ff dev` and `ff server`: they print their addresses, stop on a signal, and report why they cannot start.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::Value;

use crate::world::{CommandRun, Process, World, command, dev, run_in};

#[test]
fn the_first_screen_of_the_readme_works() {
    let world = World::start();
    let _echo = world.worker("echo", "cat");
    let ran = world.run(&["submit", "echo", "--payload", r#"{"hi":1}"#, "--wait"]);
    assert_eq!((ran.code, ran.text(), ran.stderr.as_str()), (Some(0), r#"{"hi":1}"#, ""));
}

#[test]
fn a_stopped_worker_and_server_exit_with_success() {
    let world = World::start();
    let worker = world.worker("echo", "cat");
    assert_eq!(world.ok(&["submit", "echo", "--payload", "1", "--wait"]), "1");
    assert!(worker.stop().success());
    assert!(world.dev.stop().success());
}

#[test]
fn a_server_stops_while_a_caller_waits_for_an_end() {
    let world = World::start();
    let _worker = world.worker("echo", "cat");
    let waiting = world.spawn(&["submit", "nobody.does.this", "--wait", "-v"]);
    waiting.says("waiting for the end");
    assert!(world.dev.stop().success());
    let line = waiting.says("error: ");
    assert!(line.contains("store_unavailable: ") || line.contains("outcome_unknown: "), "{line}");
    assert!(line.contains("continues"), "{line}");
}

#[test]
fn a_submitted_execution_survives_a_restart() {
    let world = World::start();
    let id = world.ok(&["submit", "later", "--payload", "[1,2]"]);
    let world = World::within(world.stop());
    assert_eq!(world.json(&["get", &id])["public_state"], "waiting");
    assert_eq!(world.ok(&["get", &id, "--payload"]), "[1,2]");
}

#[test]
fn a_second_server_on_the_same_data_is_refused_as_in_use() {
    let world = World::start();
    CommandRun::of(dev(world.folder.path())).refused(1, "in use");
}

#[test]
fn a_port_in_use_is_said_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ran = run_in(folder.path(), &["dev", "--listen", &address]);
    assert!(ran.stderr.contains(&address), "{}", ran.stderr);
    ran.refused(1, "is in use; choose another address with --listen");
}

#[test]
fn a_dev_server_listens_on_loopback_only() {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), &["dev", "--listen", "0.0.0.0:0"]).refused(2, "loopback");
    run_in(folder.path(), &["dev", "--listen", "localhost"]).refused(2, "--listen");
}

#[test]
fn a_dev_server_prints_its_address_and_store_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["dev", "--listen", "127.0.0.1:0", "--data", "there", "--json"];
    let dev = Process::start(command(folder.path(), &args));
    let info: Value = serde_json::from_str(&dev.prints("{")).unwrap();
    assert_eq!(info["store"], "sqlite:there/flowfabric.db");
    assert!(folder.path().join("there/flowfabric.db").exists());
    let server = info["server"].as_str().unwrap();
    run_in(folder.path(), &["list", "--server", server]).ok();
}

#[test]
fn the_demo_shows_every_promise_it_makes() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = dev(folder.path());
    command.arg("--demo");
    let demo = Process::start(command);
    let lines: Vec<_> =
        std::iter::from_fn(|| Some(demo.prints(""))).take_while(|line| !line.contains("is over")).collect();
    for text in [
        "demo.resize  75%",
        "demo.resize  completed:",
        "demo.charge  the bank does not answer",
        "demo.charge  completed:",
        "demo.remind  completed:",
        "demo.import  the execution ended as failed:",
    ] {
        assert!(lines.iter().any(|line| line.contains(text)), "{text:?} is not in {lines:#?}");
    }
    assert!(demo.stop().success());
}

#[test]
fn a_demo_that_is_cut_short_finishes_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = dev(folder.path());
    command.arg("--demo");
    let demo = Process::start(command);
    demo.prints("demo.resize  0%");
    assert!(demo.stop().success());
    let world = World::within(folder);
    let resized = world.json(&["list", "--state", "completed"]);
    assert!(resized["executions"].as_array().unwrap().iter().any(|info| info["kind"] == "demo.resize"), "{resized}");
}

#[test]
fn a_server_serves_the_store_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let server = |store: &str| command(folder.path(), &["server", "--store", store, "--listen", "127.0.0.1:0"]);
    for store in ["sqlite:jobs.db", "memory:"] {
        let process = Process::start(server(store));
        let line = process.prints("serving");
        let url = line.rsplit(' ').next().unwrap();
        let id = run_in(folder.path(), &["submit", "a", "--server", url]).ok();
        assert!(run_in(folder.path(), &["list", "--server", url]).ok().contains(&id), "{store}");
        assert!(process.stop().success());
    }
    CommandRun::of(server("http://127.0.0.1:7070")).refused(2, "a server, not a store");
    CommandRun::of(server("mysql://host")).refused(2, "scheme: must be that of sqlite:PATH");
    run_in(folder.path(), &["server"]).refused(2, "--store <URL>");
}

#[test]
fn a_server_serves_metrics_at_a_separate_address() {
    let folder = tempfile::tempdir().unwrap();
    let serve = ["server", "--store", "memory:", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"];
    let server = Process::start(command(folder.path(), &serve));
    let line = server.prints("metrics at ");
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap();
    let metrics = get(address, "/metrics");
    assert!(metrics.contains("ff_completions_total 0"), "{metrics}");
    assert!(metrics.contains("ff_pump_lag_seconds 0"), "{metrics}");
    assert!(server.stop().success());
}

#[test]
fn pages_of_configured_origins_may_read_streams() {
    let folder = tempfile::tempdir().unwrap();
    let serve = ["server", "--store", "memory:", "--listen", "127.0.0.1:0", "--cors-origin", "https://app.example"];
    let server =
        Process::start(command(folder.path(), &[&serve[..], &["--cors-origin", "http://localhost:3000"]].concat()));
    let line = server.prints("serving");
    let address = line.rsplit("http://").next().unwrap();
    for origin in ["https://app.example", "http://localhost:3000"] {
        let path = "/v1/executions/%7Bfp:0%7D:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c/stream";
        let answer = get(address, &format!("{path} HTTP/1.1\r\nOrigin: {origin}\r\nX-Path:"));
        assert!(answer.contains(&format!("access-control-allow-origin: {origin}")), "{answer}");
    }
    assert!(server.stop().success());
    let what = "must be http:// or https://, a host and perhaps a port";
    for origin in ["*", "null", "app.example", "https://app.example/", "https://app.example/page", "https://*.example"]
    {
        let serve = [&serve[..6], &[origin]].concat();
        run_in(folder.path(), &serve).refused(2, what);
        run_in(folder.path(), &["dev", "--cors-origin", origin]).refused(2, what);
    }
}

/// Returns the HTTP response to a GET, with its head.
pub(crate) fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_host_may_be_named_by_its_name() {
    let folder = tempfile::TempDir::new().unwrap();
    let dev = Process::start(command(folder.path(), &["dev", "--listen", "localhost:0"]));
    dev.prints("  server  http://127.0.0.1:");
    run_in(folder.path(), &["dev", "--listen", "7070"]).refused(2, "HOST:PORT");
}
