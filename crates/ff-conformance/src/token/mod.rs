//! Conformance tests for the tokens that open waitpoints and read streams, and for their secrets.

pub(crate) mod forging;
pub(crate) mod judging;
pub(crate) mod reading;
pub(crate) mod rotating;
