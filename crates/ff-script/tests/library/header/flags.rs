//! The flags of functions: which of them run on a full server, and which only read.

use std::collections::BTreeSet;

use ff_script::signature::SIGNATURES;

/// Functions that end, renew, stop or tidy up: on a full server running work must be able to go on and to end.
const ON_A_FULL_SERVER: &[&str] = &[
    "ff_ack_cancel_member",
    "ff_apply_dependency_to_child",
    "ff_cancel_execution",
    "ff_cancel_flow",
    "ff_cascade_completion",
    "ff_close_flow",
    "ff_close_waitpoint",
    "ff_complete_execution",
    "ff_complete_executions",
    "ff_delay_execution",
    "ff_drain_sibling_cancel_group",
    "ff_expire_execution",
    "ff_expire_suspension",
    "ff_fail_execution",
    "ff_heartbeat_worker",
    "ff_hold_execution",
    "ff_leave_worker",
    "ff_mark_lease_expired_if_due",
    "ff_move_to_waiting_children",
    "ff_promote_blocked_to_eligible",
    "ff_promote_delayed",
    "ff_pump",
    "ff_reconcile_sibling_cancel_group",
    "ff_record_spend",
    "ff_release_admission",
    "ff_release_budget",
    "ff_report_usage_and_check",
    "ff_reset_budget",
    "ff_settle_usage",
    "ff_release_hold",
    "ff_renew_lease",
    "ff_resolve_dependency",
    "ff_resume_execution",
    "ff_revoke_claim_grant",
    "ff_revoke_lease",
    "ff_suspend_execution",
    "ff_sweep",
    "ff_sweep_worker",
    "ff_unblock_execution",
    "ff_unblock_executions",
    "ff_update_progress",
];

/// Functions that only read.
const READING: &[&str] = &[
    "ff_count_lanes",
    "ff_list_queue",
    "ff_evaluate_flow_eligibility",
    "ff_list_executions",
    "ff_list_flows",
    "ff_list_steps",
    "ff_list_waitpoint_hmac_kids",
    "ff_now",
    "ff_open_waitpoint",
    "ff_read_attempt_stream",
    "ff_read_budget",
    "ff_read_deliveries",
    "ff_read_execution",
    "ff_read_feed",
    "ff_read_flow",
    "ff_read_flow_edges",
    "ff_read_flow_events",
    "ff_read_flow_keys",
    "ff_read_flow_members",
    "ff_read_inputs",
    "ff_read_lanes",
    "ff_read_quota",
    "ff_read_signals",
    "ff_read_summary",
    "ff_read_waitpoint_hmac_secrets",
    "ff_read_waitpoints",
    "ff_version",
];

/// Every other function adds data, which a full server refuses.
#[test]
fn every_function_has_the_flags_of_what_it_does() {
    let flagged = |flags: &[&str]| -> BTreeSet<_> {
        SIGNATURES.iter().filter(|signature| signature.flags == flags).map(|signature| signature.name).collect()
    };
    let set = |names: &[&'static str]| names.iter().copied().collect::<BTreeSet<_>>();
    assert_eq!(flagged(&["allow-oom"]), set(ON_A_FULL_SERVER));
    assert_eq!(flagged(&["no-writes"]), set(READING));
    let without = flagged(&[]);
    assert_eq!(ON_A_FULL_SERVER.len() + READING.len() + without.len(), SIGNATURES.len());
    // Reading events also records that they are followed.
    let reads = |name: &&str| name.starts_with("ff_read_") || name.starts_with("ff_list_");
    assert_eq!(without.iter().copied().filter(reads).collect::<Vec<_>>(), ["ff_read_events"]);
}
