//! What is promised about suspensions.

pub(crate) mod ahead;
pub(crate) mod conditions;
pub(crate) mod deciding;
pub(crate) mod ending;
pub(crate) mod limits;
pub(crate) mod repeating;
pub(crate) mod resuming;
pub(crate) mod suspending;
pub(crate) mod timing_out;

/// What is promised here, by theme.
#[doc(hidden)]
#[macro_export]
macro_rules! suspension_promises {
    ($for:ident => $($make:tt)+) => { $($make)+! { $for:
        suspension {
            ahead {
                an_early_signal_is_kept_and_satisfies,
                early_signals_count_towards_a_tree_as_well,
                early_signals_of_several_waitpoints_may_satisfy_together,
                early_signals_that_do_not_count_satisfy_nothing,
                the_same_key_is_the_same_waitpoint_while_it_pends,
                a_waitpoint_nobody_used_in_time_takes_no_more_signals,
                a_waitpoint_made_ahead_can_be_closed_once,
                what_a_suspension_waits_on_cannot_be_closed,
                a_waitpoint_that_does_not_pend_cannot_be_waited_on,
                only_the_holder_makes_waitpoints,
                a_waitpoint_made_ahead_outlives_its_makers_lease,
                what_pends_goes_on_pending_during_another_suspension,
                what_pends_is_closed_when_the_work_ends,
            }
            conditions {
                a_named_signal_is_told_from_any_other,
                any_signal_will_do_where_none_is_named,
                all_of_needs_every_member,
                any_of_needs_one_member,
                a_count_of_waitpoints_counts_each_once,
                a_count_of_signals_counts_every_one,
                a_count_of_sources_counts_each_once,
                a_source_is_its_kind_and_its_name,
                a_count_may_be_of_one_name,
                two_count_nodes_do_not_see_each_others_signals,
                nodes_over_one_waitpoint_count_for_themselves,
                all_of_inside_all_of_inside_all_of_can_be_met,
                one_signal_may_count_for_several_nodes_and_is_handed_once,
                no_signal_meets_what_only_an_operator_can,
            }
            deciding {
                the_worker_hears_what_was_decided,
                a_decision_comes_after_what_had_counted,
                an_operator_ends_what_only_an_operator_can,
                deciding_twice_is_one_decision,
                a_decision_is_about_the_suspension_it_names,
                what_is_not_suspended_cannot_be_resumed,
                a_decision_after_the_signal_comes_too_late,
                of_a_decision_and_a_signal_at_once_one_ends_the_suspension,
                an_operator_may_say_when_it_goes_on,
                a_decision_closes_every_waitpoint,
            }
            ending {
                suspended_work_can_be_cancelled,
                the_deadline_of_suspended_work_closes_its_waitpoints,
                a_deadline_comes_before_a_wait_that_times_out_with_it,
                a_replay_starts_without_what_was_waited_for,
                every_end_of_a_suspension_can_be_replayed,
                who_suspended_it_is_answered_after_its_end_too,
                who_waits_for_an_end_hears_of_a_wait_that_timed_out,
            }
            limits {
                a_condition_may_be_four_deep,
                a_condition_may_have_sixty_four_nodes,
                a_condition_may_need_a_thousand_signals,
                a_count_that_cannot_be_met_is_refused,
                a_malformed_condition_is_refused_where_it_is_wrong,
                a_suspension_waits_on_one_to_sixty_four_waitpoints,
                a_timeout_lies_ahead_and_not_too_far,
                a_wish_keeps_to_the_limits_of_its_parts,
                work_may_have_sixty_four_waitpoints_made_ahead,
                a_waitpoint_made_ahead_pends_for_a_while,
            }
            repeating {
                suspending_twice_with_one_idempotency_key_is_one_suspension,
                a_key_gives_the_first_answer_after_the_resume_as_well,
                a_key_of_a_suspension_is_forgotten_after_its_window,
                a_key_of_a_suspension_is_remembered_for_a_week_by_default,
                a_key_of_a_suspension_belongs_to_its_execution,
                a_holder_whose_reply_got_lost_is_answered_as_the_first_time,
                what_was_there_already_is_told_again,
            }
            resuming {
                a_resumed_worker_goes_on_with_the_same_attempt,
                a_resumed_worker_is_handed_its_signals_with_their_bytes,
                work_that_never_waited_brings_no_signals,
                who_asks_for_all_signals_is_handed_the_others_too,
                a_resume_delay_is_waited_and_then_runs,
                a_waiting_worker_gets_what_a_signal_releases,
                a_waiting_worker_gets_what_an_operator_releases,
                a_waiting_worker_gets_what_a_timeout_releases,
                a_try_that_starts_over_still_finds_its_signals,
                more_than_four_mebibytes_of_signals_are_read_one_by_one,
                a_claim_stops_at_four_mebibytes_of_signals_as_well,
                a_later_suspension_hands_only_its_own_signals,
            }
            suspending {
                suspending_gives_up_the_lease_and_keeps_the_attempt,
                who_suspended_cannot_go_on_with_it,
                only_its_holder_can_suspend_work,
                a_suspension_lasts_as_long_as_it_takes,
                suspended_work_is_not_handed_out,
                a_suspension_reads_back_as_it_was_asked_for,
                open_waitpoints_are_told_without_what_opens_them,
                every_reason_has_its_words,
                words_of_a_callers_own_are_kept,
                what_waits_is_listed_with_its_reason_and_its_age,
                work_may_wait_again_and_again,
                waitpoints_are_granted_in_the_order_they_were_asked_for,
            }
            timing_out {
                work_whose_wait_times_out_may_fail,
                work_whose_wait_times_out_may_be_cancelled,
                work_whose_wait_times_out_may_expire,
                work_whose_wait_times_out_may_go_on_and_hear_so,
                work_whose_wait_times_out_may_be_handed_to_an_operator,
                an_operator_ends_what_was_handed_to_one,
                a_timeout_hands_on_what_had_counted,
                a_timeout_may_be_at_a_moment,
                work_may_wait_for_nothing_but_its_timeout,
                a_signal_in_time_disarms_the_timeout,
                a_signal_that_beats_the_pump_wins,
                many_waits_may_time_out_at_once,
            }
        }
    } };
}
