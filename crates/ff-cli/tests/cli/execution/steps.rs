//! `ff steps`, `ff replay --from`, `ff fork`.

use ff_core::contracts::{FailArgs, NextArgs, RecordStepArgs};
use ff_core::execution::Failure;
use ff_core::lease::Holder;
use ff_core::payload::Payload;
use ff_core::step::{StepOutcome, StepRef};
use ff_core::types::{StepKey, StepName};
use tokio::runtime::Runtime;

use crate::world::World;

/// Returns an execution whose worker has recorded steps and then failed permanently.
fn recorded(world: &World, steps: &[(&str, &str)]) -> String {
    let id = world.ok(&["submit", "a"]);
    Runtime::new().unwrap().block_on(async {
        let ff = ff_sdk::connect(&world.server).await.unwrap();
        let holder = Holder::parse("w", "w-1").unwrap();
        let held = ff.long_poll().next(NextArgs::new(holder)).await.unwrap().remove(0).task;
        let (execution_id, fence) = (held.execution_id, held.fence);
        for (name, key) in steps {
            let (name, key) = (StepName::parse(name).unwrap(), StepKey::parse(key).unwrap());
            let result = Payload::json(format!(r#"{{"of":"{name}"}}"#));
            let (step, outcome) = (StepRef { key, ..StepRef::new(name) }, StepOutcome::Succeeded { result });
            let args = RecordStepArgs { execution_id, fence, step, started_at: None, outcome };
            ff.backend().record_step(args).await.unwrap();
        }
        let failure = Failure { category: "error".parse().unwrap(), message: "gone".into(), permanent: true };
        ff.backend().fail(FailArgs { execution_id, fence, failure }).await.unwrap();
    });
    id
}

fn names(world: &World, id: &str) -> Vec<String> {
    let steps = world.json(&["steps", id]);
    steps["steps"].as_array().unwrap().iter().map(|step| step["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn steps_are_shown_and_replays_and_forks_begin_among_them() {
    let world = World::start();
    let id = recorded(&world, &[("charge the card", ""), ("item", "1"), ("item#2", ""), ("send mail", "")]);
    let table = world.ok(&["steps", &id]);
    assert!(table.contains("charge the card") && table.contains(r#"{"of":"send mail"}"#), "{table}");
    let forked = world.json(&["fork", &id, "--before", "item#1"]);
    assert_eq!(forked["steps"], 1);
    assert_eq!(names(&world, forked["execution_id"].as_str().unwrap()), ["charge the card"]);
    world.run(&["fork", &id, "--before", "item#3"]).refused(2, "before_step");
    world.run(&["replay", &id, "--from", "nothing"]).refused(2, "from_step");
    world.run(&["replay", &id, "--from", ""]).refused(2, "--from");
    world.ok(&["replay", &id, "--from", "item#2", "--key", ""]);
    assert_eq!(names(&world, &id), ["charge the card", "item"]);
}
