//! The log as text and as JSON: every line about an execution has its id.

use serde_json::Value;

use crate::world::World;

fn object(line: &str) -> Value {
    let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    for field in ["time", "level", "target", "message"] {
        assert!(line[field].is_string(), "there is no {field} in {line}");
    }
    line
}

#[test]
fn a_workers_line_for_programs_says_which_execution_which_lane_and_which_worker() {
    let world = World::start();
    let id = world.ok(&["submit", "slow", "--lane", "mail"]);
    let work = ["worker", "--kind", "slow", "--lane", "mail", "--exec", "sleep 600", "--log-format", "json", "-vv"];
    let worker = world.spawn(&work);
    let began = object(&worker.says("at work"));
    world.ok(&["revoke", &id]);
    let lost = object(&worker.says("\"execution\""));
    for line in [&began, &lost] {
        assert_eq!((&line["execution"], &line["lane"]), (&Value::from(id.as_str()), &Value::from("mail")), "{line}");
        assert!(line["worker"].is_string(), "{line}");
    }
}

#[test]
fn a_servers_json_log_line_names_the_requested_execution() {
    let world = World::with(&["--log-format", "json", "-v"]);
    let id = world.ok(&["submit", "never"]);
    world.ok(&["cancel", &id]);
    let audit = object(&world.dev.says("/v1/executions/{id}/cancel"));
    assert_eq!((&audit["target"], &audit["level"]), (&Value::from("ff_server::audit"), &Value::from("INFO")));
    let answered = object(&world.dev.says("/v1/executions/{id}/cancel"));
    assert_eq!((&answered["execution"], &answered["status"]), (&Value::from(id.as_str()), &Value::from(200)));
    assert_eq!((&answered["method"], &answered["level"]), (&Value::from("POST"), &Value::from("DEBUG")));
}

#[test]
fn a_line_for_people_says_the_same() {
    let world = World::with(&["-v"]);
    let id = world.ok(&["submit", "never"]);
    world.ok(&["cancel", &id]);
    let answered = world.dev.says("/v1/executions/{id}/cancel");
    assert!(answered.contains(&format!("execution={id}")), "{answered}");
}
