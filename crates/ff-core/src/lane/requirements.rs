//! The requirements that an execution has of its worker.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal, check_limit};
use crate::limits;
use crate::types::Capability;

/// What an execution requires of its worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RoutingRequirements {
    /// The capabilities its worker must have: a word (`gpu`), or a key and a value (`region=eu`).
    pub required_capabilities: BTreeSet<Capability>,
}

impl RoutingRequirements {
    pub fn is_empty(&self) -> bool {
        self.required_capabilities.is_empty()
    }

    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let required = &self.required_capabilities;
        check_limit(Code::InvalidCapabilities, REQUIRED, limits::REQUIREMENTS, required.len())?;
        let bytes = required.iter().map(|one| one.as_str().len()).sum();
        check_limit(Code::InvalidCapabilities, REQUIRED, limits::CAPABILITY_BYTES, bytes)
    }
}

/// The field name of the requirements within a policy.
pub(crate) const REQUIRED: &str = "routing_requirements.required_capabilities";
