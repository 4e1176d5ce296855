//! The suite: every promise there is, by room and theme, and what it takes to try one.

use futures_util::future::BoxFuture;
use tokio::time::timeout;

use crate::world::{World, ms};

/// Makes one test per promise for each of these worlds, named by world, room and promise.
#[macro_export]
macro_rules! conformance {
    ($($world:ident),* $(,)?) => {$(
        mod $world {
            fn world() -> $crate::Arriving {
                Box::pin($crate::worlds::$world())
            }

            $crate::execution_promises! { $world => $crate::one_test_each }
            $crate::lease_promises! { $world => $crate::one_test_each }
            $crate::lane_promises! { $world => $crate::one_test_each }
            $crate::worker_promises! { $world => $crate::one_test_each }
            $crate::key_promises! { $world => $crate::one_test_each }
            $crate::event_promises! { $world => $crate::one_test_each }
            $crate::flow_promises! { $world => $crate::one_test_each }
            $crate::suspension_promises! { $world => $crate::one_test_each }
            $crate::signal_promises! { $world => $crate::one_test_each }
            $crate::token_promises! { $world => $crate::one_test_each }
        }
    )*};
}

/// Turns the list of a room into tests in one world.
#[doc(hidden)]
#[macro_export]
macro_rules! one_test_each {
    ($world:ident: $($room:ident { $($theme:ident { $($promise:ident,)* })* })*) => {$(
        mod $room {$($(
            #[test]
            fn $promise() {
                let name = concat!(stringify!($room), "::", stringify!($theme), "::", stringify!($promise));
                $crate::try_in(super::world, name);
            }
        )*)*}
    )*};
}

/// Turns the list of a room into a table. A promise that is written but not listed is then never used, which the compiler tells.
macro_rules! one_row_each {
    (table: $($room:ident { $($theme:ident { $($promise:ident,)* })* })*) => {
        &[$($($((
            concat!(stringify!($room), "::", stringify!($theme), "::", stringify!($promise)),
            |world| Box::pin(crate::$room::$theme::$promise(world)),
        ),)*)*)*]
    };
}

type Promise = fn(World) -> BoxFuture<'static, ()>;

/// Every promise there is. Each room lists its own, next to its themes.
const ROOMS: &[&[(&str, Promise)]] = &[
    crate::execution_promises! { table => one_row_each },
    crate::lease_promises! { table => one_row_each },
    crate::lane_promises! { table => one_row_each },
    crate::worker_promises! { table => one_row_each },
    crate::key_promises! { table => one_row_each },
    crate::event_promises! { table => one_row_each },
    crate::flow_promises! { table => one_row_each },
    crate::suspension_promises! { table => one_row_each },
    crate::signal_promises! { table => one_row_each },
    crate::token_promises! { table => one_row_each },
];

/// The names of all promises.
pub fn promises() -> impl Iterator<Item = &'static str> {
    ROOMS.iter().copied().flatten().map(|(name, _)| *name)
}

/// A world that is being made.
pub type Arriving = BoxFuture<'static, World>;

/// Tries one promise in a world of its own. The tests are many and this is not generic, so that each costs the compiler
/// next to nothing.
pub fn try_in(world: fn() -> Arriving, name: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async { keep(world().await, name).await });
}

/// Tries one promise in a world of its own, and then examines what it left behind.
pub async fn keep(world: World, name: &str) {
    let promise = ROOMS.iter().copied().flatten().find(|(known, _)| *known == name).map(|(_, promise)| promise);
    let promise = promise.unwrap_or_else(|| panic!("there is no promise {name}"));
    timeout(ms(60_000), promise(world.clone())).await.expect("something is waited for that never comes");
    world.check_invariants().await;
    world.end().await;
}
