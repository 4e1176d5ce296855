//! `ff worker`: any program as a handler, with its payload, its result, its exit code and its stop.

use std::process::Command;
use std::thread;

use ff_core::api_key::SecretKey;
use ff_core::backend::entropy::SystemEntropy;
use rustix::process::Signal;
use serde_json::json;

use crate::server::serving::get;
use crate::world::{Process, World};

/// A policy of retries without a delay, so that tests need not wait.
const AT_ONCE: &str = r#"{"retry_policy":{"max_retries":2,"backoff":{"type":"fixed","delay_ms":0}}}"#;

#[test]
fn a_program_that_reads_nothing_is_as_good_as_any() {
    let world = World::start();
    let _worker = world.worker("deaf", "true");
    std::fs::write(world.folder.path().join("large"), vec![b'x'; 1024 * 1024]).unwrap();
    let args = ["submit", "deaf", "--payload", "@large", "--content-type", "text/plain", "--wait"];
    let ran = world.run(&args);
    assert_eq!((ran.code, ran.text(), ran.stderr.as_str()), (Some(0), "", ""));
    assert_eq!(world.json(&["submit", "deaf", "--wait"]).get("result"), None);
}

#[test]
fn a_result_is_json_when_it_reads_as_json() {
    let world = World::start();
    let _worker = world.worker("cat", "cat");
    let text = ["submit", "cat", "--payload", "not json", "--content-type", "text/plain", "--wait"];
    assert_eq!(world.json(&text)["content_type"], "application/octet-stream");
    let object = ["submit", "cat", "--payload", r#"{"a":[1]}"#, "--wait"];
    assert_eq!(world.json(&object)["result"], json!({ "a": [1] }));
    let _typed = world.spawn(&["worker", "--kind", "page", "--exec", "cat", "--content-type", "text/html"]);
    assert_eq!(world.json(&["submit", "page", "--payload", "1", "--wait"])["content_type"], "text/html");
}

#[test]
fn a_program_knows_what_it_works_on() {
    let world = World::start();
    let exec = r#"printf '%s %s %s %s %s' "$FF_EXECUTION_ID" "$FF_KIND" "$FF_ATTEMPT" "$FF_LANE" "$FF_NAMESPACE""#;
    let args = ["worker", "--kind", "a", "--kind", "who", "--exec", exec, "--lane", "vip", "--lane", "mail"];
    let _worker = world.spawn(&[&args[..], &["--namespace", "acme", "--name", "clerk", "--concurrency", "2"]].concat());
    let id = world.ok(&["submit", "who", "--lane", "mail", "--namespace", "acme"]);
    assert_eq!(world.ok(&["result", &id, "--wait"]), format!("{id} who 0 mail acme"));
    assert_eq!(world.json(&["attempts", &id])["attempts"][0]["worker_id"], "clerk");
}

#[test]
fn a_program_gets_no_secrets() {
    let world = World::start();
    let mut worker = world.command(&["worker", "--kind", "env", "--exec", "env"]);
    let key = SecretKey::draw(&SystemEntropy).expose();
    worker
        .env("FF_API_KEY", &key)
        .env("FF_TOKEN", "k1:00")
        .env("FF_STORE", "postgres://me:s3cret@db/x")
        .env("OURS", "1");
    let _worker = Process::start(worker);
    let text = world.ok(&["submit", "env", "--wait"]);
    for name in ["FF_API_KEY", "FF_TOKEN", "FF_STORE"] {
        assert!(!text.contains(name), "{name} is in {text}");
    }
    assert!(text.contains("OURS=1") && text.contains("FF_KIND=env") && text.contains("FF_SERVER=http"), "{text}");
}

#[test]
fn a_failure_is_tried_again_unless_the_input_is_wrong() {
    let world = World::start();
    let _worker = world.worker("exit", r#"read code; echo "attempt $FF_ATTEMPT" >&2; exit "$code""#);
    let submit =
        |code: &str| world.run(&["submit", "exit", "--payload", &format!("{code}\n"), "--policy", AT_ONCE, "--wait"]);
    submit("1").refused(3, "exit_1: exit code 1: attempt 2");
    submit("75").refused(3, "exit_75: exit code 75: attempt 2");
    submit("65").refused(3, "exit_65: exit code 65: attempt 0");
    assert_eq!(submit("0").code, Some(0));
    let _killed = world.worker("killed", "kill -KILL $$");
    world.run(&["submit", "killed", "--policy", AT_ONCE, "--wait"]).refused(3, "signal_9: killed by signal 9");
    let _missing = world.worker("missing", "no-such-program-anywhere");
    world.run(&["submit", "missing", "--policy", AT_ONCE, "--wait"]).refused(3, "exit_127");
}

#[test]
fn a_result_is_taken_at_its_limit_and_refused_one_past_it() {
    let world = World::start();
    let _worker = world.worker("zeros", "read count; head -c $count /dev/zero");
    let submit = |count: &str| world.run(&["submit", "zeros", "--payload", &format!("{count}\n"), "--wait"]);
    assert_eq!(submit("1048576").stdout, vec![0; 1024 * 1024]);
    submit("1048577").refused(3, "invalid_result: the command wrote more than the 1048576 bytes");
    submit("999999999").refused(3, "invalid_result");
}

/// The worker runs one program at a time, so the second program runs only if the first was really stopped.
#[test]
fn cancelling_stops_a_running_program_at_once() {
    let world = World::start();
    let worker = world.worker("nap", "read seconds; echo napping >&2; sleep $seconds; echo awake");
    let id = world.ok(&["submit", "nap", "--payload", "600\n"]);
    worker.says("napping");
    world.ok(&["cancel", &id]);
    assert_eq!(world.ok(&["submit", "nap", "--payload", "0\n", "--wait", "--timeout", "5s"]), "awake");
}

#[test]
fn a_cancelled_program_may_tidy_up() {
    let world = World::start();
    let worker = world.worker("tidy", "trap 'echo tidied >&2; exit' TERM; echo started >&2; sleep 600 & wait");
    let id = world.ok(&["submit", "tidy"]);
    worker.says("started");
    world.ok(&["cancel", &id]);
    worker.says("tidied");
    assert_eq!(world.json(&["get", &id])["public_state"], "cancelled");
}

#[test]
fn a_program_that_will_not_stop_is_killed() {
    let world = World::start();
    let worker =
        world.worker("deaf", "read deaf; [ $deaf = 0 ] || { trap '' TERM; echo deaf >&2; sleep 600; }; echo heard");
    let id = world.ok(&["submit", "deaf", "--payload", "1\n"]);
    worker.says("deaf");
    world.ok(&["cancel", &id]);
    // The worker stays busy until it kills the first program, longer than `--wait` waits before it explains the delay.
    let ran = world.run(&["submit", "deaf", "--payload", "0\n", "--wait", "--timeout", "1m"]);
    assert_eq!(ran.text().trim_end(), "heard", "{}", ran.stderr);
}

#[test]
fn a_stopping_worker_finishes_its_running_job() {
    let world = World::start();
    let gate = world.folder.path().join("gate");
    assert!(Command::new("mkfifo").arg(&gate).status().unwrap().success());
    let worker = world.worker("gated", "echo started >&2; cat gate");
    let id = world.ok(&["submit", "gated"]);
    worker.says("started");
    let stopping = thread::spawn(move || worker.stop());
    std::fs::write(&gate, "through").unwrap();
    assert_eq!(world.ok(&["result", &id, "--wait"]), "through");
    assert!(stopping.join().unwrap().success());
    assert_eq!(world.json(&["attempts", &id])["attempts"].as_array().unwrap().len(), 1);
}

#[test]
fn a_worker_logs_every_job_in_two_lines() {
    let world = World::start();
    let worker = world.worker("job", "read code; exit $code");
    let done = world.ok(&["submit", "job", "--payload", "0\n"]);
    worker.says(&format!("running job {done}"));
    worker.says(&format!("done job {done} after "));
    let failed = world.ok(&["submit", "job", "--payload", "65\n"]);
    let line = worker.says(&format!("failed job {failed} after "));
    assert!(line.contains("exit_65"), "{line}");
}

#[test]
fn a_stopping_worker_logs_its_jobs_and_a_second_interrupt_stops_them() {
    let world = World::start();
    let args = ["worker", "--kind", "nap", "--exec", "echo napping >&2; sleep 600", "--concurrency", "2"];
    let worker = world.spawn(&args);
    let ids: Vec<_> = (0..2).map(|_| world.ok(&["submit", "nap"])).collect();
    for _ in &ids {
        worker.says("napping");
    }
    worker.signal(Signal::INT);
    worker.says("stopping: waiting for 2 running jobs; Ctrl-C again stops them now");
    worker.signal(Signal::INT);
    for _ in &ids {
        worker.says("stopped nap ");
    }
    assert_eq!(worker.wait().code(), Some(130));
}

#[test]
fn a_worker_with_invalid_arguments_is_refused_at_once() {
    let world = World::start();
    let exec = ["worker", "--kind", "a", "--exec", "cat"];
    world.run(&["worker", "--exec", "cat"]).refused(2, "--kind");
    world.run(&["worker", "--kind", "a"]).refused(2, "--exec");
    world.run(&[&exec[..], &["--lease-ttl", "0s"]].concat()).refused(2, "must be from 1s to 1h");
    world.run(&[&exec[..], &["--concurrency", "0"]].concat()).refused(2, "must be from 1 to 1000");
    world.run(&[&exec[..], &["--lane", "a b"]].concat()).refused(2, "--lane");
    world.run(&[&exec[..], &["--server", "http://127.0.0.1:1"]].concat()).refused(1, "http://127.0.0.1:1");
}

#[test]
fn a_program_puts_out_its_lines_while_it_runs() {
    let world = World::start();
    let exec = r#"echo one; echo two; read -r wait < go; echo '{"three":3}'"#;
    let fifo = world.folder.path().join("go");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let _worker = world.spawn(&["worker", "--kind", "talk", "--exec", exec, "--stream"]);
    let id = world.ok(&["submit", "talk"]);
    let mut tail = world.command(&["tail", &id]);
    let mut tail = tail.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut reader = std::io::BufReader::new(tail.stdout.take().unwrap());
    let mut line = || {
        let mut line = String::new();
        std::io::BufRead::read_line(&mut reader, &mut line).unwrap();
        line
    };
    assert_eq!([line(), line()], ["one\n", "two\n"], "before it has ended");
    std::fs::write(&fifo, "\n").unwrap();
    assert_eq!([line(), line()], ["{\"three\":3}\n", ""]);
    assert!(tail.wait().unwrap().success());
    assert_eq!(world.json(&["result", &id])["result"], json!({ "three": 3 }));
}

#[test]
fn a_program_that_streams_may_write_its_result_to_a_file() {
    let world = World::start();
    let exec = r#"echo working; echo '{"done":true}' > "$FF_RESULT"; echo finished"#;
    let _worker = world.spawn(&["worker", "--kind", "talk", "--exec", exec, "--stream"]);
    let id = world.ok(&["submit", "talk"]);
    assert_eq!(world.json(&["result", &id, "--wait"])["result"], json!({ "done": true }));
    assert_eq!(world.ok(&["tail", &id]), "working\nfinished");
}

#[test]
fn output_of_an_attempt_that_died_is_marked() {
    let world = World::start();
    let exec = r#"echo "attempt $FF_ATTEMPT"; test "$FF_ATTEMPT" = 1"#;
    let _worker = world.spawn(&["worker", "--kind", "talk", "--exec", exec, "--stream"]);
    let id = world.ok(&["submit", "talk", "--policy", AT_ONCE]);
    world.ok(&["result", &id, "--wait"]);
    let ran = world.run(&["tail", &id]);
    assert_eq!((ran.code, ran.text()), (Some(0), "attempt 0\nattempt 1\n"));
    assert!(ran.stderr.contains("attempt 0 was superseded by attempt 1"), "{}", ran.stderr);
    assert_eq!(world.ok(&["tail", &id, "--attempt", "1"]), "attempt 1");
    let items = world.run(&["tail", &id, "--json"]);
    let items: Vec<serde_json::Value> = items.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = items.iter().map(|item| item["item"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["frame", "closed", "superseded", "frame", "closed"]);
}

#[test]
fn a_token_reads_the_output_of_one_execution() {
    let world = World::start();
    let _worker = world.spawn(&["worker", "--kind", "talk", "--exec", "echo one", "--stream"]);
    let id = world.ok(&["submit", "talk"]);
    world.ok(&["result", &id, "--wait"]);
    let made = world.run(&["stream-token", &id]);
    assert_eq!((made.code, made.text().lines().count()), (Some(0), 1), "nothing but the token is on standard output");
    assert!(made.stderr.contains("for 1h"), "{}", made.stderr);
    let address = world.server.strip_prefix("http://").unwrap();
    let path =
        |token: &str| format!("/v1/executions/{}/stream?token={token}", id.replace('{', "%7B").replace('}', "%7D"));
    let read = |token: &str| get(address, &path(token));
    assert!(read(made.text().trim()).contains("one"));
    let made = world.json(&["stream-token", &id, "--expires", "5m"]);
    assert!(made["expires_at"].is_u64() && read(made["token"].as_str().unwrap()).contains("one"));
    let refused = read("k1:1:00");
    assert!(refused.contains("403 Forbidden") && refused.contains("invalid_token"), "{refused}");
    world.run(&["stream-token", &id, "--expires", "25h"]).refused(2, "must be from 1ms to 1d");
}
