//! `--wait`: prints only the result; any other outcome has its own exit code.

use rustix::process::Signal;
use serde_json::json;

use crate::world::World;

#[test]
fn the_result_comes_out_byte_for_byte() {
    let world = World::start();
    let _worker = world.worker("bytes", r"printf 'a\0b\377'");
    let ran = world.run(&["submit", "bytes", "--wait"]);
    assert_eq!((ran.code, ran.stdout.as_slice(), ran.stderr.as_str()), (Some(0), b"a\0b\xff".as_slice(), ""));
    let end = world.json(&["submit", "bytes", "--wait"]);
    assert_eq!(end["outcome"], "success");
    assert_eq!((&end["result_base64"], &end["content_type"]), (&json!("YQBi/w=="), &json!("application/octet-stream")));
}

#[test]
fn a_result_can_be_had_again() {
    let world = World::start();
    let _worker = world.worker("count", "wc -c");
    let id = world.ok(&["submit", "count", "--payload", "12345"]);
    assert_eq!(world.ok(&["result", &id, "--wait", "--timeout", "1m"]), "5");
    assert_eq!(world.ok(&["result", &id]), "5");
    assert_eq!(world.json(&["result", &id])["result"], 5);
}

#[test]
fn an_execution_that_has_not_ended_has_no_result() {
    let world = World::start();
    let id = world.ok(&["submit", "nobody.does.this"]);
    world.run(&["result", &id]).refused(1, "execution_not_terminal");
    world.run(&["result", &id, "--wait", "--timeout", "20ms"]).refused(124, &id);
    world.run(&["submit", "nobody.does.this", "--wait", "--timeout", "20ms"]).refused(124, "continues");
}

#[test]
fn every_other_end_has_its_code() {
    let world = World::start();
    let _worker = world.worker("bad", "echo no such picture >&2; exit 65");
    world.run(&["submit", "bad", "--wait"]).refused(3, "failed: exit_65: exit code 65: no such picture");
    let failed = world.run(&["submit", "bad", "--wait", "--json"]);
    assert_eq!(failed.code, Some(3));
    let end: serde_json::Value = serde_json::from_str(failed.text()).unwrap();
    assert_eq!((&end["outcome"], &end["failure"]["category"]), (&json!("failed"), &json!("exit_65")));

    let id = world.ok(&["submit", "nobody.does.this"]);
    world.ok(&["cancel", &id, "--reason", "changed my mind"]);
    world.run(&["result", &id]).refused(4, "was cancelled: changed my mind");

    let deadline = r#"{"timeout_policy":{"execution_deadline_ms":20}}"#;
    world.run(&["submit", "nobody.does.this", "--policy", deadline, "--wait"]).refused(5, "deadline passed");
}

#[test]
fn an_interrupted_caller_learns_that_the_execution_continues() {
    let world = World::start();
    let waiting = world.spawn(&["submit", "slow", "--wait", "-v"]);
    waiting.says("waiting for the end");
    waiting.signal(Signal::INT);
    let line = waiting.says("interrupted: ");
    let id = line.split_whitespace().nth(1).unwrap();
    assert!(line.contains("continues"), "{line}");
    assert_eq!(waiting.wait().code(), Some(130));
    assert_eq!(world.json(&["get", id])["public_state"], "waiting");
}
