//! Steps of members whose upstreams ended: what a step left pending, and repairs.

use ff_core::contracts::CascadeStep;
use ff_core::state::PublicState;
use ff_core::types::ExecutionId;

use crate::execution::core_key;
use crate::server::{ask, ask_word};
use crate::signature::{CascadeCompletion, PromoteBlockedToEligible};
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Settles the edges of an execution that has ended, as far as one step goes.
pub async fn ff_cascade_completion(server: &dyn Server, id: &ExecutionId) -> Result<CascadeStep, ScriptError> {
    ask(server, CascadeCompletion { core: core_key(id) }.call()).await
}

/// Lets a blocked member go where its decided join lets it go, and says where that is.
pub async fn ff_promote_blocked_to_eligible(server: &dyn Server, id: &ExecutionId) -> Result<PublicState, ScriptError> {
    ask_word(server, PromoteBlockedToEligible { core: core_key(id) }.call()).await
}

impl FromFcallResult for CascadeStep {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let (resolved, cascaded_children) = (fields.read()?, fields.read()?);
        Ok(Self { resolved, cascaded_children, more: fields.maybe_text()?.is_some() })
    }
}
