//! Conformance tests for flows.

pub(crate) mod cancelling;
pub(crate) mod children;
pub(crate) mod ending;
pub(crate) mod events;
pub(crate) mod growing;
pub(crate) mod joining;
pub(crate) mod large;
pub(crate) mod listing;
pub(crate) mod passing;
pub(crate) mod reading;
pub(crate) mod refusing;
pub(crate) mod replaying;
pub(crate) mod siblings;
pub(crate) mod skipping;
pub(crate) mod submitting;
pub(crate) mod tracing;
