//! What is promised about signals.

pub(crate) mod delivering;
pub(crate) mod feed;
pub(crate) mod limits;
pub(crate) mod reading;
pub(crate) mod repeating;

/// What is promised here, by theme.
#[doc(hidden)]
#[macro_export]
macro_rules! signal_promises {
    ($for:ident => $($make:tt)+) => { $($make)+! { $for:
        signal {
            delivering {
                every_sender_is_told_what_became_of_its_signal,
                a_signal_reads_back_as_it_was_sent,
                a_signal_may_carry_nothing,
                a_waitpoint_is_known_by_its_key_as_well,
                a_waitpoints_key_belongs_to_its_execution,
                a_key_means_the_waitpoint_that_is_open,
                an_old_token_cannot_touch_a_later_suspension,
                an_old_token_is_worth_nothing_after_an_operator,
                finished_work_takes_no_signals,
                of_many_signals_at_once_one_meets_the_condition,
                work_has_been_suspended_since_before_its_signals,
            }
            feed {
                everything_delivered_is_in_the_feed_once,
                a_delivery_says_what_was_delivered,
                decisions_and_timeouts_are_in_the_feed_and_duplicates_are_not,
                a_reader_without_a_cursor_begins_now,
                a_reader_that_began_before_everything_misses_nothing,
                a_waiting_reader_is_told_at_once,
                a_waiting_reader_is_told_of_decisions_and_timeouts_too,
                what_is_in_the_feed_is_told_without_waiting,
                a_wait_for_deliveries_runs_out,
                a_reader_that_asks_too_much_is_refused,
            }
            limits {
                a_signal_may_have_two_hundred_and_fifty_six_kibibytes,
                names_and_texts_of_a_signal_may_be_as_long_as_they_may,
                nobody_outside_speaks_for_an_operator_or_the_engine,
                five_hundred_early_signals_are_kept,
                an_execution_takes_ten_thousand_signals_and_its_feed_keeps_as_many,
            }
            reading {
                the_oldest_signal_comes_first,
                every_signal_is_on_exactly_one_page,
                a_page_of_signals_has_at_most_a_thousand,
                work_that_received_nothing_has_no_signals,
                a_signal_nobody_received_is_not_found,
            }
            repeating {
                a_duplicate_counts_once,
                a_duplicate_after_the_resume_answers_with_the_first_signals_id,
                a_duplicate_of_an_early_signal_is_kept_once,
                a_key_of_a_signal_belongs_to_its_waitpoint,
                a_key_of_a_signal_is_forgotten_after_its_window,
                a_key_of_a_signal_is_remembered_for_a_day_by_default,
                a_key_sent_by_many_at_once_is_one_signal,
                signals_without_a_key_are_each_their_own,
            }
        }
    } };
}
