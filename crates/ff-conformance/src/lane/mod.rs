//! Conformance tests for lanes.

pub(crate) mod draining;
pub(crate) mod fairness;
pub(crate) mod keeping;
pub(crate) mod limiting;
pub(crate) mod listing;
pub(crate) mod pausing;
pub(crate) mod routing;
pub(crate) mod weighing;
