//! What must have happened to what is operated.

use ff_core::engine_error::Code;

/// Every refusal it can be given beyond those of the rest.
pub(crate) const REFUSALS: &[Code] = &[Code::NotRunnable, Code::NotFound, Code::ExecutionNotEligible];

/// Everything else.
pub(crate) const EVENTS: &[&str] = &[
    "SetTags",
    "ChangePriority",
    "ConfigureLane",
    "RegisterWorker",
    "Heartbeat",
    "Leave",
    "SweepWorkers",
    "Events",
    "something told",
    "claimed with leave",
    "no leave given",
    "forgotten",
];
