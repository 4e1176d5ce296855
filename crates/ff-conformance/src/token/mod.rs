//! Promises about the tokens that open waitpoints and read streams, and the secrets behind them.

pub(crate) mod forging;
pub(crate) mod judging;
pub(crate) mod reading;
pub(crate) mod rotating;
