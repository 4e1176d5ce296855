//! Conformance tests for suspensions.

pub(crate) mod ahead;
pub(crate) mod conditions;
pub(crate) mod deciding;
pub(crate) mod ending;
pub(crate) mod limits;
pub(crate) mod repeating;
pub(crate) mod resuming;
pub(crate) mod suspending;
pub(crate) mod timing_out;
