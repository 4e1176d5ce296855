//! Conformance tests for executions.

pub(crate) mod adjusting;
pub(crate) mod bulk;
pub(crate) mod cancelling;
pub(crate) mod deadlines;
pub(crate) mod delaying;
pub(crate) mod extremes;
pub(crate) mod finishing;
pub(crate) mod keeping;
pub(crate) mod limits;
pub(crate) mod listing;
pub(crate) mod progress;
pub(crate) mod reading;
pub(crate) mod repeating;
pub(crate) mod replaying;
pub(crate) mod submitting;
pub(crate) mod tracing;
