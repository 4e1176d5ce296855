//! What is promised about the feed of what happens.

pub(crate) mod following;
pub(crate) mod telling;

/// What is promised here, by theme.
#[doc(hidden)]
#[macro_export]
macro_rules! event_promises {
    ($for:ident => $($make:tt)+) => { $($make)+! { $for:
        event {
            following {
                who_begins_now_learns_nothing_of_before,
                a_place_beyond_everything_has_nothing_after_it,
                pages_together_tell_everything_once,
                an_encrypted_cursor_without_its_key_is_refused,
                a_reader_goes_on_where_it_was,
                two_readers_learn_the_same,
                a_tenants_reader_learns_of_its_tenants_work_only,
                a_reader_of_one_execution_learns_of_nothing_else,
                a_waiting_reader_learns_what_happens_at_once,
                a_wait_for_something_to_happen_runs_out,
                who_comes_back_too_late_learns_that_something_was_missed,
                a_page_of_events_has_at_most_a_thousand,
            }
            telling {
                the_life_of_an_execution_is_told_in_order,
                what_time_does_is_told,
                what_operators_do_is_told,
                the_end_of_a_member_names_its_flow,
            }
        }
    } };
}

use ff_core::contracts::{EventsArgs, EventsPage};
use ff_core::event::EventCursor;

use crate::World;

/// What a reader asks with.
pub(crate) fn since(after: &EventCursor) -> EventsArgs {
    EventsArgs { after: Some(after.clone()), namespace: None, execution: None, limit: 100 }
}

/// Begins to follow.
pub(crate) async fn follow(world: &World) -> EventCursor {
    let args = EventsArgs { after: None, namespace: None, execution: None, limit: 100 };
    let page = world.backend.events(args).await.unwrap();
    assert!(page.events.is_empty() && !page.missed);
    page.next
}

/// What happened since.
pub(crate) async fn read(world: &World, after: &EventCursor) -> EventsPage {
    world.backend.events(since(after)).await.unwrap()
}
