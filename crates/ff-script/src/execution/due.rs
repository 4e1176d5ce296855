//! Firing one thing of one execution, if it is due. A pump fires everything; these are for whoever knows what to fire.

use ff_core::state::PublicState;
use ff_core::types::ExecutionId;

use super::core_key;
use crate::server::ask;
use crate::signature::{ExpireExecution, PromoteDelayed};
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// What became of an execution something may have been due for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueOutcome {
    /// It fired, and the execution stands so now.
    Fired(PublicState),
    /// It is not due, and nothing changed.
    NotYetDue(PublicState),
}

/// Lets a delayed execution wait for a worker, if its delay is over.
pub async fn ff_promote_delayed(server: &dyn Server, id: &ExecutionId) -> Result<DueOutcome, ScriptError> {
    ask(server, PromoteDelayed { core: core_key(id) }.call()).await
}

/// Ends an execution as expired, if its deadline has come.
pub async fn ff_expire_execution(server: &dyn Server, id: &ExecutionId) -> Result<DueOutcome, ScriptError> {
    ask(server, ExpireExecution { core: core_key(id) }.call()).await
}

impl FromFcallResult for DueOutcome {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let word = fields.text()?;
        if !fields.is_empty() {
            return Ok(Self::NotYetDue(fields.read()?));
        }
        let unknown = |error| ScriptError::parse(format!("no execution is {word}: {error}"));
        Ok(Self::Fired(word.parse().map_err(unknown)?))
    }
}
