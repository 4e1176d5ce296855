//! `ff doctor`: finds nothing in a valid store, and the damage in a damaged one, through its server and directly.

use serde_json::{Value, json};

use crate::world::{World, run_in};

#[test]
fn a_sound_store_is_found_sound() {
    let world = World::start();
    let _worker = world.worker("echo", "cat");
    world.ok(&["submit", "echo", "--payload", "1", "--wait"]);
    world.ok(&["submit", "nobody.does.this", "--delay", "1h"]);
    let through_server = world.json(&["doctor"]);
    assert_eq!(through_server["executions"], 2);
    assert!(world.ok(&["doctor"]).contains("2 executions"));
    let folder = world.stop();
    let direct = ["doctor", "--store", "sqlite:.flowfabric/flowfabric.db"];
    assert!(run_in(folder.path(), &direct).ok().contains("2 executions"));
    let direct = run_in(folder.path(), &[&direct[..], &["--json"]].concat()).json();
    assert_eq!(direct, through_server);
}

#[test]
fn doctor_reports_damage_with_the_execution_and_the_invariant() {
    let world = World::start();
    let id = world.ok(&["submit", "a", "--payload", "1"]);
    let folder = world.stop();
    let file = folder.path().join(".flowfabric/flowfabric.db");
    rusqlite::Connection::open(file).unwrap().execute("DELETE FROM submission", ()).unwrap();

    let direct = run_in(folder.path(), &["doctor", "--store", "sqlite:.flowfabric/flowfabric.db"]);
    assert_eq!((direct.code, direct.stderr.as_str()), (Some(1), ""));
    let text = direct.text();
    assert!(
        text.contains(&id) && text.contains("its definition is gone") && text.contains("partitions: 3 wrong"),
        "{text}"
    );

    let world = World::within(folder);
    let through_server = world.run(&["doctor", "--json"]);
    assert_eq!((through_server.code, through_server.stderr.as_str()), (Some(1), ""));
    let report: Value = serde_json::from_str(through_server.text()).unwrap();
    assert_eq!((&report["findings"][0]["about"], &report["findings"][0]["invariant"]), (&json!(id), &json!("I8")));
}

#[test]
fn a_store_that_cannot_be_examined_is_not_called_sound() {
    let world = World::start();
    let doctor = |store: &str| run_in(world.folder.path(), &["doctor", "--store", store]);
    doctor("sqlite:.flowfabric/flowfabric.db").refused(1, "in use");
    doctor("sqlite:missing.db").refused(1, "missing.db");
    assert!(!world.folder.path().join("missing.db").exists());
    doctor("http://127.0.0.1:7070").refused(2, "a server, not a store");
}
