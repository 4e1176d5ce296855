//! The room of executions, on every SQL store.

use async_trait::async_trait;
use ff_core::backend::{Answer, ExecutionRoom};
use ff_core::contracts::{
    Attempts, BulkArgs, BulkPage, CancelArgs, Cancelled, ChangePriorityArgs, CompleteArgs, Completed, DelayArgs,
    Delayed, Ended, ExecutionInfo, FailArgs, Failed, ListArgs, Noted, Page, PriorityChanged, ProgressArgs, ReplayArgs,
    Replayed, SetTagsArgs, SubmitArgs, Submitted, Tagged,
};
use ff_core::payload::Payload;
use ff_core::types::ExecutionId;

use super::list::List;
use super::read::{Describe, ReadAttempts, ReadPayload, ReadResult};
use crate::store::{Driver, SqlStore};

#[async_trait]
impl<D: Driver> ExecutionRoom for SqlStore<D> {
    async fn submit(&self, args: SubmitArgs) -> Answer<Submitted> {
        self.writer().ask(args).await
    }

    async fn submit_many(&self, args: Vec<SubmitArgs>) -> Answer<Vec<Answer<Submitted>>> {
        self.writer().submit_many(args).await
    }

    async fn describe(&self, id: &ExecutionId) -> Answer<ExecutionInfo> {
        self.look(id, Describe(*id)).await
    }

    async fn list(&self, args: ListArgs) -> Answer<Page> {
        args.check()?;
        self.read(List(args)).await
    }

    async fn payload(&self, id: &ExecutionId) -> Answer<Payload> {
        self.look(id, ReadPayload(*id)).await
    }

    async fn result(&self, id: &ExecutionId) -> Answer<Ended> {
        self.look(id, ReadResult(*id)).await
    }

    async fn attempts(&self, id: &ExecutionId) -> Answer<Attempts> {
        self.look(id, ReadAttempts(*id)).await
    }

    async fn progress(&self, args: ProgressArgs) -> Answer<Noted> {
        self.writer().ask(args).await
    }

    async fn complete(&self, args: CompleteArgs) -> Answer<Completed> {
        self.writer().ask(args).await
    }

    async fn fail(&self, args: FailArgs) -> Answer<Failed> {
        self.writer().ask(args).await
    }

    async fn delay(&self, args: DelayArgs) -> Answer<Delayed> {
        self.writer().ask(args).await
    }

    async fn cancel(&self, args: CancelArgs) -> Answer<Cancelled> {
        self.writer().ask(args).await
    }

    async fn replay(&self, args: ReplayArgs) -> Answer<Replayed> {
        self.writer().ask(args).await
    }

    async fn bulk(&self, args: BulkArgs) -> Answer<BulkPage> {
        args.check()?;
        let as_of = match args.as_of {
            Some(as_of) => as_of,
            None => self.driver().now().await?,
        };
        let listed = self.list(args.listing()).await?;
        self.writer().act_on(&args, &listed, as_of).await
    }

    async fn change_priority(&self, args: ChangePriorityArgs) -> Answer<PriorityChanged> {
        self.writer().ask(args).await
    }

    async fn set_tags(&self, args: SetTagsArgs) -> Answer<Tagged> {
        self.writer().ask(args).await
    }
}
