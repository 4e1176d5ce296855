//! What is promised about flows.

pub(crate) mod cancelling;
pub(crate) mod children;
pub(crate) mod ending;
pub(crate) mod events;
pub(crate) mod growing;
pub(crate) mod joining;
pub(crate) mod large;
pub(crate) mod listing;
pub(crate) mod passing;
pub(crate) mod reading;
pub(crate) mod refusing;
pub(crate) mod replaying;
pub(crate) mod siblings;
pub(crate) mod skipping;
pub(crate) mod submitting;
pub(crate) mod tracing;

/// What is promised here, by theme.
#[doc(hidden)]
#[macro_export]
macro_rules! flow_promises {
    ($for:ident => $($make:tt)+) => { $($make)+! { $for:
        flow {
            cancelling {
                cancel_all_cancels_every_member_wherever_it_stands,
                holders_in_a_cancelled_flow_are_told,
                cancel_pending_lets_go_on_what_has_started,
                let_active_finish_lets_attempts_end_and_nothing_else_start,
                flow_only_stops_growth_and_nothing_else,
                a_cancellation_keeps_its_reason,
                cancelling_twice_is_cancelling_once,
                whoever_wants_all_cancelled_gets_it_after_all,
                a_flow_that_has_ended_or_never_was_cannot_be_cancelled,
                a_flow_that_is_held_open_ends_by_being_cancelled,
                nothing_of_a_large_cancelled_flow_starts_before_it_was_come_to,
                a_large_flow_can_be_cancelled_before_it_is_opened,
                no_member_starts_after_the_acknowledgement_however_many_ask,
            }
            children {
                a_parent_goes_on_when_its_children_have_ended,
                who_let_go_cannot_go_on_with_it,
                children_hand_their_results_to_their_parent,
                a_parent_goes_on_when_a_child_fails,
                who_need_not_wait_keeps_its_lease,
                a_parent_may_wait_again_and_again,
                a_parent_may_need_one_child_of_many,
                each_round_of_children_may_pass_the_payload_once,
                children_may_depend_on_each_other_and_have_children,
                a_parent_may_have_waited_for_upstreams_before,
                only_its_holder_adds_children_to_running_work,
                a_holder_adds_no_children_to_what_another_holds,
                a_cycle_through_a_parent_is_refused,
                who_has_no_children_does_not_wait,
                letting_go_twice_is_letting_go_once,
                a_parent_that_dies_is_waited_for_by_the_next_one,
                a_lease_given_up_for_children_is_in_the_history,
                a_parent_that_waits_can_be_cancelled_and_expires,
                a_parent_that_waits_is_cancelled_with_its_flow,
                a_waiting_worker_gets_the_parent_when_its_child_ends,
            }
            ending {
                success_releases,
                failure_is_told,
                the_last_retry_is_told_and_none_before_it,
                a_cancellation_is_told,
                a_deadline_is_told,
                a_deadline_of_a_member_that_waits_for_others_is_told,
                an_attempt_timeout_is_told,
                a_suspension_timeout_is_told,
                a_reclaim_too_many_is_told,
                a_skip_is_told,
                a_suspended_member_holds_its_dependents_until_it_ends,
                nothing_is_left_to_be_told_after_an_end,
                a_holder_that_is_revoked_has_ended_nothing,
            }
            events {
                every_change_is_told_once_in_order,
                events_are_read_in_pages_of_any_size,
                a_skip_cascade_is_told_member_by_member,
                who_waits_for_a_flow_hears_how_it_ended,
                every_end_of_a_flow_is_heard,
                a_wait_for_the_end_of_a_flow_runs_out,
                who_follows_a_flow_is_told_as_it_happens,
                who_follows_a_flow_to_its_end_misses_nothing,
                a_waiting_worker_gets_what_a_completion_releases,
                a_waiting_worker_gets_what_is_submitted_in_a_flow_and_added_to_it,
            }
            growing {
                a_flow_that_is_held_open_ends_when_it_is_closed,
                a_flow_closed_in_time_ends_with_its_last_member,
                a_flow_that_never_had_a_member_may_be_closed,
                a_flow_is_created_once,
                an_edge_onto_what_has_succeeded_is_settled_at_once,
                an_edge_onto_what_has_ended_otherwise_skips_at_once,
                an_edge_that_comes_while_its_upstream_ends_is_not_lost,
                what_waits_for_a_worker_waits_for_its_new_upstream_instead,
                what_is_delayed_keeps_its_delay_beside_its_new_upstream,
                what_was_delayed_only_until_its_upstream_ended_starts_at_once,
                what_was_ready_waits_for_one_upstream_more,
                what_is_ready_is_handed_what_a_new_upstream_had_produced,
                what_has_started_takes_no_more_edges,
                new_members_join_as_they_say,
                a_join_is_fixed_with_its_first_edge,
                what_is_wrong_with_a_change_is_named_and_nothing_is_written,
                a_member_of_another_flow_is_answered_as_one_that_does_not_exist,
                a_change_to_a_graph_that_has_changed_meanwhile_is_refused,
                a_change_under_a_key_is_made_once,
                a_key_belongs_to_its_flow,
                a_flow_that_has_ended_takes_no_more,
                one_change_adds_so_many_of_each_and_no_more,
            }
            joining {
                all_of_needs_every_upstream,
                any_of_needs_one_upstream,
                a_quorum_needs_so_many,
                what_comes_after_a_join_has_fired_only_counts,
                a_join_is_impossible_as_soon_as_the_numbers_say_so,
                any_of_is_impossible_when_all_have_failed,
                an_upstream_that_was_skipped_is_told_from_one_that_failed,
                an_upstream_counts_once_however_often_it_says_so,
                of_upstreams_that_end_at_once_one_makes_the_join_fire,
            }
            large {
                a_thousand_run_side_by_side_and_are_waited_for,
                a_quorum_cancels_two_thousand_siblings_across_a_dead_engine,
                a_flow_may_have_ten_thousand_nodes,
                a_submission_given_up_half_way_leaves_nothing_to_be_seen,
                a_submission_given_up_half_way_may_be_repeated,
            }
            listing {
                flows_are_listed_newest_first_a_page_at_a_time,
                flows_are_listed_by_their_state,
                flows_are_listed_by_kind_label_and_tenant,
                labels_add_up_and_replace_each_other,
                a_flow_takes_thirty_two_labels_in_all,
                a_listing_asks_for_one_to_a_thousand,
            }
            passing {
                a_result_may_take_the_place_of_the_payload,
                a_result_may_be_an_input_beside_the_payload,
                inputs_come_by_their_names,
                an_edge_passes_nothing_unless_it_says_so,
                an_upstream_without_a_result_passes_nothing_on,
                an_empty_result_is_a_result,
                one_result_goes_to_all_who_ask_for_it,
                what_comes_too_late_for_the_join_is_not_passed_on,
                only_success_passes_something_on,
                a_second_try_is_handed_the_same_again,
                what_was_passed_on_is_passed_on_in_turn,
                inputs_come_up_to_four_mebibytes_and_the_rest_is_named,
                a_claim_stops_at_four_mebibytes_of_what_was_passed_on,
            }
            reading {
                a_flow_is_what_was_submitted,
                members_are_read_in_order_a_page_at_a_time,
                a_member_shows_what_went_wrong,
                edges_are_read_a_page_at_a_time,
                the_numbers_of_a_flow_are_exact_at_every_step,
                what_waits_for_others_says_so,
                a_flow_that_is_not_there_is_not_found,
                whose_a_flow_is_follows_from_its_id,
                a_page_has_one_to_a_thousand_rows,
            }
            refusing {
                a_cycle_is_refused_by_one_of_its_edges,
                an_edge_from_a_node_to_itself_is_refused,
                an_edge_to_a_node_that_is_not_there_is_refused,
                the_same_edge_twice_is_refused,
                the_same_node_twice_is_refused,
                a_flow_without_nodes_is_refused,
                a_join_that_asks_for_more_than_there_is_is_refused,
                two_inputs_of_one_name_are_refused,
                two_edges_that_pass_the_payload_into_one_node_are_refused,
                a_second_payload_into_a_node_is_refused_in_a_later_change_and_by_id,
                a_node_over_a_limit_is_refused_by_its_name,
                a_flow_has_at_most_ten_thousand_nodes,
                a_flow_has_at_most_fifty_thousand_edges,
                the_payloads_of_a_flow_have_at_most_sixteen_mebibytes,
                a_flow_may_have_thirty_two_tags,
                what_was_refused_can_be_handed_in_once_it_is_right,
            }
            replaying {
                a_member_may_run_again_alone,
                what_depends_on_it_may_run_again_after_it,
                what_was_skipped_runs_after_its_upstream_succeeded_at_last,
                what_was_skipped_may_be_replayed_once_its_join_can_be_met,
                a_skipped_quorum_child_is_replayed_by_what_its_upstreams_have_come_to,
                a_quorum_that_was_met_is_met_again_at_once,
                what_has_not_finished_is_left_alone,
                a_replay_that_fails_skips_what_was_opened_for_it,
                what_was_passed_on_is_passed_on_anew,
                who_may_not_be_replayed_is_not_run_again_with_its_upstream,
                a_member_of_a_cancelled_flow_is_not_replayed,
                a_replay_is_asked_once,
                a_replayed_member_keeps_its_dependents_blocked_until_it_ends,
                hundreds_of_dependents_are_run_again,
            }
            siblings {
                whoever_is_needed_no_longer_is_cancelled_wherever_it_stands,
                the_holder_of_a_cancelled_sibling_is_told,
                a_sibling_another_child_still_needs_is_left_alone,
                a_child_that_has_ended_needs_nobody,
                a_join_that_lets_them_run_cancels_nobody,
                a_join_that_can_no_longer_be_met_needs_nobody_either,
                what_depends_on_a_cancelled_sibling_is_told_in_turn,
                a_sibling_that_finished_in_time_keeps_its_result,
            }
            skipping {
                a_failure_skips_exactly_what_can_no_longer_run,
                a_failure_that_others_have_borne_is_none,
                what_was_skipped_never_ran,
                who_waits_for_a_member_hears_that_it_was_skipped,
                a_chain_of_two_hundred_is_skipped_to_its_end,
                two_failures_skip_once,
                a_member_that_is_cancelled_before_its_upstreams_end_stays_cancelled,
                a_blocked_member_has_nobody_to_hold_or_delay_it,
            }
            submitting {
                a_diamond_runs_from_its_top_to_its_bottom,
                a_member_waits_until_its_last_upstream_has_succeeded,
                members_and_edges_may_come_in_any_order,
                a_flow_may_have_no_edges,
                a_flow_may_have_one_node,
                a_member_is_work_like_any_other,
                work_in_no_flow_knows_of_none,
                a_member_may_start_no_earlier_than_it_is_to,
                a_flow_is_its_tenants,
                several_flows_do_not_know_each_other,
                a_submission_tells_once_that_the_flow_is_there,
                submitting_twice_is_one_flow,
                an_id_stands_for_one_graph,
                what_follows_from_a_key_is_nobody_elses_to_name,
                a_large_flow_is_opened_by_the_engine_and_is_there_before,
            }
            tracing {
                every_member_is_in_the_trace_of_its_flow,
                what_is_added_to_a_flow_is_in_its_trace,
                a_large_flow_is_in_one_trace,
                a_flow_without_a_trace_has_none,
            }
        }
    } };
}
