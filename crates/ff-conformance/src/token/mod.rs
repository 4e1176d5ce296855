//! Promises about the tokens that open waitpoints, and the secrets behind them.

pub(crate) mod forging;
pub(crate) mod judging;
pub(crate) mod rotating;
