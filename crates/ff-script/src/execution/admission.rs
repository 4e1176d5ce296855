//! Functions that hold back ready executions: an operator's hold, and blocks by admission.

use bytes::Bytes;
use ff_core::contracts::{
    BlockArgs, BlockTarget, BlockedCount, HoldArgs, HoldPlaced, HoldReleased, ReleaseHoldArgs, UnblockArgs,
    UnblockedExecutions,
};
use ff_core::execution::{BlockDetail, Blocker};

use super::{core_key, index_keys};
use crate::server::{ask, ask_fields};
use crate::signature::{BlockExecutions, HoldExecution, ReleaseHold, UnblockExecutions};
use crate::{ScriptError, Server};

/// Holds a live execution: it cannot be claimed until it is released.
pub async fn ff_hold_execution(server: &dyn Server, args: HoldArgs) -> Result<HoldPlaced, ScriptError> {
    let HoldArgs { execution_id, reason, requested_by } = args;
    let (mut fields, already) =
        ask_fields(server, HoldExecution { core: core_key(&execution_id), reason, requested_by }.call()).await?;
    Ok(HoldPlaced { public_state: fields.read()?, already })
}

/// Ends an operator's hold.
pub async fn ff_release_hold(server: &dyn Server, args: ReleaseHoldArgs) -> Result<HoldReleased, ScriptError> {
    let (mut fields, already) = ask_fields(server, ReleaseHold { core: core_key(&args.execution_id) }.call()).await?;
    Ok(HoldReleased { public_state: fields.read()?, already })
}

/// Blocks executions that may not run now, and takes them out of the queues.
pub async fn ff_block_executions(server: &dyn Server, args: BlockArgs) -> Result<BlockedCount, ScriptError> {
    let targets = args.executions.iter().map(target).collect::<Result<Vec<_>, _>>()?;
    let block =
        BlockExecutions { all_executions: index_keys(args.partition).all_executions(), targets: targets.concat() };
    let mut fields = ask(server, block.call()).await?;
    Ok(BlockedCount { blocked: fields.read()? })
}

/// Encodes one target as items of the list.
fn target(target: &BlockTarget) -> Result<Vec<Bytes>, ScriptError> {
    let BlockTarget { execution_id, lease_epoch, detail } = target;
    Ok(vec![
        execution_id.to_string().into(),
        lease_epoch.0.to_string().into(),
        Bytes::from_static(word(detail.blocker()).as_bytes()),
        detail.retry_at().map(|at| at.0.to_string()).unwrap_or_default().into(),
        written(detail)?.into(),
    ])
}

/// Returns the detail of a block as the record stores it: JSON.
pub(crate) fn written(detail: &BlockDetail) -> Result<String, ScriptError> {
    serde_json::to_string(detail).map_err(|error| ScriptError::parse(format!("a detail cannot be written: {error}")))
}

/// Makes executions that are blocked for a given reason ready again.
pub async fn ff_unblock_executions(server: &dyn Server, args: UnblockArgs) -> Result<UnblockedExecutions, ScriptError> {
    let unblock = UnblockExecutions {
        all_executions: index_keys(args.partition).all_executions(),
        from: word(args.from).to_owned(),
        ids: args.executions.iter().map(|id| id.to_string().into()).collect(),
    };
    let mut fields = ask(server, unblock.call()).await?;
    let waits: String = fields.read()?;
    let waits = waits.split(',').filter(|wait| !wait.is_empty()).map(str::parse);
    let waits_ms = waits.collect::<Result<_, _>>().map_err(|error| ScriptError::parse(format!("waits_ms: {error}")))?;
    Ok(UnblockedExecutions { waits_ms })
}

/// Returns the word of a blocker in the record.
pub(crate) fn word(on: Blocker) -> &'static str {
    match on {
        Blocker::Dependencies => "dependencies",
        Blocker::Staging => "staging",
        Blocker::Reopening => "reopening",
        Blocker::Route => "route",
        Blocker::Quota => "quota",
        Blocker::Budget => "budget",
        Blocker::Operator => "operator",
        Blocker::Assignment => "assignment",
    }
}
