//! Doing something to many executions: each is an operation of its own, and all of a page are done together.

use ff_core::backend::Answer;
use ff_core::contracts::{BulkAction, BulkArgs, BulkPage, CancelArgs, Page, ReplayArgs};
use ff_core::types::{ExecutionId, TimestampMs};

use crate::queue::Asker;

impl Asker {
    /// Does to a page what is to be done to it, or says to what it would be done.
    pub async fn act_on(&self, args: &BulkArgs, listed: &Page, as_of: TimestampMs) -> Answer<BulkPage> {
        let chosen = args.chosen(listed, as_of);
        let mut page = BulkPage::new(as_of, listed.next);
        if args.dry_run {
            page.executions = chosen;
            return Ok(page);
        }
        let done = self.act_on_each(&args.action, &chosen).await;
        for (execution_id, done) in chosen.into_iter().zip(done) {
            page.enter(execution_id, done)?;
        }
        Ok(page)
    }

    async fn act_on_each(&self, action: &BulkAction, chosen: &[ExecutionId]) -> Vec<Answer<()>> {
        match action {
            BulkAction::Cancel { reason, requested_by } => {
                let args = |id: &ExecutionId| CancelArgs {
                    execution_id: *id,
                    reason: reason.clone(),
                    requested_by: requested_by.clone(),
                };
                drop_each(self.ask_each(chosen.iter().map(args).collect()).await)
            }
            BulkAction::Replay { reason, requested_by, reopen_downstream } => {
                let args = |id: &ExecutionId| ReplayArgs {
                    execution_id: *id,
                    reason: reason.clone(),
                    requested_by: requested_by.clone(),
                    reopen_downstream: *reopen_downstream,
                };
                drop_each(self.ask_each(chosen.iter().map(args).collect()).await)
            }
        }
    }
}

fn drop_each<T>(answers: Vec<Answer<T>>) -> Vec<Answer<()>> {
    answers.into_iter().map(|answer| answer.map(drop)).collect()
}
