//! Conformance tests for leases.

pub(crate) mod assigning;
pub(crate) mod claiming;
pub(crate) mod control;
pub(crate) mod expiring;
pub(crate) mod fencing;
pub(crate) mod long_poll;
pub(crate) mod order;
pub(crate) mod renewing;
pub(crate) mod revoking;
