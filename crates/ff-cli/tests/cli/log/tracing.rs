//! Traces: given by an option or the environment, shown, and passed to a program.

use crate::world::{CommandRun, World};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

#[test]
fn a_program_gets_the_trace_of_the_submission() {
    let world = World::start();
    let _worker = world.worker("who", r#"printf '%s|%s' "$TRACEPARENT" "$TRACESTATE""#);
    let submit = ["submit", "who", "--wait", "--traceparent", PARENT, "--tracestate", "rojo=1"];
    assert_eq!(world.ok(&submit), format!("{PARENT}|rojo=1"));
    assert_eq!(world.ok(&["submit", "who", "--wait"]), "|", "no trace is no trace, whatever the worker is in");
    let mut within = world.command(&["submit", "who", "--wait"]);
    within.env("TRACEPARENT", PARENT);
    assert_eq!(CommandRun::of(within).ok(), format!("{PARENT}|"));
    let mut unreadable = world.command(&["submit", "who", "--wait"]);
    unreadable.env("TRACEPARENT", "nonsense");
    assert_eq!(CommandRun::of(unreadable).ok(), "|");
}

#[test]
fn a_trace_is_shown_and_one_that_is_none_is_refused() {
    let world = World::start();
    let id = world.ok(&["submit", "who", "--traceparent", PARENT]);
    assert_eq!(world.json(&["get", &id])["trace"]["traceparent"], PARENT);
    let shown = world.ok(&["get", &id]);
    assert!(shown.lines().any(|line| line.starts_with("trace") && line.ends_with(TRACE)), "{shown}");
    world.run(&["submit", "who", "--traceparent", "nonsense"]).refused(2, "traceparent");
    let bad_state = ["submit", "who", "--traceparent", PARENT, "--tracestate", "no list"];
    world.run(&bad_state).refused(2, "tracestate");
    let alone = world.run(&["submit", "who", "--tracestate", "rojo=1"]);
    assert_eq!(alone.code, Some(2), "{}", alone.stderr);
    std::fs::write(world.folder.path().join("flow.yaml"), "kind: f\nnodes:\n  a: {kind: who}\n").unwrap();
    let flow = world.ok(&["flow", "submit", "flow.yaml", "--traceparent", PARENT]);
    assert_eq!(world.json(&["flow", "get", &flow])["trace"]["traceparent"], PARENT);
}
