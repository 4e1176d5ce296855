//! Compares the Valkey keyspace in docs/keyspace.md with the keys that a server wrote.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;

use ff_conformance::worlds::servers::{Flavour, Process};
use ff_conformance::{Scope, check, worlds};

const PAGE: &str = include_str!("../../../../docs/keyspace.md");

/// Promises that together write every key.
const PROMISES: &[&str] = &[
    "admission::blocking::a_lane_says_how_much_of_it_is_blocked_and_why",
    "admission::singleton::queued_work_runs_one_after_the_other_in_order",
    "admission::routing::work_no_live_worker_can_run_is_blocked_until_one_registers",
    "event::following::a_new_reader_receives_no_earlier_events",
    "event::telling::the_end_of_a_member_names_its_flow",
    "event::telling::promotions_and_lease_expiries_have_events",
    "execution::deadlines::waiting_work_expires_at_its_deadline",
    "execution::repeating::a_key_belongs_to_its_namespace",
    "execution::adjusting::a_finished_execution_can_be_tagged",
    "execution::deadlines::an_attempt_that_runs_too_long_is_retried",
    "flow::cancelling::cancel_all_cancels_every_member_wherever_it_stands",
    "flow::cancelling::let_active_finish_lets_attempts_end_and_nothing_else_start",
    "flow::cancelling::no_member_starts_after_the_acknowledgement_however_many_ask",
    "flow::cancelling::nothing_of_a_large_cancelled_flow_starts_before_it_was_come_to",
    "flow::growing::a_key_belongs_to_its_flow",
    "flow::growing::a_ready_member_receives_the_result_of_a_completed_new_upstream",
    "flow::large::a_quorum_cancels_two_thousand_siblings_across_a_dead_engine",
    "flow::listing::flows_are_listed_by_kind_tag_and_tenant",
    "api_key::creating::a_key_is_found_as_it_was_created",
    "budget::admitting::an_execution_blocked_by_a_budget_shows_the_reason",
    "budget::recovering::a_report_that_broke_off_is_finished",
    "quota::limiting::every_policy_must_admit",
    "quota::rating::each_value_of_a_key_has_its_own_window",
    "schedule::ticking::a_tick_starts_at_its_time_and_says_what_it_started",
    "lane::fairness::a_key_that_runs_dry_and_refills_gains_nothing",
    "lane::fairness::a_worker_sees_only_keys_it_can_serve",
    "lane::pausing::a_paused_lane_takes_work_and_hands_out_none",
    "lease::assigning::assigned_work_goes_to_the_worker_that_is_meant",
    "signal::delivering::a_signal_reads_back_as_it_was_sent",
    "signal::repeating::a_duplicate_counts_once",
    "stream::modes::a_summary_is_the_document_and_then_its_patches",
    "step::recording::a_recorded_step_is_not_recorded_again",
    "suspension::ahead::an_early_signal_is_kept_and_satisfies",
    "suspension::conditions::all_of_needs_every_member",
    "suspension::repeating::suspending_twice_with_one_idempotency_key_is_one_suspension",
    "suspension::timing_out::work_whose_wait_times_out_may_fail",
    "worker::registering::registering_again_renews_what_is_known",
    "worker::listing::a_worker_is_listed_as_it_said_it_is",
];

/// A row of the page.
struct Row {
    template: &'static str,
    is_written: bool,
}

/// All promises run on one server, whose append-only file has every key that was ever written.
#[test]
fn every_key_that_is_not_reserved_is_written() {
    let server = Process::start(Flavour::Valkey, &["--auto-aof-rewrite-percentage", "0"]);
    for name in PROMISES {
        check(Scope::All, name, async || worlds::on_valkey(&server).await);
    }
    let written = keys_written(&server);
    let differ = rows().filter(|row| row.is_written != written.iter().any(|key| fits(row.template, key)));
    let differ: Vec<_> = differ.map(|row| (row.template, row.is_written)).collect();
    assert_eq!(differ, [], "keys with whether they are shown as written");
}

/// Returns the rows of the page that show a key.
fn rows() -> impl Iterator<Item = Row> {
    let mut is_live = true;
    PAGE.lines().filter_map(move |line| {
        if let Some(heading) = line.strip_prefix("## ") {
            is_live = !heading.contains("not written");
        }
        let (_, rest) = line.strip_prefix("| `")?.split_once("` | `ff:")?;
        let (template, kind) = rest.split_once("` | ")?;
        Some(Row { template, is_written: is_live && !kind.starts_with("none") })
    })
}

/// Returns every key that a command in the append-only file writes, without the prefix `ff:`. Ignores commands that delete, which
/// may name keys that never existed.
fn keys_written(server: &Process) -> BTreeSet<String> {
    server.ask(&["SET", "ff:test:last", "1"]);
    let mut keys = BTreeSet::new();
    for file in fs::read_dir(server.folder().join("appendonlydir")).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        let mut lines =
            bytes.split(|byte| *byte == b'\n').map(|line| str::from_utf8(line).unwrap_or_default().trim_end());
        let mut deletes = false;
        while let Some(line) = lines.next() {
            let words = line.strip_prefix('*').filter(|words| words.parse::<usize>().is_ok());
            if words.is_some() {
                deletes = lines.nth(1).is_some_and(|command| ["DEL", "UNLINK"].contains(&command));
            } else if let Some(key) = line.strip_prefix("ff:").filter(|_| !deletes) {
                keys.insert(key.to_owned());
            }
        }
    }
    assert!(keys.remove("test:last"), "the file has what was written last");
    keys
}

/// Returns whether a key matches a template.
fn fits(template: &str, key: &str) -> bool {
    let Some((before, rest)) = template.split_once('<') else { return template == key };
    let (name, template) = rest.split_once('>').unwrap();
    let Some(key) = key.strip_prefix(before) else { return false };
    length(name, key).is_some_and(|length| length > 0 && fits(template, &key[length..]))
}

/// Returns the number of bytes of a key that fill a placeholder in angle brackets.
fn length(name: &str, key: &str) -> Option<usize> {
    const UUID: usize = 36;
    match name {
        "tag" | "hash_tag" => key.starts_with('{').then(|| key.find('}').map(|at| at + 1))?,
        "eid" | "upstream_eid" | "downstream_eid" => {
            let length = length("tag", key)? + 1 + UUID;
            (key.len() >= length).then_some(length)
        }
        "fid" | "bid" | "qid" | "wp_id" | "sig_id" | "edge_id" => {
            let is_uuid =
                key.len() >= UUID && key.as_bytes()[..UUID].iter().all(|byte| b"0123456789abcdef-".contains(byte));
            is_uuid.then_some(UUID)
        }
        "index" => Some(key.bytes().take_while(u8::is_ascii_digit).count()),
        "idempotency_key" | "idem_key" | "dedup_id" | "queue" | "value" | "wp_key" | "mutation_id" => Some(key.len()),
        _ => Some(key.find([':', ' ']).unwrap_or(key.len())),
    }
}
