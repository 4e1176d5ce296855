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
            delivering,
            feed,
            limits,
            reading,
            repeating,
        }
    } };
}
