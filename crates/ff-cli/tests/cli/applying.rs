//! `ff apply` and `ff export`: lanes, quotas, schedules and budgets defined in a file.

use std::fs;

use serde_json::json;

use crate::world::{CommandRun, World};

const FILE: &str = "
lanes:
  mail:
    concurrency: 5
    ageing_ms: 60000
  plain: {}
quotas:
  customers:
    scope: lane:mail
    per: tag:customer
    max_concurrent: 2
schedules:
  report:
    cron: 0 9 * * *
    time_zone: UTC
    execution:
      kind: report
      payload: {day: '{{tick}}'}
";

fn apply(world: &World, file: &str, options: &[&str]) -> CommandRun {
    fs::write(world.folder.path().join("ff.yaml"), file).unwrap();
    world.run(&[&["apply", "-f", "ff.yaml"], options].concat())
}

#[test]
fn a_file_is_applied_and_applied_again() {
    let world = World::start();
    let created = r#"+ lane mail
    ageing_ms: 60000
    concurrency: 5
+ quota customers
    max_concurrent: 2
    per: tag:customer
    scope: lane:mail
+ schedule report
    cron: 0 9 * * *
    execution: {"kind":"report","lane":"default","payload":{"day":"{{tick}}"},"priority":0}
"#;
    assert_eq!(
        apply(&world, FILE, &["--dry-run"]).ok(),
        format!("{created}3 to create, 0 to change, 0 to delete, 1 unchanged")
    );
    assert_eq!(world.json(&["quotas", "list"]), json!({"quotas": []}), "a dry run changes nothing");
    assert_eq!(apply(&world, FILE, &[]).ok(), format!("{created}3 created, 0 changed, 0 deleted, 1 unchanged"));
    assert_eq!(apply(&world, FILE, &[]).ok(), "0 created, 0 changed, 0 deleted, 4 unchanged");
    let changed = FILE.replace("concurrency: 5", "concurrency: 6").replace("    ageing_ms: 60000\n", "");
    let text = apply(&world, &changed, &[]).ok();
    assert!(text.starts_with("~ lane mail\n    ageing_ms: 60000 -> none\n    concurrency: 5 -> 6\n"), "{text}");
    let lanes = world.json(&["lanes", "list"]);
    assert_eq!(lanes["lanes"][0]["settings"], json!({"state": "active", "concurrency": 6}), "{lanes}");
}

#[test]
fn an_exported_file_changes_nothing_when_it_is_applied() {
    let world = World::start();
    apply(&world, FILE, &[]).ok();
    world.ok(&["lanes", "pause", "night"]);
    world.ok(&["quotas", "set", "api", "--scope", "kind:call", "--rate", "100/1m"]);
    let exported = world.ok(&["export"]);
    assert!(exported.contains("night:\n    state: paused") && exported.contains("window_ms: 60000"), "{exported}");
    assert_eq!(apply(&world, &exported, &["--prune"]).ok(), "0 created, 0 changed, 0 deleted, 5 unchanged");
    let json = world.json(&["export"]);
    assert_eq!(json["lanes"]["mail"], json!({"concurrency": 5, "ageing_ms": 60_000}));
    let other = World::start();
    apply(&other, &exported, &[]).ok();
    assert_eq!(other.json(&["export"]), json);
    let nothing = json!({"lanes": {}, "quotas": {}, "schedules": {}, "budgets": {}});
    assert_eq!(world.json(&["export", "--namespace", "acme"]), nothing);
}

#[test]
fn entries_missing_in_the_file_are_removed_only_with_prune() {
    let world = World::start();
    apply(&world, FILE, &[]).ok();
    world.ok(&["quotas", "set", "old", "--max-concurrent", "1"]);
    world.ok(&["lanes", "set", "slow", "--concurrency", "1"]);
    world.ok(&["lanes", "pause", "slow"]);
    assert_eq!(apply(&world, FILE, &[]).ok(), "0 created, 0 changed, 0 deleted, 4 unchanged");
    assert_eq!(
        apply(&world, "lanes: {mail: {concurrency: 5, ageing_ms: 60000}}", &["--prune", "--dry-run"]).ok(),
        "~ lane slow\n    concurrency: 1 -> none\n0 to create, 1 to change, 0 to delete, 1 unchanged",
        "a section that is left out is not looked at"
    );
    let text = apply(&world, FILE, &["--prune"]).ok();
    assert_eq!(
        text,
        "~ lane slow\n    concurrency: 1 -> none\n- quota old\n0 created, 1 changed, 1 deleted, 4 unchanged"
    );
    let stored = world.json(&["export"]);
    assert_eq!(stored["lanes"]["slow"], json!({"state": "paused"}), "an operator has paused it");
    assert_eq!(apply(&world, FILE, &["--prune"]).ok(), "0 created, 0 changed, 0 deleted, 5 unchanged");
    let answer = apply(&world, "quotas: {}\n", &["--prune", "--json"]).json();
    let change = json!({"section": "quotas", "name": "customers", "change": "delete",
        "before": {"scope": "lane:mail", "per": "tag:customer", "max_concurrent": 2}});
    assert_eq!(answer, json!({"dry_run": false, "unchanged": 0, "changes": [change]}));
}

#[test]
fn a_state_that_the_file_has_counts_and_one_it_leaves_out_stays() {
    let world = World::start();
    world.ok(&["lanes", "pause", "mail"]);
    let text = apply(&world, "lanes: {mail: {concurrency: 5}}", &[]).ok();
    assert!(text.starts_with("~ lane mail\n    concurrency: none -> 5\n0 created"), "{text}");
    assert_eq!(world.json(&["export"])["lanes"]["mail"], json!({"state": "paused", "concurrency": 5}));
    apply(&world, "lanes: {mail: {concurrency: 5, state: active}}", &[]).ok();
    assert_eq!(world.json(&["export"])["lanes"]["mail"], json!({"concurrency": 5}));
}

#[test]
fn one_wrong_entry_changes_nothing() {
    let world = World::start();
    let wrong = [
        (
            "lanes: {a: {concurrency: 1}, b: {concurrency: 0}}",
            "ff.yaml: limit_exceeded: lanes.b.concurrency: must be from 1 to 1000000, got 0",
        ),
        ("lanes: {a: {concurrency: 1}, b: {limit: 3}}", "lanes.b.limit"),
        ("lanes: {a: {concurrency: 1}, b c: {}}", "lanes"),
        ("lanes: {a: {state: asleep}}", "lanes.a.state"),
        ("lanes: {a: {weights: {x: 2}}}", "lanes.a.weights: must be absent without fair_by"),
        ("lanes: {a: {fair_by: tag:x, weights: {x: 0}}}", "lanes.a.weights.x: must be from 1"),
        ("schedules: {a: {cron: 61 * * * *, execution: {kind: a}}}", "schedules.a.cron"),
        ("schedules: {a: {every_ms: 1000}}", "schedules.a.execution: is required, or flow"),
        (
            "schedules: {a: {every_ms: 1000, namespace: b, execution: {kind: a}}}",
            "schedules.a.namespace: must be absent",
        ),
        ("quotas: {a: {scope: namespace}}", "quotas.a.rate: must say rate, max_concurrent or both"),
        ("quotas: {a: {max_concurrent: 1}}", "quotas.a.scope: is required"),
        ("lanes: {a: {concurrency: 1}}\nqotas: {}", "qotas"),
        ("lanes: [", "line "),
        ("", "must be a map with the sections"),
        ("- a", "must be a map with the sections"),
        ("lanes: {a: 5}", "lanes.a: invalid type: integer `5`, expected an object"),
    ];
    for (file, complaint) in wrong {
        apply(&world, file, &[]).refused(2, complaint);
    }
    world.run(&["apply", "-f", "nowhere.yaml"]).refused(2, "nowhere.yaml");
    world.run(&["apply"]).refused(2, "--file");
    let nothing = json!({"lanes": {}, "quotas": {}, "schedules": {}, "budgets": {}});
    assert_eq!(world.json(&["export"]), nothing);
    let fed = CommandRun::fed(world.command(&["apply", "-f", "-"]), b"lanes: {a: {concurrency: 1}}");
    assert!(fed.ok().ends_with("1 created, 0 changed, 0 deleted, 0 unchanged"));
}

#[test]
fn weights_that_the_file_does_not_name_go() {
    let world = World::start();
    apply(&world, "lanes: {mail: {fair_by: 'tag:customer', weights: {acme: 3, globex: 2}}}", &[]).ok();
    let text = apply(&world, "lanes: {mail: {fair_by: 'tag:customer', weights: {acme: 4}}}", &[]).ok();
    assert!(text.starts_with("~ lane mail\n    weights: {\"acme\":3,\"globex\":2} -> {\"acme\":4}\n"), "{text}");
    let stored = world.json(&["export"]);
    assert_eq!(stored["lanes"]["mail"], json!({"fair_by": "tag:customer", "weights": {"acme": 4}}));
    apply(&world, "lanes: {mail: {}}", &[]).ok();
    assert_eq!(world.json(&["export"])["lanes"], json!({}));
}

#[test]
fn a_paused_schedule_stays_paused() {
    let world = World::start();
    apply(&world, FILE, &[]).ok();
    assert_eq!(world.run(&["schedules", "pause", "report"]).code, Some(0));
    let text = apply(&world, &FILE.replace("0 9", "0 10"), &[]).ok();
    assert!(text.starts_with("~ schedule report\n    cron: 0 9 * * * -> 0 10 * * *\n"), "{text}");
    let stored = world.json(&["schedules", "show", "report"]);
    assert!(stored["paused"].is_object(), "{stored}");
}
