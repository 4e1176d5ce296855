//! What is promised about lanes.

pub(crate) mod draining;
pub(crate) mod keeping;
pub(crate) mod limiting;
pub(crate) mod listing;
pub(crate) mod pausing;
pub(crate) mod weighing;

/// What is promised here, by theme.
#[doc(hidden)]
#[macro_export]
macro_rules! lane_promises {
    ($for:ident => $($make:tt)+) => { $($make)+! { $for:
        lane {
            draining {
                a_draining_lane_takes_no_new_work,
                a_draining_lane_hands_out_what_is_there,
                a_repeat_is_answered_while_a_lane_drains,
                finished_work_of_a_draining_lane_cannot_be_replayed,
                a_flow_with_work_for_a_draining_lane_is_refused_whole,
            }
            keeping {
                work_is_kept_as_its_lane_says,
                what_work_says_itself_comes_first,
                what_was_there_before_is_kept_as_before,
            }
            limiting {
                no_more_are_held_than_the_limit,
                every_way_to_end_makes_room,
                a_waiting_worker_gets_what_there_is_room_for,
                a_lower_limit_adds_nothing_until_enough_has_ended,
                a_limit_counts_what_is_held_already,
                without_a_limit_everything_is_handed_out_again,
                two_tenants_limits_are_two_limits,
                many_workers_together_never_hold_more_than_the_limit,
            }
            listing {
                a_lane_need_not_be_made,
                lanes_are_listed_by_name_page_by_page,
                a_lane_says_how_much_of_it_is_where,
                what_is_not_said_stays_as_it_is,
                settings_out_of_range_are_refused_by_their_field,
                a_page_of_lanes_has_at_most_a_thousand,
                what_has_finished_is_counted_only_for_whoever_asks,
            }
            pausing {
                a_paused_lane_takes_work_and_hands_out_none,
                what_is_held_goes_on_while_its_lane_is_paused,
                pausing_twice_is_one_pause,
                another_tenants_lane_goes_on,
                a_waiting_worker_gets_what_a_lane_hands_out_again,
            }
            weighing {
                old_work_goes_before_better_work_where_a_lane_weighs_age,
                one_claim_keeps_that_order_across_kinds,
                what_is_better_by_more_than_the_wait_goes_first,
            }
        }
    } };
}
