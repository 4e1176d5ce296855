//! What is promised about the tokens that open waitpoints, and the secrets behind them.

pub(crate) mod forging;
pub(crate) mod judging;
pub(crate) mod rotating;

/// What is promised here, by theme.
#[doc(hidden)]
#[macro_export]
macro_rules! token_promises {
    ($for:ident => $($make:tt)+) => { $($make)+! { $for:
        token {
            forging {
                forged_tokens_open_nothing_and_write_nothing,
            }
            judging {
                the_token_is_judged_before_anything_about_state_is_revealed,
                a_duplicate_needs_its_token_as_well,
                a_token_opens_its_own_waitpoint_only,
                a_token_can_be_judged_without_using_it,
                a_token_asked_for_after_a_rotation_and_its_grace_opens,
                an_older_token_opens_within_its_grace_beside_a_newer_one,
                an_operator_can_read_a_token,
            }
            rotating {
                a_store_has_its_first_secret_from_the_start,
                a_rotation_reaches_every_partition,
                the_key_ring_is_the_one_tokens_are_signed_under,
                a_rotation_can_be_repeated,
                a_kid_that_still_verifies_becomes_current_again,
                a_kid_that_verifies_stands_for_one_secret,
                a_token_minted_before_two_rotations_works_within_its_grace_and_not_after,
                several_retired_secrets_are_alive_at_once_each_for_its_own_grace,
                without_grace_a_secret_is_gone_at_once,
                what_expired_is_thrown_away_by_the_next_rotation,
                a_partition_keeps_sixty_four_secrets,
                a_secret_has_sixteen_bytes_at_least,
                a_kid_that_comes_again_with_another_secret_opens_nothing_from_before,
                a_grace_may_be_ten_years,
                a_waitpoint_made_before_a_rotation_can_be_waited_on_after_it,
            }
        }
    } };
}
