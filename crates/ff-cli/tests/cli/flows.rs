//! `ff flow`: a flow from a file is submitted, watched, shown, cancelled and replayed.

use serde_json::json;

use crate::world::World;

const ETL: &str = "
kind: etl
nodes:
  orders: {kind: say, payload: two}
  prices: {kind: say, payload: three}
  merge:
    kind: merge
    after:
      - {node: orders, passes: {input: orders}}
      - {node: prices, passes: {input: prices}}
  tell: {kind: say, after: [{node: merge, passes: payload}]}
";

#[test]
fn a_graph_of_programs_finishes_itself_and_hands_on_what_they_made() {
    let world = World::start();
    write(&world, "etl.yaml", ETL);
    let _say = world.worker("say", "cat");
    let _merge =
        world.worker("merge", r#"printf '%s %s %s' "$FF_NODE" $(cat "$FF_INPUTS/orders" "$FF_INPUTS/prices")"#);
    let ended = world.json(&["flow", "submit", "etl.yaml", "--tag", "customer=c-17", "--wait"]);
    assert_eq!((&ended["state"], &ended["counts"]["completed"]), (&json!("completed"), &json!(4)));
    let id = ended["flow_id"].as_str().unwrap();

    let node = member(&world, id, "tell");
    assert_eq!(world.ok(&["result", &node]), r#"merge "two""three""#);
    assert_eq!(world.json(&["get", &node])["flow_id"], id);
    let found = world.json(&["flow", "list", "--state", "completed", "--kind", "etl", "--tag", "customer=c-17"]);
    assert_eq!(found["flows"][0]["flow_id"], id);
    let watched = world.ok(&["flow", "watch", id]);
    assert!(
        watched.starts_with("opened with 4 members and 3 edges") && watched.contains("ended: completed"),
        "{watched}"
    );
}

#[test]
fn a_flow_is_named_by_the_first_digits_of_its_id() {
    let world = World::start();
    write(&world, "etl.yaml", ETL);
    let id = world.ok(&["flow", "submit", "etl.yaml"]);
    let other = world.ok(&["flow", "submit", "etl.yaml"]);
    let shared = id.chars().zip(other.chars()).take_while(|(one, two)| one == two).count();
    let digits = &id[..=shared];
    assert_eq!(world.json(&["flow", "get", digits])["flow_id"], json!(id));
    assert!(world.ok(&["flow", "graph", digits, "--dot"]).starts_with("digraph"));
    world.run(&["flow", "get", &id[..8]]).refused(2, "is not unique; give more digits of");
    world.run(&["flow", "watch", "00000000"]).refused(2, "no flow of the namespace default begins with 00000000");
    world.run(&["flow", "cancel", "0000000"]).refused(2, "first 8 digits");
    world.run(&["flow", "replay", digits, "orders"]).refused(1, "execution_not_terminal");
    assert!(world.ok(&["flow", "cancel", digits]).starts_with(&id));
}

#[test]
fn how_a_flow_stands_is_drawn_as_a_tree() {
    let world = World::start();
    write(&world, "etl.yaml", ETL);
    let id = world.ok(&["flow", "submit", "etl.yaml"]);
    let shown = world.ok(&["flow", "get", &id]);
    for line in [
        "orders   waiting ",
        "prices   waiting ",
        "↓ merge  waiting (upstreams 0 of 2 done)",
        "↓ tell   waiting (upstreams 0 of 1 done)",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert!(shown.contains("all of 2: 0 succeeded, and orders"), "{shown}");
    let dot = world.ok(&["flow", "graph", &id, "--dot"]);
    assert!(dot.starts_with("digraph \"etl\" {") && dot.contains("\"merge\" -> \"tell\" [label=\"payload\""), "{dot}");
}

#[test]
fn a_member_that_waits_for_its_upstreams_says_so() {
    let world = World::start();
    write(&world, "etl.yaml", ETL);
    let id = world.ok(&["flow", "submit", "etl.yaml"]);
    let merge = member(&world, &id, "merge");
    assert!(world.ok(&["get", &merge]).contains("waiting (upstreams)"));
    let listing = world.ok(&["list"]);
    let line = listing.lines().find(|line| line.starts_with(&merge)).unwrap();
    assert!(line.contains("  waiting (upstreams)  merge "), "{listing}");
    assert!(!listing.contains("children"), "{listing}");
}

#[test]
fn a_screen_of_eighty_columns_holds_a_flow() {
    let world = World::start();
    let fan: String = (0..25).map(|nth| format!("  part-{nth}: {{kind: say, after: [source]}}\n")).collect();
    let last = "  a-node-that-has-a-name-of-some-length: {kind: say, after: [part-0, part-1]}\n";
    write(&world, "wide.yaml", &format!("kind: wide\nnodes:\n  source: {{kind: flip}}\n{fan}{last}"));
    let id = world.ok(&["flow", "submit", "wide.yaml"]);
    let source = member(&world, &id, "source");
    let uuid = source.split_once("}:").unwrap().1;
    let get = |columns| world.on_columns(columns, &["flow", "get", &id]).ok();
    let shown = get(80);
    assert!(shown.contains(uuid) && shown.contains("waiting (upstreams 0/2)"), "{shown}");
    assert!(shown.contains(" more ") && shown.contains("--all shows them"), "{shown}");
    assert_eq!(world.on_columns(80, &["flow", "get", &id, "--all"]).ok().matches("part-").count(), 25);
    assert!(get(200).contains(&source), "a wide screen shows whole ids");
    let _flip = world.worker("flip", "echo there was no luck at all with this one, and none is in sight >&2; exit 65");
    world.run(&["flow", "watch", &id, "--quiet"]);
    let shown = get(80);
    assert!(shown.contains("  └ exit_65: exit code 65: there was no luck"), "{shown}");
}

#[test]
fn a_failure_is_a_code_and_a_member_can_be_run_again_with_what_depends_on_it() {
    let world = World::start();
    write(&world, "two.yaml", "{kind: two, nodes: {a: {kind: flip}, b: {kind: flip, after: [a]}}}");
    let flip = world.worker("flip", "exit 65");
    let failed = world.run(&["flow", "submit", "two.yaml", "--wait"]);
    assert_eq!((failed.code, failed.text().contains("1 failed, 1 skipped")), (Some(3), true), "{}", failed.text());
    let id = failed.text().split_whitespace().next().unwrap().to_owned();
    world.run(&["result", &member(&world, &id, "b")]).refused(6, "cannot succeed any more");
    drop(flip);
    let _flip = world.worker("flip", "true");
    world.ok(&["flow", "replay", &id, "a", "--reopen-downstream"]);
    assert_eq!(world.run(&["flow", "watch", &id, "--quiet"]).code, Some(0));
    assert_eq!(world.json(&["flow", "get", &id])["counts"], json!({ "completed": 2 }));
}

#[test]
fn a_flow_that_is_cancelled_ends_with_its_last_member() {
    let world = World::start();
    write(&world, "etl.yaml", ETL);
    let id = world.ok(&["flow", "submit", "etl.yaml"]);
    world.run(&["flow", "watch", &id, "--quiet", "--timeout", "20ms"]).refused(124, &id);
    let ended = world.json(&["flow", "cancel", &id, "--reason", "changed my mind", "--wait"]);
    assert_eq!((&ended["state"], &ended["counts"]["cancelled"]), (&json!("cancelled"), &json!(4)));
    assert!(world.ok(&["flow", "cancel", &id]).contains("already cancelled"));
    assert_eq!(world.run(&["flow", "watch", &id, "--quiet"]).code, Some(4));
    world.run(&["result", &member(&world, &id, "tell")]).refused(4, "its flow was cancelled");
}

#[test]
fn a_wrong_flow_file_is_refused_by_node_or_edge_and_submits_nothing() {
    let world = World::start();
    for (text, wrong) in [
        ("{kind: k, nodes: {a: {kind: x, after: [b]}, b: {kind: x, after: [a]}}}", "cycle_detected: edges.a->b"),
        ("{kind: k, nodes: {a: {kind: x, after: [a]}}}", "self_referencing_edge: edges.a->a"),
        ("{kind: k, nodes: {a: {kind: x, after: [zz]}}}", "edges.zz->a: must name nodes of the flow, names zz"),
        ("{kind: k, nodes: {a: {kind: x, aftr: [zz]}}}", "nodes.a.aftr"),
        (
            "{kind: k, nodes: {a: {kind: x}, b: {kind: x, after: [a, a]}}}",
            "edges.a->b: must be there once, is there twice",
        ),
        (
            "{kind: k, nodes: {a: {kind: x}, b: {kind: x}, c: {kind: x, after: [{node: a, passes: payload}, {node: b, passes: payload}]}}}",
            "edges.b->c",
        ),
        (
            "kind: k\nnodes:\n  a: {kind: x}\n  a: {kind: y}\n",
            "a: is there twice, the second time at line 4, column 3; must be there once",
        ),
        ("{kind: k, nodes: [", "line 1"),
    ] {
        write(&world, "bad.yaml", text);
        world.run(&["flow", "submit", "bad.yaml"]).refused(2, wrong);
    }
    world.run(&["flow", "submit", "missing.yaml"]).refused(2, "cannot open missing.yaml");
    assert_eq!(world.json(&["flow", "list"])["flows"], json!([]));
}

#[test]
fn a_member_shows_why_it_failed_and_how_long_its_last_run_took() {
    let world = World::start();
    write(&world, "one.yaml", "{kind: one, nodes: {a: {kind: flip}, b: {kind: flip, after: [a]}}}");
    let flip = world.worker("flip", "echo no luck >&2; exit 65");
    let id = world.run(&["flow", "submit", "one.yaml", "--wait"]).text().split_whitespace().next().unwrap().to_owned();
    assert!(world.ok(&["flow", "get", &id]).contains("exit_65: exit code 65: no luck"));
    drop(flip);
    world.run(&["flow", "replay", &id, "nope"]).refused(1, "nope");
    world.ok(&["flow", "replay", &id, "a"]);
    let shown = world.ok(&["flow", "get", &id]);
    let line = shown.lines().find(|line| line.starts_with("a ")).unwrap();
    assert_eq!(line.split_whitespace().nth(2), Some("-"), "a run that has not started took no time: {shown}");
}

#[test]
fn a_flow_alone_is_cancelled_and_its_members_are_waited_for() {
    let world = World::start();
    write(&world, "one.yaml", "{kind: one, nodes: {a: {kind: echo}}}");
    let id = world.ok(&["flow", "submit", "one.yaml"]);
    let args = ["flow", "cancel", &id, "--policy", "flow_only", "--wait"];
    world.run(&[&args[..], &["--timeout", "50ms"]].concat()).refused(124, &id);
    let _worker = world.worker("echo", "true");
    assert_eq!(world.json(&args)["counts"], json!({ "completed": 1 }));
}

fn write(world: &World, name: &str, text: &str) {
    std::fs::write(world.folder.path().join(name), text).unwrap();
}

/// Returns the execution id of a node.
fn member(world: &World, flow: &str, node: &str) -> String {
    let flow = world.json(&["flow", "get", flow]);
    let members = flow["graph"]["members"].as_array().unwrap();
    let member = members.iter().find(|member| member["node"] == node).unwrap();
    member["execution_id"].as_str().unwrap().to_owned()
}
