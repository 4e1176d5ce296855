//! Doing something to many executions: each is a call of its own, and several of a page are under way together.

use ff_core::backend::{Answer, ExecutionRoom, Upkeep};
use ff_core::contracts::{BulkAction, BulkArgs, BulkPage, CancelArgs, ReplayArgs};
use ff_core::types::ExecutionId;
use futures_util::{StreamExt, stream};

use crate::ValkeyBackend;

/// Executions something is done to at the same time.
const AT_ONCE: usize = 64;

impl ValkeyBackend {
    pub(crate) async fn act_on_page(&self, args: BulkArgs) -> Answer<BulkPage> {
        args.check()?;
        let as_of = match args.as_of {
            Some(as_of) => as_of,
            None => self.now().await?,
        };
        let listed = self.page(args.listing()).await?;
        let mut page = BulkPage::new(as_of, listed.next);
        let chosen = args.chosen(&listed, as_of);
        if args.dry_run {
            page.executions = chosen;
            return Ok(page);
        }
        let action = &args.action;
        let acts = chosen.into_iter().map(|id| async move { (id, self.act_on(id, action).await) });
        let mut done = stream::iter(acts).buffered(AT_ONCE);
        while let Some((id, done)) = done.next().await {
            page.enter(id, done)?;
        }
        Ok(page)
    }

    async fn act_on(&self, execution_id: ExecutionId, action: &BulkAction) -> Answer<()> {
        match action.clone() {
            BulkAction::Cancel { reason, requested_by } => {
                self.cancel(CancelArgs { execution_id, reason, requested_by }).await.map(drop)
            }
            BulkAction::Replay { reason, requested_by, reopen_downstream } => {
                self.replay(ReplayArgs { execution_id, reason, requested_by, reopen_downstream }).await.map(drop)
            }
        }
    }
}
