//! Who calls, and what the caller may do: API keys, sessions, tenants, and the log of decisions.

pub(crate) mod audit;
pub(crate) mod bearer;
pub(crate) mod callers;
pub(crate) mod keyring;
pub(crate) mod loopback_guard;
pub(crate) mod sealer;
pub(crate) mod session;
pub(crate) mod tenant;
