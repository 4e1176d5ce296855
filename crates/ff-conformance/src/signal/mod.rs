//! Conformance tests for signals.

pub(crate) mod delivering;
pub(crate) mod feed;
pub(crate) mod limits;
pub(crate) mod reading;
pub(crate) mod repeating;
