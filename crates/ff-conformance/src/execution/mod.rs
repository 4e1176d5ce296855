//! Conformance tests for executions.

pub(crate) mod acting;
pub(crate) mod attempts;
pub(crate) mod bulk;
pub(crate) mod cancelling;
pub(crate) mod completing;
pub(crate) mod deadlines;
pub(crate) mod delaying;
pub(crate) mod extremes;
pub(crate) mod failing;
pub(crate) mod idempotency;
pub(crate) mod keeping;
pub(crate) mod labelling;
pub(crate) mod limits;
pub(crate) mod listing;
pub(crate) mod lost_replies;
pub(crate) mod prioritising;
pub(crate) mod progress;
pub(crate) mod reading;
pub(crate) mod replaying;
pub(crate) mod searching;
pub(crate) mod submitting;
pub(crate) mod timeouts;
pub(crate) mod tracing;
pub(crate) mod words;
