//! What is promised about leases.

pub(crate) mod claiming;
pub(crate) mod control;
pub(crate) mod expiring;
pub(crate) mod fencing;
pub(crate) mod order;
pub(crate) mod renewing;
pub(crate) mod revoking;
pub(crate) mod waiting;

/// What is promised here, by theme.
#[doc(hidden)]
#[macro_export]
macro_rules! lease_promises {
    ($for:ident => $($make:tt)+) => { $($make)+! { $for:
        lease {
            claiming {
                a_claim_brings_everything_the_work_needs,
                everybody_sees_who_holds_what,
                a_claim_takes_up_to_as_many_as_it_says,
                a_claim_says_what_is_left,
                a_claim_leaves_other_kinds_alone,
                a_claim_leaves_other_lanes_alone,
                two_tenants_lanes_of_one_name_are_two_lanes,
                a_claim_stops_at_four_mebibytes,
                a_claim_takes_no_more_than_go_at_once,
                no_two_workers_get_the_same_work,
                a_claim_of_nothing_or_of_too_much_is_refused,
                a_claim_may_name_so_many_kinds,
                a_partition_that_is_not_there_is_refused,
                a_lease_lasts_from_a_second_to_an_hour,
                an_epoch_is_higher_with_every_lease,
            }
            control {
                a_holder_is_told_of_a_cancellation,
                a_holder_is_told_of_a_revocation,
                a_holder_is_told_that_its_lease_expired,
                a_holder_is_told_of_a_timeout_and_of_a_deadline,
                what_a_holder_gave_up_is_no_news,
                news_goes_to_the_instance_it_is_about,
                news_between_two_questions_is_kept,
                news_is_told_once,
                a_place_nobody_was_told_is_refused,
                a_wait_for_news_is_refused_when_it_is_too_long,
            }
            expiring {
                work_of_a_silent_holder_waits_again_by_itself,
                an_expired_lease_is_remembered,
                work_that_kills_its_workers_is_given_up,
                work_may_be_given_up_at_the_first_expiry,
                a_hundred_expiries_are_the_default,
                many_leases_may_expire_at_once,
            }
            fencing {
                a_zombie_cannot_write,
                the_current_fence_may_do_everything_in_time,
                a_lease_past_its_end_counts_before_anybody_acts,
                a_lease_that_expired_is_called_that,
                a_lease_that_was_revoked_is_called_that,
                an_older_fence_is_stale_wherever_the_work_is,
                each_part_of_a_fence_counts,
                a_fence_of_other_work_opens_nothing,
                what_nobody_ever_held_cannot_be_finished,
            }
            order {
                the_most_important_goes_first,
                of_equals_the_oldest_goes_first,
                of_one_moment_the_smaller_id_goes_first,
                age_does_not_outweigh_priority,
                one_claim_keeps_the_order_across_kinds,
                work_that_comes_back_keeps_its_place,
                a_priority_out_of_range_is_refused,
            }
            renewing {
                a_renewal_moves_the_end_of_the_lease,
                a_renewal_may_ask_for_another_length_from_then_on,
                a_renewal_keeps_to_the_limits_of_a_lease,
                a_renewal_may_be_repeated,
                a_renewed_lease_keeps_its_fence,
            }
            revoking {
                revoked_work_waits_for_another,
                why_a_lease_was_revoked_is_kept,
                only_the_named_lease_is_revoked,
                what_nobody_holds_cannot_be_revoked,
                a_revoked_lease_does_not_expire_later,
            }
            waiting {
                what_is_there_is_handed_out_at_once,
                a_waiting_worker_gets_what_is_submitted,
                a_waiting_worker_gets_what_time_promotes,
                a_waiting_worker_gets_what_a_dead_one_held,
                a_waiting_worker_gets_what_is_retried,
                a_waiting_worker_gets_what_another_gives_back,
                a_wait_for_work_runs_out,
                one_piece_of_work_goes_to_one_of_many_waiting,
                as_many_pieces_go_to_as_many_waiting,
                lanes_are_preferred_in_the_order_given,
                one_wait_may_bring_work_of_several_lanes,
                a_waiting_worker_leaves_alone_what_is_not_for_it,
                a_tenants_worker_gets_only_its_tenants_work,
                a_wait_that_asks_too_much_is_refused,
            }
        }
    } };
}
