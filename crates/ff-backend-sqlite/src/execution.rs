//! The room of executions, on SQLite.

use async_trait::async_trait;
use ff_backend_sql::{Describe, List, Question, ReadAttempts, ReadPayload, ReadResult};
use ff_core::backend::{Answer, EngineBackend, ExecutionRoom};
use ff_core::clock::Clock;
use ff_core::contracts::{
    Attempts, BulkArgs, BulkPage, CancelArgs, Cancelled, ChangePriorityArgs, CompleteArgs, Completed, DelayArgs,
    Delayed, Ended, ExecutionInfo, FailArgs, Failed, ListArgs, Noted, Page, PriorityChanged, ProgressArgs, ReplayArgs,
    Replayed, SetTagsArgs, SubmitArgs, Submitted, Tagged,
};
use ff_core::operation::check_id;
use ff_core::payload::Payload;
use ff_core::types::ExecutionId;

use crate::SqliteBackend;

#[async_trait]
impl ExecutionRoom for SqliteBackend {
    async fn submit(&self, args: SubmitArgs) -> Answer<Submitted> {
        self.writer.asker.ask(args).await
    }

    async fn submit_many(&self, args: Vec<SubmitArgs>) -> Answer<Vec<Answer<Submitted>>> {
        self.writer.asker.submit_many(args).await
    }

    async fn describe(&self, id: &ExecutionId) -> Answer<ExecutionInfo> {
        self.look(id, Describe(*id)).await
    }

    async fn list(&self, args: ListArgs) -> Answer<Page> {
        args.check()?;
        self.readers.read(List(args)).await
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
        self.writer.asker.ask(args).await
    }

    async fn complete(&self, args: CompleteArgs) -> Answer<Completed> {
        self.writer.asker.ask(args).await
    }

    async fn fail(&self, args: FailArgs) -> Answer<Failed> {
        self.writer.asker.ask(args).await
    }

    async fn delay(&self, args: DelayArgs) -> Answer<Delayed> {
        self.writer.asker.ask(args).await
    }

    async fn cancel(&self, args: CancelArgs) -> Answer<Cancelled> {
        self.writer.asker.ask(args).await
    }

    async fn replay(&self, args: ReplayArgs) -> Answer<Replayed> {
        self.writer.asker.ask(args).await
    }

    async fn bulk(&self, args: BulkArgs) -> Answer<BulkPage> {
        args.check()?;
        let as_of = args.as_of.unwrap_or_else(|| self.clock.now());
        let listed = self.list(args.listing()).await?;
        self.writer.asker.act_on(&args, &listed, as_of).await
    }

    async fn change_priority(&self, args: ChangePriorityArgs) -> Answer<PriorityChanged> {
        self.writer.asker.ask(args).await
    }

    async fn set_tags(&self, args: SetTagsArgs) -> Answer<Tagged> {
        self.writer.asker.ask(args).await
    }
}

impl SqliteBackend {
    /// Reads something of one execution, unless its id cannot be here.
    pub(crate) async fn look<Q: Question>(&self, id: &ExecutionId, question: Q) -> Answer<Q::Answer> {
        check_id(id, &self.partitions())?;
        self.readers.read(question).await
    }
}
