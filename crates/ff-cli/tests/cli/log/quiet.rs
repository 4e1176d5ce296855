//! No log at any level shows payloads, results, tokens or secrets, on every store.

use std::path::Path;
use std::process::Command;

use ff_sdk::{Context, Fault};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::postgres_server::Postgres;
use crate::servers::{Flavour, Process as Valkey};
use crate::world::{CommandRun, Process, command, run_in};

const CANARY: &str = "canary-8d1f2c";
/// The canary in base64, encoded without and with quotes.
const ENCODED: [&str; 2] = ["Y2FuYXJ5LThkMWYyY", "ImNhbmFyeS04ZDFmMmMi"];
const SECRET: &str = "ca9a4ca9a4ca9a4cca9a4ca9a4ca9a4c";

/// The most verbose level for every library that could log the data it sends or receives.
const LOUDEST: &str = "trace,tokio_postgres=trace,postgres_protocol=trace,redis=trace,rusqlite=trace,hyper=trace,\
                       hyper_util=trace,h2=trace,reqwest=trace,rustls=trace,tower=trace,axum=trace,mio=trace,tokio=trace";

#[test]
fn nothing_secret_is_logged_over_memory() {
    nothing_secret_is_logged("memory:", "");
}

#[test]
fn nothing_secret_is_logged_over_sqlite() {
    nothing_secret_is_logged("sqlite:a.db", "");
}

#[test]
fn nothing_secret_is_logged_over_postgres() {
    let database = Postgres::quick();
    nothing_secret_is_logged(&database.url("flowfabric"), "bytes of text");
}

#[test]
fn nothing_secret_is_logged_over_valkey() {
    let store = Valkey::start(Flavour::Valkey, &[]);
    nothing_secret_is_logged(&store.url(), "");
}

/// Uses payloads, tokens, keys and secrets in all commands that accept them. `marker` is a text in the log that shows
/// that the driver logs.
fn nothing_secret_is_logged(store: &str, marker: &str) {
    let folder = tempfile::tempdir().unwrap();
    let key = (store != "memory:").then(|| {
        let create = ["keys", "create", "--store", store, "--name", "root", "--role", "admin"];
        let made = CommandRun::of(loud(folder.path(), &create));
        let key = made.text().trim_end().to_owned();
        assert!(made.code == Some(0) && !made.stderr.contains(secret_of(&key)), "{}", made.stderr);
        key
    });
    let server = Process::start(loud(folder.path(), &["server", "--store", store, "--listen", "127.0.0.1:0"]));
    let url = server.url();
    let ff = |args: &[&str]| {
        let mut command = loud(folder.path(), args);
        command.env("FF_SERVER", &url).envs(key.as_ref().map(|key| ("FF_API_KEY", key)));
        command
    };
    let mut log = String::new();
    let mut run = |args: &[&str]| {
        let ran = CommandRun::of(ff(args));
        assert_eq!(ran.code, Some(0), "{args:?} printed {} and said {}", ran.text(), ran.stderr);
        log.push_str(&ran.stderr);
        ran.text().trim_end().to_owned()
    };

    std::fs::write(folder.path().join("secret"), SECRET).unwrap();
    run(&["secrets", "rotate", "--kid", "k2", "--secret-file", "secret"]);
    let worker = Process::start(ff(&["worker", "--kind", "echo", "--exec", "cat"]));
    assert_eq!(run(&["submit", "echo", "--payload", CANARY, "--content-type", "text/plain", "--wait"]), CANARY);
    let mac = {
        let _working = waiting_worker(&url, key.as_deref());
        let id = run(&["submit", "order", "--payload", "1"]);
        assert!((0..200).any(|_| run(&["get", &id, "--json"]).contains("\"suspended\"")), "{id} does not wait");
        let links: Value = serde_json::from_str(&run(&["suspensions", "--links", "--json"])).unwrap();
        let link = links["links"][0]["approval_url"].as_str().unwrap().to_owned();
        let token = link.split_once("?token=").unwrap().1.replace("%3A", ":");
        run(&["signal", &id, "paid", "--waitpoint", "paid", "--token", &token, "--payload", &format!("\"{CANARY}\"")]);
        assert_eq!(run(&["result", &id, "--wait", "--timeout", "20s"]), format!("\"{CANARY}\""));
        token.split_once(':').unwrap().1.to_owned()
    };
    for process in [worker, server] {
        let (status, output) = process.stop_and_tell();
        assert!(status.success());
        log.push_str(&output);
    }

    assert!(log.contains("TRACE") && log.contains("hyper"), "the log was not asked for everything");
    let key = key.as_deref().map(secret_of);
    for secret in [CANARY, SECRET, &mac].into_iter().chain(ENCODED).chain(key) {
        let leaks: Vec<_> = log.lines().filter(|line| line.contains(secret)).collect();
        assert!(leaks.is_empty(), "{} lines, the first: {}", leaks.len(), leaks[0]);
    }
    assert!(log.contains(marker), "{marker:?} is not in the log");
}

/// A worker in this process, whose handler waits for a signal and answers with its payload.
fn waiting_worker(url: &str, key: Option<&str>) -> Runtime {
    let working = Runtime::new().unwrap();
    let (url, key) = (url.to_owned(), key.map(str::to_owned));
    working.spawn(async move {
        let mut connect = ff_sdk::Connect::to(&url);
        if let Some(key) = &key {
            connect = connect.key(key.parse().unwrap());
        }
        let ff = connect.connect().await.unwrap();
        ff.worker("w").on("order", order).run_until(std::future::pending()).await.unwrap();
    });
    working
}

async fn order(ctx: Context) -> Result<Value, Fault> {
    Ok(ctx.wait_for_signal("paid").await?.json()?)
}

#[test]
fn libraries_do_not_log_at_any_verbosity() {
    let (folder, database) = (tempfile::tempdir().unwrap(), Postgres::quick());
    let store = database.url("flowfabric");
    let args = ["server", "--store", &store, "--listen", "127.0.0.1:0", "--log-format", "json", "-vvv"];
    let server = Process::start(command(folder.path(), &args));
    let url = server.url();
    run_in(folder.path(), &["submit", "later", "--server", &url]).ok();
    let (status, output) = server.stop_and_tell();
    assert!(status.success());
    let lines: Vec<Value> = output.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let ours = |line: &&Value| line["target"].as_str().is_some_and(|target| target.starts_with("ff"));
    assert!(lines.iter().filter(ours).any(|line| line["level"] == "DEBUG"), "{output}");
    let theirs: Vec<_> = lines.iter().filter(|line| !ours(line)).collect();
    assert!(theirs.is_empty(), "{theirs:?}");
}

/// Returns the command `ff` with the most verbose log.
fn loud(folder: &Path, args: &[&str]) -> Command {
    let mut command = command(folder, args);
    command.env("RUST_LOG", LOUDEST);
    command
}

fn secret_of(key: &str) -> &str {
    key.rsplit('_').next().unwrap()
}
