//! `ff list` with filters, `ff tag`, `ff priority`, `ff deadline`, many at once, `ff lanes`, `ff workers`, `ff events`.

use serde_json::{Value, json};

use crate::world::{CommandRun, World, ids};

#[test]
fn a_listing_is_narrowed_by_kind_tag_and_time() {
    let world = World::start();
    let blue = world.ok(&["submit", "a", "--tag", "team=blue"]);
    let other = world.ok(&["submit", "b"]);
    let listed = |args: &[&str]| ids(&world.json(&[&["list"], args].concat()));
    assert_eq!(listed(&["--kind", "b"]), [other.as_str()]);
    assert_eq!(listed(&["--tag", "team=blue"]), [blue.as_str()]);
    assert_eq!(listed(&["--since", "1h"]).len(), 2);
    assert_eq!(listed(&["--until", "1h"]).len(), 0);
    world.run(&["list", "--since", "yesterday"]).refused(2, "--since");
}

#[test]
fn tags_and_priorities_are_changed_later() {
    let world = World::start();
    let id = world.ok(&["submit", "a", "--tag", "draft=yes"]);
    assert_eq!(world.ok(&["tag", &id, "team=blue", "region=eu", "--remove", "draft"]), "region=eu\nteam=blue");
    assert_eq!(ids(&world.json(&["list", "--tag", "region=eu"])), [id.as_str()]);
    assert_eq!(world.ok(&["priority", &id, "50"]), format!("{id} has priority 50; it had 0"));
    world.ok(&["cancel", &id]);
    world.run(&["priority", &id, "1"]).refused(1, "execution_not_eligible");
}

#[test]
fn a_deadline_is_moved_and_set() {
    let world = World::start();
    let policy = r#"{"timeout_policy": {"execution_deadline_ms": 7300000}}"#;
    let bounded = world.ok(&["submit", "a", "--policy", policy]);
    let moved = world.ok(&["deadline", &bounded, "1d"]);
    assert_eq!(moved, format!("the deadline of {bounded} is in 1d; it was in 2h"));
    let unbounded = world.ok(&["submit", "a"]);
    let set = world.json(&["deadline", &unbounded, "9999999999999"]);
    assert_eq!(set, json!({"deadline_at": 9_999_999_999_999_u64}));
    assert_eq!(world.json(&["get", &unbounded])["deadline_at"], set["deadline_at"]);
    assert!(world.ok(&["deadline", &unbounded, "5m"]).contains("is in 5m; it was in"));
    world.run(&["deadline", &unbounded, "1000"]).refused(2, "deadline_at");
    world.run(&["deadline", &unbounded, "soon"]).refused(2, "or milliseconds since 1970");
    world.ok(&["cancel", &unbounded]);
    world.run(&["deadline", &unbounded, "1h"]).refused(1, "execution_not_eligible");
}

#[test]
fn many_are_cancelled_and_run_again_and_a_dry_run_does_neither() {
    let world = World::start();
    for kind in ["a", "a", "b"] {
        world.ok(&["submit", kind]);
    }
    assert_eq!(world.ok(&["cancel", "--filter", "kind=a", "--dry-run"]), "2 would be cancelled");
    assert_eq!(world.ok(&["cancel", "--filter", "kind=a", "--reason", "too late"]), "2 cancelled");
    let cancelled = world.json(&["list", "--state", "cancelled"]);
    assert_eq!(cancelled["executions"][0]["finished_by"]["reason"], "too late");
    let report = world.json(&["replay", "--filter", "state=cancelled", "--filter", "since=1h"]);
    assert_eq!(report, json!({"dry_run": false, "done": 2, "refused": []}));
    assert_eq!(ids(&world.json(&["list", "--state", "waiting"])).len(), 3);
    world.run(&["cancel", "--filter", "all"]).refused(2, "confirm it with --yes");
    assert_eq!(world.ok(&["cancel", "--filter", "all", "--dry-run"]), "3 would be cancelled");
    assert_eq!(world.ok(&["cancel", "--filter", "all", "--yes"]), "3 cancelled");
    world.run(&["cancel", "--filter", "colour=red"]).refused(2, "tag.KEY=");
    world.run(&["cancel"]).refused(2, "required");
}

#[test]
fn a_terminal_user_must_confirm_before_everything_is_cancelled() {
    let world = World::start();
    let id = world.ok(&["submit", "a"]);
    let answered = |answer: &[u8]| CommandRun::fed(world.on_a_terminal(&["cancel", "--filter", "all"]), answer);
    for answer in [&b"no\n"[..], b"\n", b""] {
        let declined = answered(answer);
        let text = declined.text();
        assert_eq!(declined.code, Some(1), "{text}");
        assert!(text.contains("cancel every execution of namespace default?"), "{text}");
        assert!(text.contains("nothing was cancelled"), "{text}");
        assert_eq!(world.json(&["get", &id])["public_state"], "waiting");
    }
    let confirmed = answered(b"yes\n").ok();
    assert!(confirmed.contains("1 cancelled"), "{confirmed}");
    assert_eq!(world.json(&["get", &id])["public_state"], "cancelled");
}

#[test]
fn a_lane_is_limited_held_and_released() {
    let world = World::start();
    world.ok(&["submit", "a", "--lane", "mail"]);
    assert!(world.ok(&["lanes", "pause", "mail"]).contains("paused"));
    let set = ["lanes", "set", "mail", "--concurrency", "3", "--ageing", "1m", "--retention", "1d"];
    let settings = world.json(&set)["settings"].clone();
    assert_eq!(settings, json!({"state": "paused", "concurrency": 3, "ageing_ms": 60_000, "retention_ms": 86_400_000}));
    world.ok(&["lanes", "drain", "mail"]);
    world.run(&["submit", "a", "--lane", "mail"]).refused(1, "not_runnable");
    let resumed = world.json(&["lanes", "resume", "mail"]);
    assert_eq!(resumed["settings"]["state"], "active");
    let listing = world.ok(&["lanes", "list"]);
    let line = listing.lines().find(|line| line.starts_with("mail")).unwrap();
    assert!(line.contains("active") && line.contains("1m") && line.contains("1d"), "{listing}");
    assert_eq!(world.json(&["lanes", "list"])["lanes"][0]["depths"]["waiting"]["count"], 1);
    assert_eq!(world.json(&["lanes", "set", "mail", "--concurrency", "none"])["settings"]["concurrency"], Value::Null);
    world.run(&["lanes", "set", "mail"]).refused(2, "--concurrency");
}

#[test]
fn a_lane_is_made_fair_and_its_keys_are_weighed() {
    let world = World::start();
    let set = ["lanes", "set", "mail", "--fair-by", "tag:customer", "--weight", "acme=3", "--weight", "a=b=2"];
    let settings = world.json(&set)["settings"].clone();
    assert_eq!(settings, json!({"state": "active", "fair_by": "tag:customer", "weights": {"a=b": 2, "acme": 3}}));
    assert!(world.ok(&["lanes", "list"]).contains("tag:customer"));
    world.ok(&["submit", "a", "--lane", "mail", "--tag", "customer=acme"]);
    let listed = world.json(&["list", "--lane", "mail"]);
    assert_eq!(listed["executions"][0]["fair_key"], "acme", "{listed}");
    let changed = world.json(&["lanes", "set", "mail", "--weight", "acme="])["settings"].clone();
    assert_eq!(changed["weights"], json!({"a=b": 2}));
    world.run(&["lanes", "set", "mail", "--weight", "acme=0"]).refused(2, "weights.acme");
    world.run(&["lanes", "set", "mail", "--weight", "acme"]).refused(2, "KEY=N");
    world.run(&["lanes", "set", "mail", "--weight", "acme=many"]).refused(2, "whole number");
    world.run(&["lanes", "set", "mail", "--fair-by", "tenant"]).refused(2, "must be kind, namespace or tag:<name>");
    world.run(&["lanes", "set", "mail", "--fair-by", "tag:a b"]).refused(2, "tag:a b");
    world.run(&["lanes", "set", "other", "--weight", "acme=2"]).refused(2, "the lane has no fair_by");
    let plain = world.json(&["lanes", "set", "mail", "--fair-by", "none"])["settings"].clone();
    assert_eq!(plain, json!({"state": "active"}));
}

#[test]
fn a_quota_is_set_shown_and_deleted() {
    let world = World::start();
    let set = ["quotas", "set", "customers", "--scope", "lane:mail", "--per", "tag:customer", "--max-concurrent", "1"];
    let policy = world.json(&set);
    assert_eq!((&policy["scope"], &policy["per"]), (&json!("lane:mail"), &json!("tag:customer")));
    for _ in 0..2 {
        world.ok(&["submit", "a", "--lane", "mail", "--tag", "customer=acme"]);
    }
    let listing = world.ok(&["quotas", "list"]);
    assert!(listing.contains("customers") && listing.contains("tag:customer"), "{listing}");
    let rate = world.json(&["quotas", "set", "api", "--rate", "100/1m"]);
    assert_eq!(rate["rate"], json!({"limit": 100, "window_ms": 60_000}));
    assert_eq!(world.json(&["quotas", "list"])["quotas"].as_array().unwrap().len(), 2);
    assert_eq!(world.json(&["quotas", "show", "customers"])["keys"], json!([]));
    world.run(&["quotas", "set", "bad"]).refused(2, "rate");
    world.run(&["quotas", "set", "bad", "--rate", "0/1m"]).refused(2, "rate.limit");
    world.run(&["quotas", "set", "bad", "--rate", "5"]).refused(2, "100/1m");
    world.run(&["quotas", "set", "bad", "--scope", "queue:x", "--max-concurrent", "1"]).refused(2, "lane:<lane>");
    world.run(&["quotas", "show", "nothing"]).refused(1, "quota_policy_not_found");
    assert_eq!(world.json(&["quotas", "delete", "api"]), json!({}));
    assert_eq!(world.json(&["quotas", "delete", "api"]), json!({"already": true}));
}

#[test]
fn a_listing_says_whose_lanes_and_workers_it_is_about() {
    let world = World::start();
    for (command, none) in [(&["lanes", "list"][..], "no lane"), (&["workers"], "no worker")] {
        let nothing = world.run(command);
        assert_eq!((nothing.code, nothing.text()), (Some(0), ""));
        assert!(nothing.stderr.starts_with(&format!("{none} of namespace default")), "{}", nothing.stderr);
    }
    world.ok(&["submit", "a", "--lane", "mail", "--namespace", "acme"]);
    assert_eq!(world.json(&["lanes", "list"])["lanes"], json!([]));
    let everybodys = world.ok(&["lanes", "list", "--all-namespaces"]);
    let line = everybodys.lines().find(|line| line.contains("mail")).unwrap();
    assert!(everybodys.starts_with("NAMESPACE") && line.starts_with("acme"), "{everybodys}");
    assert_eq!(world.json(&["lanes", "list", "--all-namespaces"])["lanes"][0]["namespace"], "acme");
}

#[test]
fn a_worker_is_listed_until_it_stops() {
    let world = World::start();
    let worker = world.worker("a", "cat");
    let id = world.ok(&["submit", "a", "--payload", "1"]);
    world.ok(&["result", &id, "--wait"]);
    let mut polls = (0..100).map(|_| world.json(&["workers"]));
    let workers = polls.find(|listed| listed["workers"] != json!([])).unwrap();
    assert_eq!(workers["workers"][0]["worker_id"], "ff-worker");
    assert_eq!(workers["workers"][0]["kinds"], json!(["a"]));
    assert!(worker.stop().success());
    assert_eq!(world.json(&["workers"])["workers"], json!([]));
}

#[test]
fn work_with_requirements_is_run_by_a_worker_that_meets_them() {
    let world = World::start();
    let plain = world.worker("a", "cat");
    let id = world.ok(&["submit", "a", "--payload", "1", "--require", "gpu", "--require", "region=eu"]);
    let policy = &world.json(&["get", &id])["policy"];
    assert_eq!(policy["routing_requirements"]["required_capabilities"], json!(["gpu", "region=eu"]));
    let other = world.ok(&["submit", "a", "--payload", "2"]);
    world.ok(&["result", &other, "--wait"]);
    assert_eq!(world.json(&["get", &id])["public_state"], "waiting");
    let able = &["worker", "--kind", "a", "--exec", "cat", "--capability", "region=eu", "--capability", "gpu"];
    let able = world.spawn(able);
    assert_eq!(world.ok(&["result", &id, "--wait"]), "1");
    assert!(plain.stop().success() && able.stop().success());
    let refused = world.run(&["submit", "a", "--require", "a,b"]);
    assert!(refused.stderr.contains("comma"), "{}", refused.stderr);
}

#[test]
fn events_are_shown_from_a_cursor_on() {
    let world = World::start();
    let begun = world.run(&["events"]);
    assert_eq!((begun.code, begun.text()), (Some(0), ""));
    assert!(begun.stderr.contains("from now on: follow them with --follow"), "{}", begun.stderr);
    let cursor = begun.stderr.trim().split_once("to continue from here: --after ").unwrap().1.to_owned();
    let id = world.ok(&["submit", "a"]);
    let events = world.run(&["events", "--after", &cursor]);
    assert_eq!(events.text().lines().count(), 1, "{}", events.text());
    assert!(events.text().contains("submitted") && events.text().contains(&id), "{}", events.text());
    let following = world.spawn(&["events", "--follow", "--after", &cursor]);
    following.prints("submitted");
    world.ok(&["cancel", &id]);
    following.prints("finished: cancelled");
}
