//! Someone wants an execution to go before or after others of its lane.

use ff_core::contracts::{ChangePriorityArgs, PriorityChanged};
use ff_core::types::Priority;

use super::core_key;
use crate::server::ask;
use crate::signature::ChangePriority;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Gives a live execution another priority.
pub async fn ff_change_priority(server: &dyn Server, args: ChangePriorityArgs) -> Result<PriorityChanged, ScriptError> {
    let change = ChangePriority { core: core_key(&args.execution_id), priority: args.priority.get().into() };
    let From(from) = ask(server, change.call()).await?;
    Ok(PriorityChanged { from, priority: args.priority })
}

struct From(Priority);

impl FromFcallResult for From {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let from = Priority::new(fields.read()?);
        from.map(Self).map_err(|error| ScriptError::parse(format!("the priority {error}")))
    }
}
