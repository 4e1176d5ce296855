//! What is promised about executions.

pub(crate) mod acting;
pub(crate) mod attempts;
pub(crate) mod bulk;
pub(crate) mod cancelling;
pub(crate) mod completing;
pub(crate) mod deadlines;
pub(crate) mod delaying;
pub(crate) mod extremes;
pub(crate) mod failing;
pub(crate) mod idempotency;
pub(crate) mod keeping;
pub(crate) mod labelling;
pub(crate) mod limits;
pub(crate) mod listing;
pub(crate) mod lost_replies;
pub(crate) mod prioritising;
pub(crate) mod progress;
pub(crate) mod reading;
pub(crate) mod replaying;
pub(crate) mod searching;
pub(crate) mod submitting;
pub(crate) mod timeouts;
pub(crate) mod tracing;
pub(crate) mod words;

/// What is promised here, by theme.
#[doc(hidden)]
#[macro_export]
macro_rules! execution_promises {
    ($for:ident => $($make:tt)+) => { $($make)+! { $for:
        execution {
            acting {
                many_are_cancelled_by_what_they_are,
                a_dry_run_says_which_and_does_nothing,
                many_are_replayed_by_what_they_are,
                what_has_changed_since_is_left_alone,
                what_refuses_is_told_of_and_passed_over,
                a_page_acts_on_at_most_a_thousand,
            }
            attempts {
                work_nobody_tried_has_no_history,
                the_attempt_under_way_is_part_of_the_history,
                a_history_tells_every_try_in_order,
            }
            bulk {
                a_thousand_at_once_each_have_their_own_answer,
                one_more_than_a_thousand_is_refused_whole,
                a_bulk_keeps_its_order_within_a_partition,
                nothing_at_once_is_nothing,
            }
            cancelling {
                waiting_work_can_be_cancelled,
                delayed_work_can_be_cancelled,
                work_in_backoff_can_be_cancelled,
                running_work_can_be_cancelled,
                work_put_off_can_be_cancelled,
                a_holder_of_cancelled_work_is_refused,
                who_cancelled_and_why_is_kept,
                a_second_reason_is_not_taken,
                what_ended_otherwise_cannot_be_cancelled,
            }
            completing {
                finished_work_has_its_result,
                work_may_finish_without_a_result,
                an_empty_result_is_a_result,
                a_result_comes_back_byte_for_byte,
                success_leaves_no_failure_behind,
                finished_work_is_not_handed_out_again,
            }
            deadlines {
                waiting_work_expires_at_its_deadline,
                delayed_work_expires_at_its_deadline,
                work_in_backoff_expires_at_its_deadline,
                running_work_expires_at_its_deadline,
                work_put_off_expires_at_its_deadline,
                a_deadline_comes_before_a_lease_that_ends_with_it,
                what_is_finished_has_no_deadline,
            }
            delaying {
                work_put_off_resumes_the_same_attempt,
                who_put_work_off_cannot_go_on_with_it,
                work_may_be_put_off_to_a_moment,
                a_delay_into_the_past_waits_at_once,
                a_delay_is_no_failure_and_no_retry,
                a_lease_given_up_is_remembered,
            }
            extremes {
                any_number_in_a_submission_is_taken_or_refused,
                any_number_of_a_holder_is_taken_or_refused,
                any_number_about_waiting_is_taken_or_refused,
                any_number_about_a_flow_is_taken_or_refused,
                any_number_in_a_question_is_taken_or_refused,
                any_number_of_an_operator_is_taken_or_refused,
                any_wait_is_taken_or_refused,
            }
            failing {
                failed_work_is_tried_again_after_its_backoff,
                a_backoff_grows_up_to_its_ceiling,
                jitter_spreads_retries_within_their_backoff,
                a_retry_without_backoff_waits_at_once,
                the_last_retry_is_the_last,
                work_without_retries_fails_at_once,
                three_retries_are_the_default,
                a_permanent_failure_is_not_retried,
                categories_decide_what_is_retried,
            }
            idempotency {
                the_same_key_is_the_same_execution,
                a_repeat_does_not_change_what_is_there,
                the_same_uuid_is_the_same_execution,
                a_repeat_is_told_how_the_work_stands,
                a_key_is_forgotten_after_its_window,
                a_window_lasts_a_day_by_default,
                a_key_used_for_another_kind_is_a_conflict,
                a_key_used_with_another_payload_is_a_conflict,
                a_uuid_used_for_other_work_is_a_conflict,
                a_key_belongs_to_its_namespace,
                a_key_asked_for_at_once_by_many_creates_one,
            }
            keeping {
                finished_work_is_kept_for_seven_days,
                work_may_say_how_long_it_is_kept,
                nothing_of_forgotten_work_is_left,
                work_is_kept_while_its_key_is_remembered,
                replayed_work_is_kept_until_it_has_ended_again,
                a_flow_goes_with_its_members_once_it_has_ended,
            }
            labelling {
                labels_are_added_replaced_and_taken_away,
                finished_work_can_be_labelled,
                more_than_thirty_two_labels_are_refused,
                a_label_cannot_be_set_and_taken_away_at_once,
                what_is_not_there_cannot_be_labelled,
            }
            limits {
                a_payload_may_have_a_mebibyte,
                a_result_may_have_a_mebibyte,
                work_may_have_thirty_two_tags,
                names_and_texts_may_be_as_long_as_they_may,
                a_start_may_be_ten_years_away,
                a_message_may_have_eight_kibibytes,
                a_policy_out_of_range_is_refused_by_its_field,
            }
            listing {
                the_newest_come_first,
                every_row_is_on_exactly_one_page,
                a_page_goes_on_where_the_last_one_ended,
                a_list_can_be_of_one_state,
                a_list_can_be_of_one_lane,
                a_list_is_of_one_namespace,
                a_page_has_at_most_a_thousand_rows,
                a_cursor_outlives_its_row,
                nothing_comes_after_the_oldest,
            }
            lost_replies {
                finishing_twice_is_one_finish,
                failing_twice_is_one_failure,
                a_retry_keeps_its_first_moment,
                failing_for_good_twice_is_one_end,
                putting_off_twice_is_one_delay,
                cancelling_twice_is_one_cancellation,
                revoking_twice_is_one_revocation,
                replaying_twice_is_one_replay,
                one_call_is_not_answered_with_the_end_of_another,
            }
            prioritising {
                work_that_is_raised_goes_before_others,
                work_that_is_lowered_goes_after_others,
                running_work_keeps_its_new_priority_for_later,
                finished_work_cannot_be_prioritised,
                the_same_priority_changes_nothing,
            }
            progress {
                progress_can_be_read_while_the_work_runs,
                what_is_not_said_stays,
                progress_stays_when_the_work_ends,
                a_new_attempt_starts_without_progress,
                a_resumed_attempt_keeps_its_progress,
                more_than_everything_is_refused,
                progress_is_no_renewal,
            }
            reading {
                there_is_no_result_before_the_end,
                who_waits_for_an_end_is_told_when_it_comes,
                every_kind_of_end_is_told,
                an_end_that_has_come_is_told_at_once,
                a_wait_for_an_end_runs_out,
                a_wait_for_an_end_is_refused_when_it_is_too_long,
                an_id_nobody_was_given_is_not_found,
                whose_an_execution_is_follows_from_its_id,
                an_id_beyond_the_last_partition_is_refused,
            }
            replaying {
                replayed_work_runs_again,
                a_replay_knows_what_it_follows_and_why,
                a_replay_clears_result_failure_and_progress,
                a_replay_has_all_its_retries_again,
                a_replay_has_all_its_expiries_again,
                a_replay_arms_its_deadline_again,
                every_end_can_be_replayed,
                work_that_never_ran_can_be_replayed,
                replays_have_an_end,
                ten_replays_are_the_default,
                what_still_lives_cannot_be_replayed,
                who_finished_it_before_cannot_touch_the_replay,
            }
            searching {
                a_search_finds_what_is_everything_it_says,
                a_search_by_several_labels_finds_what_has_all,
                a_search_can_be_of_a_time,
                what_stays_is_seen_exactly_once_under_writes,
                labels_set_later_are_found_and_those_taken_away_are_not,
                another_tenants_labels_are_not_found,
                a_search_for_what_is_rare_comes_to_it_in_the_end,
                a_search_names_at_most_eight_labels,
                a_time_that_ends_before_it_begins_is_refused,
            }
            submitting {
                work_reads_back_as_it_was_submitted,
                json_comes_back_with_its_own_whitespace,
                bytes_come_back_unchanged,
                work_may_start_after_a_while,
                work_may_start_at_a_moment,
                a_moment_that_has_passed_is_now,
                a_client_reads_its_own_writes,
                recorded_times_do_not_run_backwards,
            }
            timeouts {
                an_attempt_that_runs_too_long_is_retried,
                a_renewal_does_not_move_the_timeout,
                a_timeout_counts_only_the_time_it_ran,
                every_attempt_has_the_whole_timeout,
                timeouts_use_up_the_retries,
                categories_decide_about_timeouts_too,
            }
            tracing {
                the_trace_of_a_submission_reaches_its_handler,
                work_without_a_trace_has_none,
                every_attempt_is_in_the_same_trace,
                another_trace_is_the_same_submission,
                each_of_many_has_its_own_trace,
            }
            words {
                every_phase_has_its_words,
                every_end_has_its_word,
            }
        }
    } };
}
