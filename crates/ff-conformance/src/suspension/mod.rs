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
            ahead,
            conditions,
            deciding,
            ending,
            limits,
            repeating,
            resuming,
            suspending,
            timing_out,
        }
    } };
}
