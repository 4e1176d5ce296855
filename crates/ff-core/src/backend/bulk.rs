//! Doing something to many executions, over what a store does to one.

use super::{Answer, ExecutionRoom};
use crate::contracts::{BulkAction, BulkArgs, BulkPage, CancelArgs, ReplayArgs};
use crate::types::{ExecutionId, TimestampMs};

/// One page of it, one execution after the other. A store that does several at once better may do so.
///
/// An execution that refuses is told of and passed over. A store that does not answer ends the page, which is asked for
/// again.
pub async fn act_on_page<R: ExecutionRoom + ?Sized>(room: &R, args: BulkArgs, now: TimestampMs) -> Answer<BulkPage> {
    args.check()?;
    let as_of = args.as_of.unwrap_or(now);
    let listed = room.list(args.listing()).await?;
    let mut page = BulkPage::new(as_of, listed.next);
    for execution_id in args.chosen(&listed, as_of) {
        let done = if args.dry_run { Ok(()) } else { act_on_one(room, &args.action, execution_id).await };
        page.enter(execution_id, done)?;
    }
    Ok(page)
}

async fn act_on_one<R: ExecutionRoom + ?Sized>(room: &R, action: &BulkAction, id: ExecutionId) -> Answer<()> {
    match action.clone() {
        BulkAction::Cancel { reason, requested_by } => {
            room.cancel(CancelArgs { execution_id: id, reason, requested_by }).await.map(drop)
        }
        BulkAction::Replay { reason, requested_by, reopen_downstream } => {
            let args = ReplayArgs { execution_id: id, reason, requested_by, reopen_downstream };
            room.replay(args).await.map(drop)
        }
    }
}
