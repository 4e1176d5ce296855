//! `ff get`, `ff list`, `ff attempts`: tables for people, one JSON document for programs.

use serde_json::{Value, json};

use crate::world::{CommandRun, World, ids};

#[test]
fn a_listing_shows_ids_whole_and_newest_first() {
    let world = World::start();
    let ids: Vec<_> = ["one", "two", "three"].iter().map(|kind| world.ok(&["submit", kind])).collect();
    let listing = world.ok(&["list"]);
    let lines: Vec<_> = listing.lines().collect();
    assert_eq!(lines.len(), 4, "{listing}");
    assert!(lines[0].contains("ID") && lines[0].contains("STATE"), "{listing}");
    for (line, id) in lines[1..].iter().zip(ids.iter().rev()) {
        assert_eq!(line.split_whitespace().next(), Some(id.as_str()), "{listing}");
        let is_recent = line.contains("just now") || line.contains("s ago");
        assert!(line.contains("waiting") && is_recent, "{line}");
    }
}

#[test]
fn a_listing_is_narrowed_by_state_lane_and_tenant() {
    let world = World::start();
    let here = world.ok(&["submit", "a", "--lane", "mail"]);
    let later = world.ok(&["submit", "a", "--delay", "1h"]);
    let theirs = world.ok(&["submit", "a", "--namespace", "acme"]);
    let ids = |args: &[&str]| ids(&world.json(&[&["list"], args].concat()));
    assert_eq!(ids(&["--lane", "mail"]), [here.as_str()]);
    assert_eq!(ids(&["--state", "delayed"]), [later.as_str()]);
    assert_eq!(ids(&["--namespace", "acme"]), [theirs.as_str()]);
    assert_eq!(ids(&["--state", "completed"]), [""; 0]);
    world.run(&["list", "--state", "done"]).refused(2, "must be one of waiting, delayed");
}

#[test]
fn a_listing_continues_from_its_cursor() {
    let world = World::start();
    for _ in 0..5 {
        world.ok(&["submit", "a"]);
    }
    let all = world.json(&["list", "--all"]);
    assert_eq!((ids(&all).len(), &all["next_cursor"]), (5, &Value::Null));
    let mut paged = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut args = vec!["list", "--limit", "2"];
        args.extend(cursor.iter().flat_map(|cursor| ["--cursor", cursor.as_str()]));
        let page = world.json(&args);
        paged.extend(ids(&page));
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(paged, ids(&all));
    let first = world.run(&["list", "--limit", "2"]);
    assert_eq!((first.code, first.text().lines().count()), (Some(0), 3));
    assert!(first.stderr.contains("more: --cursor "), "{}", first.stderr);
    world.run(&["list", "--limit", "0"]).refused(2, "limit");
    world.run(&["list", "--cursor", "made-up"]).refused(2, "--cursor");
    world.run(&["list", "--all", "--limit", "2"]).refused(2, "cannot be used with");
}

#[test]
fn every_try_is_shown_with_how_it_ended() {
    let world = World::start();
    let _worker = world.worker("flaky", r#"[ "$FF_ATTEMPT" -ge 1 ] || { echo no answer >&2; exit 75; }; echo '"ok"'"#);
    let soon = r#"{"retry_policy":{"backoff":{"type":"fixed","delay_ms":1}}}"#;
    let id = world.ok(&["submit", "flaky", "--policy", soon]);
    assert_eq!(world.ok(&["result", &id, "--wait"]), r#""ok""#);

    let attempts = world.json(&["attempts", &id]);
    assert_eq!(attempts["attempts"][0]["end"]["failure"]["category"], "exit_75");
    assert_eq!(attempts["attempts"][1]["type"], "retry");
    let shown = world.ok(&["attempts", &id]);
    for text in ["initial", "failure", "exit_75: exit code 75: no answer", "retry", "success", "ff-worker-"] {
        assert!(shown.contains(text), "{text:?} is not in\n{shown}");
    }
    let shown = world.ok(&["get", &id]);
    assert!(shown.contains("completed") && shown.contains("2 (1 retried)"), "{shown}");
}

#[test]
fn an_id_that_names_nothing_is_refused() {
    let world = World::start();
    let unknown = "{fp:1}:00000000-0000-7000-8000-000000000000";
    for verb in ["get", "result", "attempts", "cancel", "replay", "revoke"] {
        world.run(&[verb, unknown]).refused(1, "execution_not_found");
        let refused = world.run(&[verb, unknown, "--json"]);
        let error: Value = serde_json::from_str(&refused.stderr).unwrap();
        assert_eq!((refused.code, &error["code"]), (Some(1), &json!("execution_not_found")), "{error}");
        world.run(&[verb, "17"]).refused(2, "must begin with a partition tag");
    }
    world.run(&["get", unknown, "--payload"]).refused(1, "execution_not_found");
    world.run(&["result", unknown, "--wait"]).refused(1, "error: execution_not_found");
}

#[test]
fn the_uuid_alone_is_enough_wherever_an_execution_lives() {
    let world = World::start();
    let placed = world.ok(&["submit", "a"]);
    let keyed = world.ok(&["submit", "a", "--idempotency-key", "order-17"]);
    for id in [&placed, &keyed] {
        let uuid = id.split_once("}:").unwrap().1;
        assert_eq!(world.json(&["get", uuid])["execution_id"], id.as_str());
        assert_eq!(world.ok(&["cancel", uuid, "--reason", "too late"]), format!("{id} is cancelled"));
        assert!(world.ok(&["get", uuid]).contains("too late"));
    }
    world.run(&["get", "00000000-0000-7000-8000-000000000000"]).refused(1, "execution_not_found");
}

#[test]
fn with_json_every_output_and_error_is_json() {
    let world = World::start();
    let run = |args: &[&str], code: i32| {
        let ran = world.run(&[args, &["--json"]].concat());
        assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.stderr);
        let stdout = serde_json::from_str(ran.text()).unwrap_or(Value::Null);
        (stdout, serde_json::from_str::<Value>(&ran.stderr).unwrap_or_else(|error| panic!("{error}: {}", ran.stderr)))
    };
    let (output, error) = run(&["submit", "a", "--wait", "--timeout", "50ms"], 124);
    assert_eq!((&error["code"], &error["execution_id"]), (&json!("timed_out"), &output["execution_id"]));
    assert!(output["execution_id"].is_string());
    for args in [&["list", "--stat"][..], &["list", "--limit", "0"], &["submit", "a", "--payload", "@missing"]] {
        assert!(run(args, 2).1["error"].is_string(), "{args:?}");
    }
    assert!(run(&["events"], 0).1["next_cursor"].is_string());
    assert!(run(&["list", "--server", "http://127.0.0.1:1"], 1).1["error"].is_string());
}

#[test]
fn a_screen_of_eighty_columns_holds_a_listing() {
    let world = World::start();
    let policy = r#"{"retry_policy":{"max_retries":0}}"#;
    let id = world.ok(&["submit", "a-kind-with-a-rather-long-name", "--policy", policy, "--lane", "mail"]);
    let work = ["--kind", "a-kind-with-a-rather-long-name", "--exec", "echo no luck >&2; exit 1"];
    let _worker = world.spawn(&[&["worker", "--lane", "mail"], &work[..]].concat());
    world.run(&["result", &id, "--wait"]);
    world.ok(&["submit", "a"]);
    for (columns, has_lane) in [(80, false), (200, true)] {
        let listing = world.on_columns(columns, &["list"]).ok();
        assert!(listing.contains(&id) && listing.contains("exit_1: exit code 1: no luck"), "{listing}");
        assert_eq!(listing.contains("LANE"), has_lane, "{listing}");
    }
    assert!(world.ok(&["list", "--state", "failed"]).contains("exit_1: exit code 1: no luck"), "also in a pipe");
}

#[test]
fn states_have_colours_for_people_who_want_them() {
    let world = World::start();
    world.ok(&["submit", "a"]);
    assert!(!world.ok(&["list"]).contains('\u{1b}'));
    assert!(!world.ok(&["list", "--color", "never"]).contains('\u{1b}'));
    assert!(world.ok(&["list", "--color", "always"]).contains('\u{1b}'));
    let coloured = |args: &[&str], no_color: &str| {
        let mut command = world.on_a_terminal(args);
        command.env("NO_COLOR", no_color);
        CommandRun::of(command).ok().contains("\u{1b}[")
    };
    assert!(coloured(&["list"], ""), "an empty NO_COLOR says nothing");
    assert!(!coloured(&["list"], "1"));
    assert!(coloured(&["list", "--color", "always"], "1"), "an option wins");
    assert!(!coloured(&["list", "--color", "never"], ""));
}

/// A reader may close the pipe early; that is no error.
#[test]
fn a_closed_pipe_is_a_quiet_end() {
    let world = World::start();
    world.ok(&["submit", "a"]);
    for args in [&["list"][..], &["list", "--json"], &["list", "--all"]] {
        let mut child = world.command(args).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()), "{args:?}");
    }
}

#[test]
fn a_message_cannot_steer_the_terminal() {
    let world = World::start();
    let _worker = world.worker("rude", r"printf '\033[2Jgone' >&2; exit 65");
    let id = world.ok(&["submit", "rude"]);
    let ran = world.run(&["result", &id, "--wait"]);
    assert!(ran.stderr.contains(r"\u{1b}[2Jgone") && !ran.stderr.contains('\x1b'), "{:?}", ran.stderr);
    assert!(world.ok(&["get", &id]).contains(r"\u{1b}[2Jgone"));
    assert_eq!(world.json(&["get", &id])["failure"]["message"], json!("exit code 65: \u{1b}[2Jgone"));
}

/// Results, messages and names come from other users, and a terminal obeys control characters.
#[test]
fn a_terminal_is_shown_nothing_it_would_obey() {
    let world = World::start();
    let _worker = world.worker("echo", "cat");
    let payload = "\u{1b}[2Jwiped \u{202e}drawkcab\n";
    let submit = ["submit", "echo", "--payload", payload, "--content-type", "text/plain", "--tag", "who=a\u{202e}b"];
    let id = world.ok(&submit);
    let piped = world.run(&["result", &id, "--wait"]);
    assert_eq!((piped.code, piped.text()), (Some(0), payload), "a program gets the bytes");
    for args in [&["result"][..], &["get"], &["get", "--payload"], &["get", "--json"]] {
        let shown = CommandRun::of(world.on_a_terminal(&[&args[..1], &[id.as_str()], &args[1..]].concat())).ok();
        assert!(shown.contains("wiped") || shown.contains("who"), "{args:?} shows {shown:?}");
        let obeyed = shown.chars().find(|shown| matches!(shown, '\u{1b}' | '\u{202e}' | '\u{9b}'));
        assert_eq!(obeyed, None, "{args:?} shows {shown:?}");
    }
}
