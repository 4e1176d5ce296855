//! Functions that other programs call by name: published signatures do not change.

use ff_script::signature::{SIGNATURES, Signature};

/// The published functions of the existing domains, word for word: function, keys, arguments.
const SPELLED: &[(&str, &str, &str)] = &[
    (
        "ff_suspend_execution",
        "exec_core, attempt_record, lease_current, lease_history, lease_expiry, worker_leases, suspension_current, \
         waitpoint, waitpoint_signals, suspension_timeout, pending_waitpoint_expiry, lane_active, lane_suspended, \
         waitpoints, waitpoint_condition, attempt_timeout, waitpoint_hmac_secrets",
        "execution_id, attempt_index, attempt_id, lease_id, lease_epoch, suspension_id, waitpoint_id, waitpoint_key, \
         reason_code, requested_by, timeout_at, resume_condition_json, resume_policy_json, \
         continuation_metadata_pointer, use_pending_waitpoint, timeout_behavior, lease_history_maxlen",
    ),
    (
        "ff_resume_execution",
        "exec_core, suspension_current, waitpoint, waitpoint_signals, suspension_timeout, lane_eligible, lane_delayed, \
         lane_suspended",
        "execution_id, trigger_type, resume_delay_ms",
    ),
    (
        "ff_create_pending_waitpoint",
        "exec_core, waitpoint, pending_waitpoint_expiry",
        "execution_id, attempt_index, waitpoint_id, waitpoint_key, expires_at",
    ),
    (
        "ff_expire_suspension",
        "exec_core, suspension_current, waitpoint, waitpoint_condition, attempt_hash, stream_meta, suspension_timeout, \
         lane_suspended, lane_terminal, lane_eligible, lane_delayed, lease_history",
        "execution_id",
    ),
    ("ff_close_waitpoint", "exec_core, waitpoint, pending_waitpoint_expiry", "waitpoint_id, reason"),
    ("ff_rotate_waitpoint_hmac_secret", "waitpoint_hmac_secrets", "new_kid, new_secret_hex, grace_ms"),
    ("ff_list_waitpoint_hmac_kids", "waitpoint_hmac_secrets", ""),
    (
        "ff_resolve_dependency",
        "exec_core, deps_meta, deps_unresolved, dep_edge, lane_eligible, lane_terminal, lane_blocked_dependencies, \
         attempt_hash, stream_meta, payload, upstream_result, edgegroup, incoming, pending_cancel_groups",
        "edge_id, upstream_outcome, now_ms, flow_id, downstream_execution_id",
    ),
];

/// The arguments that were added to them later, in the order of publication.
const APPENDED: &[(&str, &str)] = &[
    ("ff_suspend_execution", "waitpoint_token, timeout_in_ms, idempotency_key, dedup_ttl_ms, further"),
    ("ff_create_pending_waitpoint", "expires_in_ms, lease_id, lease_epoch, attempt_id, waitpoint_token"),
];

/// The published functions, with the numbers of their published keys and arguments. Later ones are ours.
const PUBLISHED: &str = include_str!("../../../../ff-core/tests/fixtures/functions.tsv");

/// Functions whose names are published; their arguments are ours.
const NAMED: &[&str] = &[
    "ff_create_execution",
    "ff_claim_execution",
    "ff_complete_execution",
    "ff_fail_execution",
    "ff_cancel_execution",
    "ff_delay_execution",
    "ff_expire_execution",
    "ff_replay_execution",
    "ff_renew_lease",
    "ff_mark_lease_expired_if_due",
    "ff_revoke_lease",
    "ff_update_progress",
    "ff_promote_delayed",
    "ff_deliver_signal",
    "ff_buffer_signal_for_pending_waitpoint",
    "ff_claim_resumed_execution",
    "ff_issue_claim_grant",
    "ff_issue_reclaim_grant",
    "ff_issue_grant_and_claim",
    "ff_reclaim_execution",
    "ff_create_flow",
    "ff_add_execution_to_flow",
    "ff_stage_dependency_edge",
    "ff_apply_dependency_to_child",
    "ff_set_edge_group_policy",
    "ff_evaluate_flow_eligibility",
    "ff_promote_blocked_to_eligible",
    "ff_cancel_flow",
    "ff_ack_cancel_member",
    "ff_drain_sibling_cancel_group",
    "ff_reconcile_sibling_cancel_group",
    "ff_set_flow_tags",
    "ff_move_to_waiting_children",
    "ff_append_frame",
    "ff_read_attempt_stream",
    "ff_read_summary",
    "ff_create_budget",
    "ff_report_usage_and_check",
    "ff_record_spend",
    "ff_release_budget",
    "ff_reset_budget",
    "ff_create_quota_policy",
    "ff_check_admission_and_record",
    "ff_release_admission",
    "ff_block_execution_for_admission",
    "ff_unblock_execution",
    "ff_version",
];

#[test]
fn every_published_function_exists_under_its_name() {
    for name in NAMED {
        assert!(SIGNATURES.iter().any(|signature| signature.name == *name), "{name} is missing");
    }
}

/// A published function may take more than was published, but its first keys and arguments are the published ones.
#[test]
fn published_functions_take_what_was_published_first() {
    let rows = published();
    assert_eq!(rows.len(), 8);
    for row in rows {
        for signature in SIGNATURES.iter().filter(|signature| signature.name == row.name) {
            assert_eq!(row.missing(signature), None);
        }
    }
}

#[test]
fn published_functions_spell_what_they_take_as_it_was_published_and_ask_for_no_more() {
    let words = |text: &'static str| text.split(", ").filter(|word| !word.is_empty()).collect::<Vec<_>>();
    for (name, keys, args) in SPELLED {
        let row = published().into_iter().find(|row| row.name == *name).unwrap();
        let signature = SIGNATURES.iter().find(|signature| signature.name == *name).unwrap();
        let (keys, args) = (words(keys), words(args));
        assert_eq!((keys.len(), args.len()), (row.keys, row.args), "{name}");
        assert_eq!((signature.keys_required, signature.args_required), (row.keys, row.args), "{name}");
        assert_eq!((&signature.keys[..row.keys], &signature.args[..row.args]), (&keys[..], &args[..]), "{name}");
        let appended = APPENDED.iter().find(|(of, _)| of == name).map_or(vec![], |(_, more)| words(more));
        assert!(signature.args[row.args..].starts_with(&appended), "{name}");
    }
}

#[test]
fn a_function_that_takes_less_than_was_published_is_found() {
    let row = Row { name: "ff_close_waitpoint", keys: 3, args: 2 };
    let taking = |keys, args| Signature {
        name: row.name,
        domain: "suspension",
        keys,
        args,
        keys_required: 0,
        args_required: 0,
        answers: &[],
        refusals: &[],
        flags: &[],
    };
    assert_eq!(row.missing(&taking(&["a", "b", "c"], &["d", "e"])), None);
    assert_eq!(row.missing(&taking(&["a", "b", "c", "ours"], &["d", "e", "ours"])), None);
    assert!(row.missing(&taking(&["a", "b"], &["d", "e"])).is_some());
    assert!(row.missing(&taking(&["a", "b", "c"], &["d"])).is_some());
}

struct Row {
    name: &'static str,
    keys: usize,
    args: usize,
}

impl Row {
    fn missing(&self, signature: &Signature) -> Option<String> {
        let (keys, args) = (signature.keys.len(), signature.args.len());
        (keys < self.keys || args < self.args)
            .then(|| format!("{} takes {keys} keys and {args} arguments, {} and {}", self.name, self.keys, self.args))
    }
}

fn published() -> Vec<Row> {
    let rows = PUBLISHED.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &'static str| {
        let [name, keys, args] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line:?} is not a row") };
        Row { name, keys: keys.parse().unwrap(), args: args.parse().unwrap() }
    };
    rows.map(row).collect()
}
