//! `ff bench`: a report of the same form for every scenario and store, and no leftovers of the floor, which is the
//! queue measured for comparison.

use serde_json::Value;

use crate::servers::{Flavour, Process};
use crate::world::{World, run_in};

#[test]
fn a_lifecycle_is_compared_with_its_floor_on_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let report = bench(folder.path(), &["lifecycle", "--store", "sqlite:bench.db", "--count", "200"]);
    assert_eq!((&report["scenario"], &report["store"]), (&"lifecycle".into(), &"sqlite:bench.db".into()));
    compared(&report);
    percentiles(&report, &["submit", "claim", "complete", "submit_to_start"]);
    assert!(report["figures"]["bytes_per_execution"].as_f64().unwrap() > 100.0, "{report}");
    assert!(report["figures"]["steps_per_commit"].as_f64().unwrap() >= 1.0, "{report}");
    positive(&report, &["process_us_per_lifecycle"]);
    assert_eq!((&report["settings"]["job"], &report["settings"]["bulk"]), (&"typical".into(), &false.into()));
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("floor")), "{left:?}");
}

#[test]
fn a_lifecycle_is_compared_with_its_floor_on_a_server() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Process::start(Flavour::Valkey, &[]));
    let report = bench(folder.path(), &["lifecycle", "--store", &server.url(), "--count", "2000"]);
    compared(&report);
    percentiles(&report, &["submit", "claim", "complete", "submit_to_start"]);
    let inner = report["figures"]["inner_calls_per_lifecycle"].as_f64().unwrap();
    assert!(inner > 8.0 && inner <= 28.0, "{report}");
    positive(&report, &["server_us_per_lifecycle", "function_us_per_lifecycle"]);
    assert_eq!(server.ask(&["EVAL", "return #redis.call('KEYS', 'ff:bench*')", "0"]), ":0");
    assert!(!server.ask(&["FUNCTION", "LIST"]).contains("flowfabric_bench"));
    sound(folder.path(), &server.url());
}

#[test]
fn executions_with_a_budget_are_compared_with_executions_without() {
    let folder = tempfile::tempdir().unwrap();
    let report = bench(folder.path(), &["budget", "--store", "sqlite:bench.db", "--count", "100", "--workers", "4"]);
    positive(&report, &["without_budget_per_s", "with_to_without", "report_p50_ms"]);
}

#[test]
fn executions_with_a_quota_are_compared_with_executions_without() {
    let folder = tempfile::tempdir().unwrap();
    let report = bench(
        folder.path(),
        &["quota", "--store", "sqlite:bench.db", "--count", "200", "--keys", "20", "--workers", "4"],
    );
    positive(&report, &["without_quota_per_s", "with_to_without", "last_key_begins_at"]);
}

/// A typical job takes more space than a plain one, and the store is valid after both.
#[test]
fn typical_and_plain_jobs_are_submitted_in_bulk() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Process::start(Flavour::Valkey, &[]));
    let measured = |job: &str| {
        let report = bench(
            folder.path(),
            &["lifecycle", "--store", &server.url(), "--count", "1800", "--bulk", "--job", job, "--workers", "50"],
        );
        compared(&report);
        assert_eq!((&report["settings"]["job"], &report["settings"]["bulk"]), (&job.into(), &true.into()));
        positive(&report, &["submitted_per_s"]);
        report["figures"]["bytes_per_execution"].as_f64().unwrap()
    };
    assert!(measured("typical") > measured("plain"));
    sound(folder.path(), &server.url());
}

#[test]
fn a_store_with_finished_executions_is_compared_with_the_empty_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = "sqlite:bench.db";
    let report = bench(folder.path(), &["lifecycle", "--store", store, "--count", "200", "--kept", "300"]);
    compared(&report);
    assert_eq!(report["settings"]["kept"], 300);
    positive(&report, &["kept_to_empty"]);
}

#[test]
fn a_lifecycle_is_measured_over_http() {
    let (folder, world) = (tempfile::tempdir().unwrap(), World::start());
    for how in [&[][..], &["--bulk"]] {
        let args = [&["lifecycle", "--server", &world.server, "--count", "200"], how].concat();
        let report = bench(folder.path(), &args);
        assert!(report["throughput_per_s"].as_f64().is_some_and(|rate| rate > 0.0), "{report}");
        assert_eq!((&report["store"], &report["floor_per_s"]), (&world.server.as_str().into(), &Value::Null));
        percentiles(&report, &["complete", "submit_to_start"]);
    }
}

#[test]
fn claims_are_compared_by_how_many_wait() {
    let folder = tempfile::tempdir().unwrap();
    let waiting = ["claim", "--store", "memory:", "--waiting", "4000,8000"];
    let report = bench(folder.path(), &waiting);
    percentiles(&report, &["claim_4000", "claim_8000"]);
    positive(&report, &["cost_of_many_over_few"]);
    let backwards = ["bench", "claim", "--store", "memory:", "--waiting", "8000,4000"];
    run_in(folder.path(), &backwards).refused(2, "the fewest first");
}

#[test]
fn a_suspension_is_measured_on_a_file_and_on_a_server() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Process::start(Flavour::Valkey, &[]));
    for store in ["sqlite:bench.db", &server.url()] {
        let report = bench(folder.path(), &["suspend", "--store", store, "--count", "100"]);
        assert_eq!(report["scenario"], "suspend");
        assert!(report["throughput_per_s"].as_f64().is_some_and(|rate| rate > 0.0), "{report}");
        percentiles(&report, &["suspend", "deliver", "claim", "suspend_to_resume"]);
        sound(folder.path(), store);
    }
}

#[test]
fn executions_with_steps_are_compared_with_executions_without() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Process::start(Flavour::Valkey, &[]));
    for store in ["sqlite:bench.db", &server.url()] {
        let report = bench(folder.path(), &["steps", "--store", store, "--count", "50", "--steps", "3"]);
        compared(&report);
        assert_eq!((&report["scenario"], &report["settings"]["steps"]), (&"steps".into(), &3.into()));
        percentiles(&report, &["record_step"]);
        positive(&report, &["lifecycles_per_s", "steps_to_lifecycles"]);
        sound(folder.path(), store);
    }
}

#[test]
fn output_is_measured_on_a_file_and_on_a_server() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Process::start(Flavour::Valkey, &[]));
    for store in ["sqlite:bench.db", &server.url()] {
        let report = bench(folder.path(), &["stream", "--store", store, "--count", "5000", "--readers", "50"]);
        assert_eq!(report["scenario"], "stream");
        assert!(report["throughput_per_s"].as_f64().is_some_and(|rate| rate > 0.0), "{report}");
        let over_a_server = ["frame_to_sse", "frame_to_sse_of_many", "frame_to_last_of_many"];
        percentiles(&report, &[&["append_frames", "frame_to_reader"][..], &over_a_server].concat());
        assert_eq!(report["figures"]["starved_readers"], 0.0, "{report}");
        assert!(report["figures"]["server_mib"].as_f64().is_some_and(|mib| mib > 1.0), "{report}");
        sound(folder.path(), store);
    }
}

#[test]
fn an_idle_engine_asks_a_server_next_to_nothing() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Process::start(Flavour::Valkey, &[]));
    let report = bench(folder.path(), &["idle", "--store", &server.url(), "--for", "2s"]);
    assert!(report["figures"]["client_commands_per_s"].as_f64().unwrap() < 20.0, "{report}");
    assert!(report["figures"]["processor_percent"].as_f64().is_some(), "{report}");
}

#[test]
fn bench_refuses_invalid_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let bench = |args: &[&str]| run_in(folder.path(), &[&["bench", "lifecycle"], args].concat());
    bench(&["--store", "http://127.0.0.1:7070"]).refused(2, "a server, not a store");
    bench(&["--store", "memory:", "--workers", "0"]).refused(2, "must be a whole number from 1 to 1000000000");
    let most = u64::MAX.to_string();
    bench(&["--store", "memory:", "--count", &most]).refused(2, "must be a whole number from 1 to 1000000000");
    bench(&["--store", "memory:", "--payload", &most]).refused(2, "must be a whole number from 0 to 1048576");
    bench(&["--store", "memory:", "--kept", "some"]).refused(2, "must be a whole number from 0 to 1000000000");
    bench(&["--store", "memory:", "--job", "odd"]).refused(2, "typical, plain");
    bench(&["--store", "memory:", "--server", "http://127.0.0.1:1"]).refused(2, "must be one of the two");
    bench(&[]).refused(2, "--store: is missing");
    bench(&["--store", "mysql://x"]).refused(2, "scheme: must be that of sqlite:PATH");
}

/// Runs a benchmark and returns its report. A slow one also says on standard error how far it is.
fn bench(folder: &std::path::Path, args: &[&str]) -> Value {
    let run = run_in(folder, &[&["bench"], args, &["--json"]].concat());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    serde_json::from_str(run.text()).unwrap_or_else(|error| panic!("{error}: {}", run.text()))
}

/// Asserts that the report has the throughput, the floor, their ratio, and the conditions of the measurement.
fn compared(report: &Value) {
    for name in ["throughput_per_s", "floor_per_s", "ratio"] {
        assert!(report[name].as_f64().is_some_and(|figure| figure > 0.0), "{name}: {report}");
    }
    for name in ["server", "durability", "workers", "payload_bytes", "count"] {
        assert!(!report["settings"][name].is_null(), "{name}: {report}");
    }
    assert!(report["machine"]["cores"].as_u64().is_some_and(|cores| cores > 0), "{report}");
}

/// Asserts that a store is valid.
fn sound(folder: &std::path::Path, store: &str) {
    let doctor = run_in(folder, &["doctor", "--store", store]).ok();
    assert!(doctor.ends_with("nothing is wrong"), "{doctor}");
}

fn positive(report: &Value, figures: &[&str]) {
    for name in figures {
        assert!(report["figures"][name].as_f64().is_some_and(|figure| figure > 0.0), "{name}: {report}");
    }
}

fn percentiles(report: &Value, names: &[&str]) {
    for name in names {
        let [p50, p95, p99] = ["p50", "p95", "p99"].map(|which| report["latency_ms"][name][which].as_f64().unwrap());
        assert!(p50 > 0.0 && p50 <= p95 && p95 <= p99, "{name}: {report}");
    }
}
