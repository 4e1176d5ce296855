//! `ff config` and `flowfabric.toml`: the settings in force, their sources, and the rules of the file.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::world::{CommandRun, World, command, run_in};

/// Runs `ff` in a folder whose `flowfabric.toml` has this content.
fn beside(file: &str, args: &[&str], variables: &[(&str, &str)]) -> CommandRun {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("flowfabric.toml"), file).unwrap();
    let mut command = command(folder.path(), args);
    command.envs(variables.iter().copied());
    CommandRun::of(command)
}

/// Returns the value of a setting in force, and its source.
fn found(config: &Value, name: &str) -> (Option<String>, String) {
    let settings = config["settings"].as_array().unwrap();
    let one = settings.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("no {name} in {config}"));
    (one["value"].as_str().map(str::to_owned), one["from"].as_str().unwrap().to_owned())
}

fn is(value: &str, from: &str) -> (Option<String>, String) {
    (Some(value.to_owned()), from.to_owned())
}

#[test]
fn a_flag_goes_before_a_variable_before_the_file_before_what_is_so_unless_said() {
    let file =
        "[client]\nserver = \"http://file:1\"\nnamespace = \"from-file\"\n\n[server]\nlisten = \"127.0.0.1:1\"\n";
    let all = |args: &[&str], variables: &[(&str, &str)]| {
        beside(file, &[&["config", "--json"], args].concat(), variables).json()
    };
    let config = all(&[], &[]);
    assert_eq!(config["file"], "flowfabric.toml");
    assert_eq!(found(&config, "client.server"), is("http://file:1", "file"));
    assert_eq!(found(&config, "server.listen"), is("127.0.0.1:1", "file"));
    assert_eq!(found(&config, "dev.listen"), is("127.0.0.1:7070", "default"));
    assert_eq!(found(&config, "server.store"), (None, "nowhere".to_owned()));
    let variables = [("FF_SERVER", "http://env:1"), ("FF_LISTEN", "127.0.0.1:2"), ("FF_WORKER_CONCURRENCY", "7")];
    let config = all(&[], &variables);
    assert_eq!(found(&config, "client.server"), is("http://env:1", "variable"));
    assert_eq!(found(&config, "server.listen"), is("127.0.0.1:2", "variable"));
    assert_eq!(found(&config, "worker.concurrency"), is("7", "variable"));
    let config = all(&["--server", "http://flag:1"], &variables);
    assert_eq!(found(&config, "client.server"), is("http://flag:1", "flag"));
    let table = beside(file, &["config"], &[("FF_LISTEN", "127.0.0.1:2")]).ok();
    let row = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(row("client.server").ends_with("flowfabric.toml"), "{table}");
    assert!(row("server.listen").ends_with("FF_LISTEN"), "{table}");
    assert!(row("dev.data").ends_with("default"), "{table}");
}

#[test]
fn settings_of_the_config_file_are_applied() {
    let world = World::start();
    let text = format!(
        "[client]\nserver = {:?}\nnamespace = \"acme\"\n[worker]\nkind = [\"a\", \"b\"]\nexec = \"cat\"\nlane = \"mail\"\n\
         lease_ttl = \"20s\"\nconcurrency = 2\n",
        world.server
    );
    std::fs::write(world.folder.path().join("other.toml"), text).unwrap();
    let ff = |args: &[&str]| command(world.folder.path(), &[args, &["--config", "other.toml"]].concat());
    let _worker = crate::world::Process::start(ff(&["worker"]));
    let id = CommandRun::of(ff(&["submit", "b", "--lane", "mail", "--payload", "17"])).ok();
    assert_eq!(CommandRun::of(ff(&["result", &id, "--wait"])).ok(), "17");
    let mut named = command(world.folder.path(), &["get", &id, "--json"]);
    named.env("FF_CONFIG", "other.toml");
    assert_eq!(CommandRun::of(named).json()["namespace"], "acme");
}

#[test]
fn a_config_error_is_reported_with_its_line_and_a_suggestion() {
    for (file, complaint) in [
        (
            "[server]\n\nlisen = \"127.0.0.1:1\"\n",
            "flowfabric.toml:3: server.lisen: is no setting; did you mean listen?",
        ),
        ("[sever]\n", "flowfabric.toml:1: sever: is no section; did you mean [server]?"),
        ("namespace = \"acme\"\n", "flowfabric.toml:1: namespace: stands in no section; client.namespace is a setting"),
        ("[worker]\ncolour = 1\n", "flowfabric.toml:2: worker.colour: is no setting, only these are: "),
        ("[server]\nlisten = \"here\"\n", "flowfabric.toml:2: server.listen: cannot be \"here\":"),
        (
            "[server]\ncors-origin = [\"https://app.example\", \"*\"]\n",
            "flowfabric.toml:2: server.cors-origin: cannot be \"*\": must be http:// or https://, a host",
        ),
        ("[worker]\nconcurrency = 0\n", "flowfabric.toml:2: worker.concurrency: cannot be \"0\": must be from 1 to"),
        ("[client]\nnamespace = [\"a\"]\n", "flowfabric.toml:2: client.namespace: must be one value, not a list"),
        ("[client]\n\nserver = \n", "flowfabric.toml:3: must be TOML"),
        ("server = \"http://127.0.0.1:1\"\n", "flowfabric.toml:1: server: must be a section, [server]"),
    ] {
        beside(file, &["list"], &[]).refused(2, complaint);
    }
    beside("", &["list", "--config", "missing.toml"], &[]).refused(2, "cannot read missing.toml");
    beside("nonsense", &["config"], &[("FF_CONFIG", "")]).ok();
}

#[test]
fn a_password_is_never_shown() {
    let file = "[server]\nstore = \"postgres://me:canary@127.0.0.1/jobs?password=canary\"\n";
    for args in [&["config"][..], &["config", "--json"]] {
        let shown = beside(file, args, &[]).ok();
        assert!(shown.contains("postgres://127.0.0.1/jobs") && !shown.contains("canary"), "{shown}");
    }
    let wrong = beside("[server]\nstore = \"http://me:canary@127.0.0.1\"\n", &["config"], &[]);
    assert!(!wrong.stderr.contains("canary"), "{}", wrong.stderr);
    wrong.refused(2, "server.store");
}

/// The page has one row per setting; `FF_BLESS=1` writes the rows.
#[test]
fn every_setting_is_on_the_page() {
    const BEGIN: &str = "<!-- Written by `FF_BLESS=1 cargo test -p ff-cli --test cli on_the_page`. -->\n";
    let config = run_in(TempDir::new().unwrap().path(), &["config", "--json"]).json();
    let mut rows = "| in the file | flag | variable | default | |\n|---|---|---|---|---|\n".to_owned();
    for one in config["settings"].as_array().unwrap() {
        let text = |field: &str| one[field].as_str().unwrap_or_default().replace('|', "\\|");
        let quoted = |field: &str| if text(field).is_empty() { String::new() } else { format!("`{}`", text(field)) };
        let cells = [quoted("name"), quoted("flag"), quoted("variable"), quoted("value"), text("about")];
        rows.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let after = rest.split_once("\n\n").map_or("", |(_, after)| after);
    let expected = format!("{before}{BEGIN}{rows}\n{after}");
    if std::env::var_os("FF_BLESS").is_some() {
        std::fs::write(&path, expected).unwrap();
    } else {
        assert_eq!(page, expected, "docs/configuration.md is not what `ff config` says");
    }
}
