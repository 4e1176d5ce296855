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
            draining,
            keeping,
            limiting,
            listing,
            pausing,
            weighing,
        }
    } };
}
