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
            forging,
            judging,
            rotating,
        }
    } };
}
