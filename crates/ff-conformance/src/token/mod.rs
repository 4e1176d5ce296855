//! Conformance tests for the tokens that open waitpoints and read streams, and for their secrets.

pub(crate) mod forging;
pub(crate) mod reading;
pub(crate) mod rotating;
pub(crate) mod verifying;
