//! `ff cancel`, `ff replay`, `ff revoke`.

use crate::world::World;

#[test]
fn a_cancellation_is_printed_and_can_be_repeated() {
    let world = World::start();
    let id = world.ok(&["submit", "a"]);
    assert_eq!(world.ok(&["cancel", &id, "--reason", "no longer needed"]), format!("{id} is cancelled"));
    assert_eq!(world.ok(&["cancel", &id]), format!("{id} is already cancelled"));
    assert_eq!(world.json(&["cancel", &id])["already"], true);
    assert_eq!(world.json(&["get", &id])["finished_by"]["reason"], "no longer needed");
}

#[test]
fn a_replayed_execution_runs_again() {
    let world = World::start();
    let id = world.ok(&["submit", "a"]);
    world.run(&["replay", &id]).refused(1, "execution_not_terminal");
    world.ok(&["cancel", &id]);
    assert_eq!(world.ok(&["replay", &id, "--reason", "after the repair"]), format!("{id} is waiting again, replay 1"));
    let _worker = world.worker("a", "echo done");
    assert_eq!(world.ok(&["result", &id, "--wait"]), "done");
    assert!(world.ok(&["attempts", &id]).contains("after the repair"));
    assert_eq!(world.json(&["replay", &id])["replays"], 2);
}

#[test]
fn work_taken_from_its_worker_is_done_all_the_same() {
    let world = World::start();
    let id = world.ok(&["submit", "a"]);
    world.run(&["revoke", &id]).refused(1, "no_active_lease");
    let worker = world.worker("a", r#"[ "$FF_ATTEMPT" = 0 ] || exec echo done; echo stuck >&2; sleep 600"#);
    worker.says("stuck");
    assert_eq!(world.ok(&["revoke", &id, "--reason", "the machine goes away"]), format!("lease 1 of {id} was revoked"));
    assert_eq!(world.ok(&["result", &id, "--wait"]), "done");
    let attempts = world.ok(&["attempts", &id]);
    assert!(attempts.contains("reclaim") && attempts.contains("revoked"), "{attempts}");
    assert!(attempts.contains("the machine goes away"), "{attempts}");
    assert!(world.ok(&["get", &id]).contains("the machine goes away"));
    assert_eq!(world.json(&["attempts", &id])["leases"][0]["reason"], "the machine goes away");
}
