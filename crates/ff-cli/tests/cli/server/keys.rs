//! `ff keys`: the first key is created directly in the store, others over HTTP, and a request without a key is refused.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::world::{CommandRun, Process, command, run_in};

/// A server for a store with keys.
struct KeyedServer {
    folder: TempDir,
    admin: String,
    server: Process,
    url: String,
}

impl KeyedServer {
    fn start(flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let create = ["keys", "create", "--store", "sqlite:a.db", "--name", "root", "--role", "admin"];
        let made = run_in(folder.path(), &create);
        assert!(made.stderr.contains("shown this once"), "{}", made.stderr);
        let admin = made.text().trim_end().to_owned();
        let serve = [&["server", "--store", "sqlite:a.db", "--listen", "0.0.0.0:0"], flags].concat();
        let server = Process::start(command(folder.path(), &serve));
        let line = server.prints("serving ");
        let url = line.trim().rsplit(' ').next().unwrap().replace("0.0.0.0", "127.0.0.1");
        Self { folder, admin, server, url }
    }

    fn with(&self, key: &str, args: &[&str]) -> Command {
        let mut command = command(self.folder.path(), args);
        command.env("FF_SERVER", &self.url).env("FF_API_KEY", key);
        command
    }

    fn run(&self, key: &str, args: &[&str]) -> CommandRun {
        CommandRun::of(self.with(key, args))
    }

    fn create(&self, args: &[&str]) -> Value {
        let create = [&["keys", "create", "--name", "ci", "--json"], args].concat();
        self.run(&self.admin, &create).json()
    }
}

#[test]
fn keys_that_travel_in_the_clear_are_warned_of() {
    let secured = KeyedServer::start(&[]);
    secured.server.says("API keys travel unencrypted to 0.0.0.0:");
    let folder = secured.folder.path();
    let loopback = ["server", "--store", "sqlite:a.db", "--listen", "127.0.0.1:0"];
    assert!(secured.server.stop().success());
    let server = Process::start(command(folder, &loopback));
    server.prints("serving ");
    let (_, output) = server.stop_and_tell();
    assert!(!output.contains("unencrypted"), "{output}");
}

#[test]
fn a_worker_whose_key_was_revoked_ends_with_an_error() {
    let secured = KeyedServer::start(&[]);
    let made = secured.create(&["--role", "submit", "--role", "work", "--namespace", "acme"]);
    let (id, key) = (made["key_id"].as_str().unwrap(), made["key"].as_str().unwrap());
    let worker = Process::start(secured.with(key, &["worker", "--kind", "echo", "--exec", "cat"]));
    worker.says("takes echo");
    secured.run(&secured.admin, &["keys", "revoke", id]).ok();
    let refused = |_: &usize| secured.run(key, &["list"]).code == Some(1);
    assert!((0..500).find(refused).is_some(), "the key still works");
    let submitter = secured.create(&["--role", "submit", "--namespace", "acme"]);
    secured.run(submitter["key"].as_str().unwrap(), &["submit", "echo", "--payload", "1"]).ok();
    worker.says("error: unauthenticated");
    assert_eq!(worker.wait().code(), Some(1));
}

#[test]
fn the_namespace_of_a_key_need_not_be_named() {
    let secured = KeyedServer::start(&[]);
    let every = ["--role", "submit", "--role", "work", "--role", "operate", "--namespace", "acme"];
    let made = secured.create(&every);
    let key = made["key"].as_str().unwrap();
    let run = |args: &[&str]| secured.run(key, args);
    let id = run(&["submit", "echo", "--payload", "1"]).ok();
    assert_eq!(run(&["get", &id, "--json"]).json()["namespace"], "acme");
    let worker = Process::start(secured.with(key, &["worker", "--kind", "echo", "--exec", "cat"]));
    assert_eq!(run(&["result", &id, "--wait"]).ok(), "1");
    assert!(run(&["workers"]).ok().contains("ff-worker"));
    assert!(run(&["list"]).ok().contains(&id));
    assert!(run(&["lanes", "list"]).ok().contains("default"));
    assert!(run(&["flow", "list"]).ok().contains("ID"));
    assert!(worker.stop().success());
    let seen = secured.run(&secured.admin, &["list", "--namespace", "acme"]).ok();
    assert!(seen.contains(&id), "{seen}");
}

#[test]
fn a_namespace_that_is_given_is_that_of_the_key_or_refused() {
    let secured = KeyedServer::start(&[]);
    let made = secured.create(&["--role", "submit", "--role", "work", "--role", "operate", "--namespace", "acme"]);
    let key = made["key"].as_str().unwrap();
    let why = "--namespace: is default and the key belongs to acme, must be acme or left out";
    let submit = ["submit", "echo", "--payload", "1"];
    secured.run(key, &[&submit[..], &["--namespace", "default"]].concat()).refused(2, why);
    let mut by_variable = secured.with(key, &submit);
    by_variable.env("FF_NAMESPACE", "default");
    CommandRun::of(by_variable).refused(2, why);
    let file = |name: &str, text: &str| std::fs::write(secured.folder.path().join(name), text).unwrap();
    file("own.toml", "[client]\nnamespace = \"default\"\n");
    secured.run(key, &[&submit[..], &["--config", "own.toml"]].concat()).refused(2, why);
    for args in [&["list"][..], &["lanes", "list"], &["worker", "--kind", "echo", "--exec", "cat"], &["events"]] {
        secured.run(key, &[args, &["--namespace", "default"]].concat()).refused(2, why);
    }
    file("default.yaml", "{kind: f, namespace: default, nodes: {a: {kind: echo}}}");
    let in_file = secured.run(key, &["flow", "submit", "default.yaml"]);
    in_file.refused(2, "default.yaml: namespace: is default and the key belongs to acme, must be acme or left out");
    for namespace in ["default", "acme"] {
        let list = secured.run(&secured.admin, &["list", "--json", "--namespace", namespace]).json();
        assert_eq!(list["executions"].as_array().unwrap().len(), 0, "{list}");
    }

    file("flow.yaml", "{kind: f, idempotency_key: nightly, nodes: {a: {kind: echo}}}");
    let flow = secured.run(key, &["flow", "submit", "flow.yaml"]).ok();
    let named = secured.run(key, &["flow", "submit", "flow.yaml", "--namespace", "acme"]).ok();
    assert_eq!(flow, named);
    assert_eq!(secured.run(key, &["flow", "get", &flow, "--json"]).json()["namespace"], "acme");
    let all = secured.run(key, &["cancel", "--filter", "all"]);
    all.refused(2, "every execution of namespace acme");
}

#[test]
fn a_key_lets_its_holder_do_what_it_is_for_until_it_is_revoked() {
    let secured = KeyedServer::start(&[]);
    let submitter = secured.create(&["--role", "submit", "--namespace", "acme", "--expires", "90d"]);
    let key = submitter["key"].as_str().unwrap();
    let submit = ["submit", "echo", "--payload", "1", "--namespace", "acme"];
    let id = secured.run(key, &submit).ok();
    let elsewhere = secured.run(key, &["submit", "echo", "--payload", "1", "--namespace", "other"]);
    elsewhere.refused(2, "--namespace: is other and the key belongs to acme, must be acme or left out");
    secured.run(key, &["keys", "list"]).refused(1, "lacks the role admin");
    let other = secured.create(&["--role", "submit", "--namespace", "other"]);
    let unseen = secured.run(other["key"].as_str().unwrap(), &["get", &id, "--namespace", "other"]);
    unseen.refused(1, "execution_not_found");

    let listed = secured.run(&secured.admin, &["keys", "list", "--json"]).json();
    assert_eq!(listed["keys"].as_array().unwrap().len(), 3);
    assert!(!listed.to_string().contains(key.rsplit('_').next().unwrap()), "{listed}");
    let key_id = submitter["key_id"].as_str().unwrap();
    secured.run(&secured.admin, &["keys", "revoke", key_id]).ok();
    let until = Instant::now() + Duration::from_secs(20);
    let attempts = (0..).map(|_| secured.run(key, &["get", &id, "--namespace", "acme"]));
    let refused = attempts.take_while(|_| Instant::now() < until).find(|ran| ran.code != Some(0));
    let refused = refused.expect("a revoked key goes on being heard");
    refused.refused(1, "has been revoked");
    assert!(secured.server.stop().success());
}

#[test]
fn a_caller_without_a_key_is_pointed_to_the_key_variable() {
    let secured = KeyedServer::start(&[]);
    let mut nobody = secured.with("", &["list"]);
    nobody.env_remove("FF_API_KEY");
    let refused = CommandRun::of(nobody);
    assert!(refused.stderr.contains("FF_API_KEY"), "{}", refused.stderr);
    refused.refused(1, "refuses to answer");
    let broken = secured.run("ff_nonsense", &["list"]);
    assert!(!broken.stderr.contains("nonsense"), "{}", broken.stderr);
    broken.refused(2, "FF_API_KEY: is not a key, must be ff_, an id");
}

#[test]
fn keys_create_refuses_invalid_roles_namespaces_and_stores() {
    let folder = tempfile::tempdir().unwrap();
    let create = |args: &[&str]| {
        let args = [&["keys", "create", "--store", "sqlite:a.db", "--name", "x"], args].concat();
        run_in(folder.path(), &args)
    };
    create(&["--role", "nobody"]).refused(2, "must be one of submit, work, signal, operate and admin");
    create(&["--role", "submit", "--every-namespace"]).refused(2, "namespace");
    create(&["--role", "admin", "--namespace", "acme"]).refused(2, "namespace");
    let memory = ["keys", "create", "--store", "memory:", "--name", "x", "--role", "admin"];
    run_in(folder.path(), &memory).refused(2, "keeps no keys");
}

#[test]
fn a_store_without_keys_is_served_on_loopback_only_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let anywhere = ["server", "--store", "sqlite:a.db", "--listen", "0.0.0.0:0"];
    run_in(folder.path(), &anywhere)
        .refused(2, "must be while the store has no API keys; create one with `ff keys create`");
    let here = Process::start(command(folder.path(), &["server", "--store", "sqlite:a.db", "--listen", "127.0.0.1:0"]));
    here.prints("the store has no API keys: listening on loopback only");
    assert!(here.stop().success());
}

#[test]
fn a_server_proves_its_name_and_a_client_believes_only_whom_it_trusts() {
    let certificates = tempfile::tempdir().unwrap();
    certify(certificates.path());
    let file = |name: &str| certificates.path().join(name).display().to_string();
    let secured = KeyedServer::start(&["--tls-cert", &file("server.crt"), "--tls-key", &file("server.key")]);
    assert!(secured.url.starts_with("https://127.0.0.1:"), "{}", secured.url);
    let mut trusting = secured.with(&secured.admin, &["keys", "list", "--json"]);
    trusting.env("FF_SERVER", format!("{}?ca={}", secured.url, file("authority.crt")));
    assert_eq!(CommandRun::of(trusting).json()["keys"].as_array().unwrap().len(), 1);
    let doubting = secured.run(&secured.admin, &["keys", "list"]);
    doubting.refused(1, "the server's certificate is not trusted");
    let mut plain = secured.with(&secured.admin, &["keys", "list"]);
    plain.env("FF_SERVER", secured.url.replace("https", "http"));
    CommandRun::of(plain).refused(1, "the server speaks TLS there: use https://");

    let broken =
        ["server", "--store", "sqlite:b.db", "--tls-cert", &file("nowhere.crt"), "--tls-key", &file("server.key")];
    run_in(secured.folder.path(), &broken).refused(2, "nowhere.crt cannot be read");
    let swapped =
        ["server", "--store", "sqlite:b.db", "--tls-cert", &file("server.crt"), "--tls-key", &file("authority.key")];
    run_in(secured.folder.path(), &swapped).refused(2, "authority.key does not fit");
}

/// Creates a certificate authority, and a certificate signed by it for this machine.
fn certify(folder: &Path) {
    std::fs::write(folder.join("server.ext"), "subjectAltName=IP:127.0.0.1\n").unwrap();
    let new_key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(
        folder,
        &format!("req -x509 {new_key} -keyout authority.key -out authority.crt -days 2 -subj /CN=authority"),
    );
    openssl(folder, &format!("req {new_key} -keyout server.key -out server.csr -subj /CN=server"));
    let signed = "-CA authority.crt -CAkey authority.key -CAcreateserial -days 2 -extfile server.ext -out server.crt";
    openssl(folder, &format!("x509 -req -in server.csr {signed}"));
}

fn openssl(folder: &Path, arguments: &str) {
    let output = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("openssl: {error}"));
    assert!(output.status.success(), "openssl {arguments}: {:?}", str::from_utf8(&output.stderr));
}
