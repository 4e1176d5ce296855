//! `ff schedules`: work that starts at defined times.

use serde_json::{Value, json};

use crate::world::{World, words};

#[test]
fn a_schedule_is_created_shown_paused_triggered_and_deleted() {
    let world = World::start();
    let options =
        r#"--time-zone Europe/Berlin --kind report --payload {"for":"{{tick}}"} --lane slow --tag by={{schedule}}"#;
    let create = [&["schedules", "create", "report", "--cron", "0 9 * * *"], &words(options)[..]].concat();
    let made = world.json(&create);
    assert_eq!((&made["name"], &made["definition"]["cron"]), (&json!("report"), &json!("0 9 * * *")));
    assert_eq!(made["definition"]["execution"]["payload"], json!({"for": "{{tick}}"}));
    assert_eq!(made["next_ticks"].as_array().unwrap().len(), 5);
    assert_eq!(world.json(&create), made, "the same again changes nothing");
    let shown = world.ok(&["schedules", "show", "report"]);
    assert!(shown.contains("0 9 * * * Europe/Berlin") && shown.contains("09:00:00 Europe/Berlin"), "{shown}");
    assert!(world.ok(&["schedules", "list"]).contains("report"));
    assert_eq!(world.json(&["schedules", "list"])["schedules"][0]["name"], json!("report"));
    assert_eq!(world.ok(&["schedules", "next", "report", "-n", "3"]).lines().count(), 3);
    assert_eq!(world.json(&["schedules", "next", "report"])["ticks"], made["next_ticks"]);

    let id = world.ok(&["schedules", "trigger", "report"]);
    let started = world.json(&["get", &id]);
    assert_eq!((&started["lane_id"], &started["tags"]["by"]), (&json!("slow"), &json!("report")));
    assert_eq!(world.ok(&["schedules", "trigger", "report"]), "skipped: previous_lives");
    let shown = world.ok(&["schedules", "show", "report"]);
    assert!(shown.contains(&id) && shown.contains("previous_lives") && shown.contains("started by hand"), "{shown}");

    let paused = world.json(&["schedules", "pause", "report", "--reason", "maintenance"]);
    assert_eq!((&paused["paused"]["reason"], &paused["next_ticks"]), (&json!("maintenance"), &json!([])));
    let shown = world.run(&["schedules", "show", "report"]);
    assert!(shown.stderr.contains("maintenance"), "{}", shown.stderr);
    assert_eq!(world.json(&["schedules", "resume", "report"])["paused"], Value::Null);
    assert_eq!(world.json(&["schedules", "delete", "report"]), json!({}));
    assert_eq!(world.json(&["schedules", "delete", "report"]), json!({"already": true}));
    world.run(&["schedules", "show", "report"]).refused(1, "schedule_not_found");
}

#[test]
fn a_schedule_ticks_by_itself() {
    let world = World::start();
    world.ok(&["schedules", "create", "often", "--every", "1s", "--kind", "echo", "--overlap", "allow"]);
    let _worker = world.worker("echo", "true");
    loop {
        let shown = world.json(&["schedules", "show", "often"]);
        let ticks = shown["ticks"].as_array().unwrap().clone();
        if ticks.len() >= 3 {
            assert!(ticks.iter().all(|tick| tick["outcome"] == "started"), "{shown}");
            break;
        }
    }
}

#[test]
fn a_schedule_starts_a_flow_or_what_a_file_says() {
    let world = World::start();
    let write = |name: &str, text: &str| std::fs::write(world.folder.path().join(name), text).unwrap();
    write("etl.yaml", "{kind: etl, nodes: {a: {kind: k}, b: {kind: k, after: [a]}}}");
    world.ok(&["schedules", "create", "etl", "--every", "1h", "--flow", "etl.yaml"]);
    let flow = world.ok(&["schedules", "trigger", "etl"]);
    assert_eq!(world.json(&["flow", "get", &flow])["kind"], json!("etl"));
    write("s.json", r#"{"every_ms":60000,"overlap":"allow","execution":{"kind":"k","singleton":{"key":"x"}}}"#);
    let made = world.json(&["schedules", "create", "file", "--file", "s.json"]);
    assert_eq!(made["definition"]["execution"]["singleton"]["key"], json!("x"));
    write("bad.json", r#"{"every_ms":60000,"execution":{"kind":"k","uuid":"0"}}"#);
    world.run(&["schedules", "create", "bad", "--file", "bad.json"]).refused(2, "execution.uuid");
}

#[test]
fn a_past_range_is_started_on_request() {
    let world = World::start();
    world.ok(&["schedules", "create", "back", "--cron", "0 * * * *", "--kind", "k"]);
    let range = ["--from", "2026-01-01T00:00:00Z", "--to", "2026-01-01T03:00:00Z"];
    let args = [&["schedules", "backfill", "back"], &range[..]].concat();
    let done = world.json(&args);
    assert_eq!(done["ticks"].as_array().unwrap().len(), 4);
    let ids = |done: &Value| -> Vec<Value> {
        done["ticks"].as_array().unwrap().iter().map(|tick| tick["execution_id"].clone()).collect()
    };
    assert_eq!(ids(&world.json(&args)), ids(&done), "each once");
    assert!(world.ok(&args).contains("2026-01-01T02:00:00Z"));
    let wrong = ["schedules", "backfill", "back", "--from", "2026-01-02T00:00:00Z", "--to", "2026-01-01T00:00:00Z"];
    world.run(&wrong).refused(2, "to");
}

#[test]
fn a_wrong_schedule_is_refused_and_writes_nothing() {
    let world = World::start();
    let create = |args: &[&str]| world.run(&[&["schedules", "create", "bad", "--kind", "k"], args].concat());
    create(&["--cron", "0 25 * * *"]).refused(2, "hour must be from 0 to 23");
    create(&["--cron", "0 9 * *"]).refused(2, "5 fields");
    create(&["--cron", "0 9 * * *", "--time-zone", "Europe/Berln"]).refused(2, "Europe/Berlin");
    create(&["--every", "1s", "--overlap", "never"]).refused(2, "skip, queue_one, allow, cancel_previous");
    create(&["--every", "10ms"]).refused(2, "every_ms");
    create(&["--at", "2020-01-01T00:00:00Z"]).refused(2, "must be in the future");
    let ends = ["--every", "1h", "--starts-at", "2100-01-02T00:00:00Z", "--ends-at", "2100-01-01T00:00:00Z"];
    create(&ends).refused(2, "ends_at");
    create(&[]).refused(2, "--cron, --every or --at");
    world.run(&["schedules", "create", "bad", "--every", "1h"]).refused(2, "--kind");
    assert_eq!(world.json(&["schedules", "list"])["schedules"], json!([]));
}
