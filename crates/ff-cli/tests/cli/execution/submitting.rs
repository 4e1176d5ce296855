//! `ff submit`: every option reaches the execution, and an invalid command line writes nothing.

use serde_json::json;

use crate::world::{CommandRun, World, words};

#[test]
fn every_option_reaches_the_execution() {
    let world = World::start();
    let policy = r#"{"retry_policy":{"max_retries":7},"timeout_policy":{"execution_deadline_ms":60000}}"#;
    let submit = words("submit resize --payload {} --lane images --priority 9000 --delay 2h --namespace team");
    let spaced = ["--tag", "customer=acme", "--tag", "note=a=b c", "--idempotency-key", "order 17", "--policy", policy];
    let id = world.ok(&[&submit[..], &spaced].concat());
    let info = world.json(&["get", &id]);
    assert_eq!(info["execution_id"], json!(id));
    assert_eq!(info["kind"], "resize");
    assert_eq!(info["lane_id"], "images");
    assert_eq!(info["namespace"], "team");
    assert_eq!(info["priority"], 9000);
    assert_eq!(info["public_state"], "delayed");
    assert_eq!(info["tags"], json!({ "customer": "acme", "note": "a=b c" }));
    assert_eq!(info["idempotency_key"], "order 17");
    assert_eq!(info["policy"]["retry_policy"]["max_retries"], 7);
    let delay = info["delayed_until"].as_i64().unwrap() - info["created_at"].as_i64().unwrap();
    assert_eq!(delay, 7_200_000);
    let shown = world.ok(&["get", &id]);
    for text in [&id, "resize", "team", "images", "9000", "delayed", "in 1h", "customer=acme", "order 17"] {
        assert!(shown.contains(text), "{text:?} is not in\n{shown}");
    }
}

#[test]
fn a_start_time_in_the_past_means_now() {
    let world = World::start();
    let id = world.ok(&["submit", "a", "--at", "1"]);
    assert_eq!(world.json(&["get", &id])["public_state"], "waiting");
    let id = world.ok(&["submit", "a", "--at", "9999999999999"]);
    assert_eq!(world.json(&["get", &id])["delayed_until"], 9_999_999_999_999_i64);
}

#[test]
fn a_payload_comes_from_the_line_a_file_or_standard_input_unchanged() {
    let world = World::start();
    let payload = |id: &str| world.run(&["get", id, "--payload"]).stdout;

    let here = world.ok(&["submit", "a", "--payload", r#"{ "a" : 1.0 }"#]);
    assert_eq!(payload(&here), br#"{ "a" : 1.0 }"#);

    std::fs::write(world.folder.path().join("in.json"), "[1,\n 2]\n").unwrap();
    let file = world.ok(&["submit", "a", "--payload", "@in.json"]);
    assert_eq!(payload(&file), b"[1,\n 2]\n");

    let all_bytes: Vec<u8> = (0..=255).collect();
    let args = ["submit", "a", "--payload", "-", "--content-type", "image/png"];
    let stdin = CommandRun::fed(world.command(&args), &all_bytes).ok();
    assert_eq!(payload(&stdin), all_bytes);
    assert_eq!(world.json(&["get", &stdin, "--payload"])["content_type"], "image/png");

    let none = world.ok(&["submit", "a"]);
    assert_eq!(payload(&none), b"");
    assert_eq!(world.json(&["get", &here, "--payload"])["payload"], json!({ "a": 1.0 }));
}

#[test]
fn retries_and_times_are_flags_and_timestamps_are_rfc_3339() {
    let world = World::start();
    let policy = r#"{"retry_policy":{"max_retries":1},"max_replay_count":4}"#;
    let times = ["--attempt-timeout", "90s", "--deadline", "2h", "--at", "2999-01-01T01:00:00+01:00"];
    let args = [&["submit", "a", "--policy", policy, "--retries", "7"][..], &times].concat();
    let info = world.json(&["get", &world.ok(&args)]);
    assert_eq!(info["policy"]["retry_policy"]["max_retries"], 7);
    assert_eq!(info["policy"]["max_replay_count"], 4, "the rest of the policy counts");
    assert_eq!(info["policy"]["timeout_policy"]["attempt_timeout_ms"], 90_000);
    assert_eq!(info["policy"]["timeout_policy"]["execution_deadline_ms"], 7_200_000);
    assert_eq!(info["delayed_until"], 32_472_144_000_000_i64);
    let since = world.json(&["list", "--since", "2020-01-01T00:00:00Z"]);
    assert_eq!(since["executions"].as_array().unwrap().len(), 1);
    let until = world.json(&["list", "--until", "2020-01-01T00:00:00Z"]);
    assert_eq!(until["executions"], json!([]));
}

#[test]
fn each_line_of_a_file_is_an_execution() {
    let world = World::start();
    std::fs::write(world.folder.path().join("in.jsonl"), "{\"n\": 1}\n\n[2]\n").unwrap();
    let submit = ["submit", "a", "--from", "in.jsonl", "--tag", "batch=1", "--idempotency-key", "import"];
    let ids = world.ok(&submit);
    let ids: Vec<_> = ids.lines().collect();
    assert_eq!(ids.len(), 2);
    assert_eq!(world.run(&["get", ids[0], "--payload"]).stdout, b"{\"n\": 1}");
    assert_eq!(world.json(&["get", ids[1]])["idempotency_key"], "import/3");
    let again = world.run(&[&submit[..], &["--json"]].concat()).ok();
    let again: Vec<serde_json::Value> = again.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&again[1]["line"], &again[1]["duplicate"], &again[1]["execution_id"]),
        (&json!(3), &json!(true), &json!(ids[1]))
    );

    let many: String = (0..2_500).map(|n| format!("{n}\n")).collect();
    let fed = CommandRun::fed(world.command(&["submit", "b", "--from", "-"]), many.as_bytes()).ok();
    assert_eq!(fed.lines().count(), 2_500);
}

#[test]
fn a_refused_line_is_reported_and_an_unreadable_line_stops_the_submission() {
    let world = World::start();
    std::fs::write(world.folder.path().join("bad.jsonl"), "1\n{oops}\n").unwrap();
    world.run(&["submit", "a", "--from", "bad.jsonl"]).refused(2, "from: line 2 of bad.jsonl must be JSON");
    assert_eq!(world.json(&["list"])["executions"], json!([]));

    std::fs::write(world.folder.path().join("in.jsonl"), "1\n2\n").unwrap();
    world.ok(&["submit", "a", "--payload", "0", "--idempotency-key", "k/2"]);
    let ran = world.run(&["submit", "a", "--from", "in.jsonl", "--idempotency-key", "k"]);
    let text = ran.text().to_owned();
    assert!(text.lines().count() == 2 && text.contains("line 2 refused: "), "{text}");
    assert!(ran.stderr.contains("1 submitted, 1 refused"), "{}", ran.stderr);
}

#[test]
fn the_first_digits_of_a_uuid_are_enough_where_they_are_unique() {
    let world = World::start();
    let uuid = |id: &str| id.rsplit_once(':').unwrap().1.to_owned();
    let (mut first, mut second) = (world.ok(&["submit", "a"]), world.ok(&["submit", "a"]));
    // The eighth digit changes about once a minute.
    if uuid(&first)[..8] != uuid(&second)[..8] {
        (first, second) = (second, world.ok(&["submit", "a"]));
    }
    assert_eq!(world.json(&["get", &uuid(&first)[..30]])["execution_id"], json!(first));
    world.run(&["get", &uuid(&first)[..8]]).refused(2, &uuid(&second));
    world.run(&["get", "00000000"]).refused(2, "no execution of the namespace default begins with 00000000");
    world.run(&["get", "0000000"]).refused(2, "first 8 digits");
}

#[test]
fn the_same_key_is_the_same_execution() {
    let world = World::start();
    let submit = ["submit", "a", "--payload", "1", "--idempotency-key", "k"];
    let first = world.json(&submit);
    assert_eq!(first["duplicate"], false);
    let again = world.json(&submit);
    assert_eq!((&again["execution_id"], &again["duplicate"]), (&first["execution_id"], &json!(true)));
    world.run(&["submit", "a", "--payload", "2", "--idempotency-key", "k"]).refused(1, "idempotency_conflict");
}

#[test]
fn an_invalid_submission_is_refused_and_writes_nothing() {
    let world = World::start();
    std::fs::write(world.folder.path().join("large"), vec![b'1'; 1024 * 1024 + 1]).unwrap();
    let hint = "--content-type text/plain";
    for (args, code, complaint) in [
        (&["--payload", "{hi:1}"][..], 2, hint),
        (&["--payload", "hello"], 2, hint),
        (&["--payload", "-"], 2, hint),
        (&["--payload", "@missing"], 2, "cannot open missing"),
        (&["--payload", "@large"], 2, "1048576"),
        (&["--payload", "x", "--content-type", "application/json"], 2, "payload: must be JSON"),
        (&["--content-type", "text/plain"], 2, "--payload"),
        (&["--lane", "a:b"], 2, "--lane"),
        (&["--priority", "9001"], 2, "0 to 9000"),
        (&["--priority", "high"], 2, "whole number"),
        (&["--delay", "10"], 2, "10s"),
        (&["--delay", "1s", "--at", "5"], 2, "cannot be used with"),
        (&["--at", "tomorrow"], 2, "2026-12-24T18:00:00Z"),
        (&["--at", "2026-12-24T18:00:00"], 2, "+01:00"),
        (&["--retries", "many"], 2, "whole number"),
        (&["--attempt-timeout", "5"], 2, "10s"),
        (&["--deadline", "0s"], 2, "execution_deadline_ms"),
        (&["--from", "missing.jsonl"], 2, "cannot open missing.jsonl"),
        (&["--from", "-", "--payload", "1"], 2, "cannot be used with"),
        (&["--tag", "customer"], 2, "KEY=VALUE"),
        (&["--tag", "a b=c"], 2, "key: "),
        (&["--policy", r#"{"max_retries":1}"#], 2, "invalid_policy_json"),
        (&["--policy", r#"{"dedup_window_ms":-1}"#], 2, "dedup_window_ms"),
        (&["--timeout", "1s"], 2, "--wait"),
        (&["--idempotency-key", ""], 2, "--idempotency-key"),
    ] {
        let ran = world.run(&[&["submit", "a"], args].concat());
        assert!(ran.stderr.contains(complaint), "{args:?}: {}", ran.stderr);
        ran.refused(code, complaint);
    }
    world.run(&["submit", "a b"]).refused(2, "<KIND>");
    world.run(&["submit"]).refused(2, "<KIND>");
    assert_eq!(world.json(&["list"])["executions"], json!([]));
}

#[test]
fn a_wait_says_what_it_waits_for() {
    let world = World::start();
    let _other = world.worker("other", "cat");
    let waiting = world.spawn(&["submit", "thumbnail", "--payload", "1", "--wait"]);
    waiting.says("no worker takes kind thumbnail; the one of lane default takes other");
    let _worker = world.worker("thumbnail", "cat");
    assert_eq!(waiting.wait().code(), Some(0));
}

#[test]
fn a_payload_that_is_too_large_is_named_with_its_file() {
    let world = World::start();
    std::fs::write(world.folder.path().join("big"), vec![b'1'; 1024 * 1024 + 1]).unwrap();
    world.run(&["submit", "a", "--payload", "@big"]).refused(2, "payload: must be at most 1048576 bytes");
}
