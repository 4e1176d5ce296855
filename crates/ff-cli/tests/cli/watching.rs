//! `ff watch`: one execution until it ends, or all lanes and events until a signal.

use rustix::process::Signal;

use crate::world::World;

#[test]
fn an_execution_is_watched_to_its_end() {
    let world = World::start();
    let id = world.ok(&["submit", "a", "--payload", "1"]);
    let watching = world.spawn(&["watch", &id]);
    watching.prints("waiting");
    let _worker = world.worker("a", "cat");
    watching.prints("completed, attempts: 1");
    assert_eq!(watching.wait().code(), Some(0));
    let over = world.ok(&["watch", &id]);
    assert_eq!(over.lines().count(), 1, "what has ended is told once: {over}");
}

#[test]
fn a_watch_ends_as_the_execution_does() {
    let world = World::start();
    let id = world.ok(&["submit", "a", "--delay", "1h"]);
    let watching = world.spawn(&["watch", &id, "--json"]);
    watching.prints("\"public_state\":\"delayed\"");
    world.ok(&["cancel", &id]);
    watching.prints("\"public_state\":\"cancelled\"");
    assert_eq!(watching.wait().code(), Some(4));
    let fails = world.ok(&["submit", "b", "--policy", r#"{"retry_policy":{"max_retries":0}}"#]);
    let _worker = world.worker("b", "echo no luck >&2; exit 1");
    let failed = world.run(&["watch", &fails]);
    assert_eq!(failed.code, Some(3), "{}", failed.stderr);
    assert!(failed.text().contains("failed") && failed.text().contains("no luck"), "{}", failed.text());
    world.run(&["watch", "{fp:1}:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c"]).refused(1, "execution_not_found");
}

#[test]
fn a_screen_of_eighty_columns_holds_a_watch() {
    let world = World::start();
    let id = world.ok(&["submit", "b", "--policy", r#"{"retry_policy":{"max_retries":0}}"#]);
    let _worker = world.worker("b", "echo there was no luck at all with this one, and none is in sight >&2; exit 1");
    let ran = world.on_columns(80, &["watch", &id]);
    let words: Vec<_> = ran.text().split_whitespace().collect();
    assert!(words.join(" ").contains("there was no luck at all with this one, and none is in sight"), "{words:?}");
    assert!(ran.text().contains("\n              "), "what follows is below: {}", ran.text());
}

#[test]
fn a_watch_that_is_cut_short_leaves_the_execution_alone() {
    let world = World::start();
    let id = world.ok(&["submit", "a"]);
    let watching = world.spawn(&["watch", &id]);
    watching.prints("waiting");
    watching.signal(Signal::INT);
    watching.says(&format!("interrupted: {id} continues"));
    assert_eq!(watching.wait().code(), Some(130));
    let late = world.run(&["watch", &id, "--timeout", "10ms"]);
    assert_eq!(late.code, Some(124), "{}", late.stderr);
    assert_eq!(world.json(&["get", &id])["public_state"], "waiting");
}

#[test]
fn watch_prints_lanes_and_events_until_it_is_interrupted() {
    let world = World::start();
    let watching = world.spawn(&["watch"]);
    world.ok(&["submit", "a", "--lane", "mail"]);
    watching.prints("lane mail active: 1 waiting");
    world.ok(&["lanes", "pause", "mail"]);
    watching.prints("lane mail paused: 1 waiting");
    let id = world.ok(&["submit", "b"]);
    let line = watching.prints("submitted");
    assert!(line.contains(" b ") && line.contains(&id), "{line}");
    watching.signal(Signal::INT);
    assert_eq!(watching.wait().code(), Some(0));
    world.run(&["watch", "--timeout", "1s"]).refused(2, "--timeout");
}
