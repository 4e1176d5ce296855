//! Functions that continue or repair the consequences of ended upstreams.

use ff_core::contracts::CascadeStep;
use ff_core::state::PublicState;
use ff_core::types::ExecutionId;

use crate::execution::core_key;
use crate::server::{ask, ask_word};
use crate::signature::{CascadeCompletion, PromoteBlockedToEligible};
use crate::{ScriptError, Server};

/// Settles the edges of an ended execution, up to the bound of one step.
pub async fn ff_cascade_completion(server: &dyn Server, id: &ExecutionId) -> Result<CascadeStep, ScriptError> {
    let mut fields = ask(server, CascadeCompletion { core: core_key(id) }.call()).await?;
    let (resolved, cascaded_children) = (fields.read()?, fields.read()?);
    Ok(CascadeStep { resolved, cascaded_children, more: fields.maybe_text()?.is_some() })
}

/// Moves a blocked member on after its join was decided, and returns its new state.
pub async fn ff_promote_blocked_to_eligible(server: &dyn Server, id: &ExecutionId) -> Result<PublicState, ScriptError> {
    ask_word(server, PromoteBlockedToEligible { core: core_key(id) }.call()).await
}
