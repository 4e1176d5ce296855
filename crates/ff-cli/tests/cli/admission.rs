//! `ff hold`, `ff release`, `ff assign`, `ff explain`: the reasons work is blocked, and the commands that show them.

use serde_json::{Value, json};

use crate::world::{World, words};

#[test]
fn an_execution_is_held_and_released() {
    let world = World::start();
    let id = world.ok(&["submit", "a"]);
    assert_eq!(world.ok(&["hold", &id, "--reason", "bad images"]), format!("{id} is held"));
    assert_eq!(world.ok(&["hold", &id]), format!("{id} is already held"));
    let held = world.json(&["get", &id]);
    assert_eq!(
        (&held["hold"]["reason"], &held["state"]["blocking_reason"]),
        (&json!("bad images"), &json!("paused_by_operator"))
    );
    assert!(world.ok(&["get", &id]).contains("bad images"));
    assert!(world.ok(&["list"]).contains("waiting (held)"));
    assert!(world.ok(&["lanes", "list"]).contains("0 (1 held)"));
    assert_eq!(world.json(&["list", "--reason", "hold"])["executions"][0]["execution_id"], json!(id));
    assert_eq!(world.json(&["list", "--reason", "quota"])["executions"], json!([]));
    world.run(&["list", "--reason", "lunch"]).refused(2, "must be one of route, quota, budget, hold");
    assert_eq!(world.ok(&["release", &id]), format!("{id} is released; it is waiting"));
    assert_eq!(world.json(&["unhold", &id]), json!({"public_state": "waiting", "already": true}));
    world.ok(&["cancel", &id]);
    world.run(&["hold", &id]).refused(1, "execution_not_active");
    world.run(&["assign", &id, "--worker", "w-7"]).refused(1, "execution_not_active");
    world.run(&["release", &id]).refused(1, "execution_not_active");
}

#[test]
fn an_execution_is_assigned_to_a_worker() {
    let world = World::start();
    let id = world.ok(&["submit", "a"]);
    let assigned = world.ok(&["assign", &id, "--worker", "w-7", "--for", "10m", "--why", "it has the data"]);
    assert!(assigned.starts_with(&format!("{id} is assigned to w-7; any worker may claim it in ")), "{assigned}");
    assert_eq!(world.json(&["assign", &id, "--worker", "w-7"])["already"], json!(true));
    world.run(&["assign", &id, "--worker", "w-8"]).refused(1, "grant_already_exists");
    world.run(&["assign", &id, "--worker", "w-7", "--for", "2h"]).refused(2, "ttl_ms: must be from 1000 to 3600000");
    assert!(world.ok(&["get", &id]).contains("assigned to w-7 (it has the data)"));
    let text = world.ok(&["explain", &id]);
    assert!(text.starts_with("It is assigned to worker w-7: it has the data."), "{text}");
    assert!(text.contains(&format!("ff unassign '{id}'")), "{text}");
    let grants = world.json(&["grants", "--worker", "w-7"]);
    assert_eq!(
        (&grants["grants"][0]["execution_id"], &grants["grants"][0]["reason"]),
        (&json!(id), &json!("it has the data"))
    );
    assert!(world.ok(&["grants"]).contains("w-7"));
    assert_eq!(world.json(&["grants", "--worker", "w-8"]), json!({"grants": []}));
    assert_eq!(world.json(&["list", "--reason", "assignment"])["executions"][0]["execution_id"], json!(id));
    assert_eq!(world.ok(&["unassign", &id]), format!("{id} is not assigned any longer; it is waiting"));
    assert_eq!(world.ok(&["unassign", &id]), format!("{id} was not assigned; it is waiting"));
    assert_eq!(world.json(&["grants"]), json!({"grants": []}));
}

#[test]
fn many_are_held_and_released_by_a_filter() {
    let world = World::start();
    for kind in ["a", "a", "b"] {
        world.ok(&["submit", kind]);
    }
    assert_eq!(world.ok(&["hold", "--filter", "kind=a", "--dry-run"]), "2 would be held");
    assert_eq!(world.ok(&["hold", "--filter", "kind=a", "--reason", "a bad release"]), "2 held");
    assert_eq!(world.ok(&["hold", "--filter", "all"]), "1 held");
    assert_eq!(world.ok(&["release", "--filter", "reason=hold", "--filter", "kind=a"]), "2 released");
    assert_eq!(world.json(&["release", "--filter", "all"]), json!({"dry_run": false, "done": 1, "refused": []}));
    world.run(&["release"]).refused(2, "required");
}

#[test]
fn an_execution_and_a_lane_are_explained() {
    let world = World::start();
    let id = world.ok(&["submit", "a"]);
    let text = world.ok(&["explain", &id]);
    assert!(text.starts_with("No worker takes it: no worker is registered."), "{text}");
    assert!(text.contains("ff worker --lane default --kind a --exec COMMAND"), "{text}");
    world.ok(&["lanes", "pause", "default"]);
    let explained = world.json(&["explain", &id]);
    assert!(explained["summary"].as_str().unwrap().starts_with("Its lane is paused"), "{explained}");
    let keeps = |term: &Value| term["verdict"] != json!("passes");
    let terms = explained["terms"].as_array().unwrap().iter().filter(|term| keeps(term));
    assert_eq!(terms.map(|term| term["term"].clone()).collect::<Vec<_>>(), [json!("lane"), json!("workers")]);
    let lane = world.ok(&["explain", "--lane", "default"]);
    assert!(lane.starts_with("1 of lane default do not run, because the lane is paused"), "{lane}");
    assert!(lane.contains("ff lanes resume default"), "{lane}");
    world.run(&["explain"]).refused(2, "required");
    world.run(&["explain", "01234567-89ab-7def-8123-456789abcdef"]).refused(1, "execution_not_found");
}

#[test]
fn a_singleton_key_skips_replaces_or_queues_further_submissions() {
    let world = World::start();
    let submit = |on_conflict: &str| {
        world.run(&["submit", "report", "--singleton", "acme", "--on-conflict", on_conflict, "--json"])
    };
    let first = world.json(&["submit", "report", "--singleton", "acme"]);
    assert_eq!((&first["duplicate"], &first["conflict"]), (&json!(false), &Value::Null));
    let skipped = world.run(&["submit", "report", "--singleton", "acme"]);
    assert_eq!(skipped.text().trim(), first["execution_id"].as_str().unwrap());
    assert!(skipped.stderr.contains("skipped"), "{}", skipped.stderr);
    let queued = submit("queue").json();
    assert_eq!((&queued["conflict"], &queued["public_state"]), (&json!("queued"), &json!("rate_limited")));
    let replaced = submit("replace").json();
    assert_eq!(replaced["conflict"], json!("replaced"));
    let id = replaced["execution_id"].as_str().unwrap();
    assert!(world.ok(&["get", id]).contains("of the singleton key acme has to end first"));
    assert!(world.ok(&["explain", id]).starts_with("It is queued: "));
    let unknown = world.run(&["submit", "report", "--singleton", "acme", "--on-conflict", "wait"]);
    unknown.refused(2, "must be one of skip, replace, queue");
    world.run(&["submit", "report", "--on-conflict", "queue"]).refused(2, "--singleton");
    world.run(&["submit", "report", "--singleton", "a", "--idempotency-key", "b"]).refused(2, "cannot be used with");
}

#[test]
fn a_debounced_submission_replaces_the_one_before_it() {
    let world = World::start();
    let debounce = |payload: &str| {
        world.json(&["submit", "index", "--payload", payload, "--debounce", "doc", "--debounce-delay", "1h"])
    };
    let (first, second) = (debounce("1"), debounce("2"));
    assert_eq!((&first["public_state"], &first["execution_id"]), (&json!("delayed"), &second["execution_id"]));
    assert_eq!(second["conflict"], json!("replaced"));
    let id = second["execution_id"].as_str().unwrap();
    assert_eq!(world.json(&["get", id])["submission_key"], json!("debounce:doc"));
    world.run(&["submit", "index", "--debounce", "doc"]).refused(2, "--debounce-delay");
    let long = world.run(&["submit", "index", "--debounce", "doc", "--debounce-delay", "25h"]);
    long.refused(2, "debounce.delay_ms: must be 1 to 86400000");
}

#[test]
fn a_budget_is_made_changed_shown_and_deleted() {
    let world = World::start();
    let limits = "--scope kind:a --hard tokens=100 --soft tokens=80 --reset day@Europe/Berlin";
    world.ok(&words(&format!("budgets create agent {limits} --estimate tokens=10 --on-hard-limit fail")));
    world.run(&["budgets", "create", "agent", "--hard", "tokens=1"]).refused(2, "change it with ff budgets set");
    world.ok(&["budgets", "set", "agent", "--hard", "tokens=200", "--hard", "usd_micros=5"]);
    let info = world.json(&["budgets", "show", "agent"]);
    assert_eq!(info["definition"]["limits"], json!({"tokens": {"hard": 200, "soft": 80}, "usd_micros": {"hard": 5}}));
    assert_eq!((&info["definition"]["scope"], &info["balance"]["tokens"]["used"]), (&json!("kind:a"), &json!(0)));
    assert!(info["period"]["until"].is_number(), "{info}");
    world.ok(&["budgets", "attach", "agent", "lane:mail"]);
    let listed = world.ok(&["budgets", "list"]);
    assert!(listed.contains("lane:mail") && listed.contains("day@Europe/Berlin"), "{listed}");
    let shown = world.run(&["budgets", "show", "agent"]);
    assert!(shown.text().contains("200") && shown.stderr.starts_with("resets at 20"), "{}", shown.stderr);
    assert_eq!(world.run(&["budgets", "reset", "agent"]).stderr, "agent is reset\n");
    for (wrong, why) in [
        (vec!["--hard", "tokens"], "tokens=100000"),
        (vec!["--hard", "tokens=-1"], "tokens=100000"),
        (vec!["--hard", "tokens=1", "--reset", "day@Mars"], "time zone"),
        (vec!["--hard", "tokens=1", "--reset", "10ms"], "every_ms"),
        (vec![], "limits"),
    ] {
        world.run(&[&["budgets", "create", "bad"], &wrong[..]].concat()).refused(2, why);
    }
    assert_eq!(world.run(&["budgets", "delete", "agent"]).stderr, "deleted agent\n");
    world.run(&["budgets", "show", "agent"]).refused(1, "budget_not_found");
    let id = world.ok(&["submit", "a"]);
    assert_eq!(world.json(&["usage", &id]), json!({"usage": {}}));
}
