//! Actions on many executions: cancel, hold, release and replay. Each execution takes its own operation.

use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::{BulkAction, BulkArgs, BulkPage, CancelArgs, HoldArgs, ReleaseHoldArgs, ReplayArgs};
use ff_core::types::ExecutionId;
use futures_util::{StreamExt, stream};

use super::AT_ONCE;

pub(super) async fn act_on_page<S: EngineStore + ?Sized>(store: &S, args: BulkArgs) -> Answer<BulkPage> {
    args.check()?;
    let as_of = match args.as_of {
        Some(as_of) => as_of,
        None => store.now().await?,
    };
    let listed = store.list(args.listing()).await?;
    let mut page = BulkPage::new(as_of, listed.next);
    let chosen = args.chosen(&listed, as_of);
    if args.dry_run {
        page.executions = chosen;
        return Ok(page);
    }
    let action = &args.action;
    let acts = stream::iter(chosen).map(|id| async move { (id, act_on(store, action.clone(), id).await) });
    let mut acts = acts.buffered(AT_ONCE);
    while let Some((id, done)) = acts.next().await {
        page.enter(id, done)?;
    }
    Ok(page)
}

async fn act_on<S: EngineStore + ?Sized>(store: &S, action: BulkAction, execution_id: ExecutionId) -> Answer<()> {
    match action {
        BulkAction::Cancel { reason, requested_by } => {
            store.cancel(CancelArgs { execution_id, reason, requested_by }).await.map(drop)
        }
        BulkAction::Hold { reason, requested_by } => {
            store.hold(HoldArgs { execution_id, reason, requested_by }).await.map(drop)
        }
        BulkAction::ReleaseHold => store.release_hold(ReleaseHoldArgs { execution_id }).await.map(drop),
        BulkAction::Replay { reason, requested_by, reopen_downstream } => {
            let args = ReplayArgs { reason, requested_by, reopen_downstream, ..ReplayArgs::new(execution_id) };
            store.replay(args).await.map(drop)
        }
    }
}
