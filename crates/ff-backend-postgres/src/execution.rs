//! The room of executions, on Postgres.

use async_trait::async_trait;
use ff_backend_sql::{Describe, List, Question, ReadAttempts, ReadPayload, ReadResult};
use ff_core::backend::{Answer, EngineBackend, ExecutionRoom, Upkeep};
use ff_core::contracts::{
    Attempts, BulkArgs, BulkPage, CancelArgs, Cancelled, ChangePriorityArgs, CompleteArgs, Completed, DelayArgs,
    Delayed, Ended, ExecutionInfo, FailArgs, Failed, ListArgs, Noted, Page, PriorityChanged, ProgressArgs, ReplayArgs,
    Replayed, SetTagsArgs, SubmitArgs, Submitted, Tagged,
};
use ff_core::operation::check_id;
use ff_core::payload::Payload;
use ff_core::types::ExecutionId;

use crate::PostgresBackend;

#[async_trait]
impl ExecutionRoom for PostgresBackend {
    async fn submit(&self, args: SubmitArgs) -> Answer<Submitted> {
        self.writers.asker.ask(args).await
    }

    async fn submit_many(&self, args: Vec<SubmitArgs>) -> Answer<Vec<Answer<Submitted>>> {
        self.writers.asker.submit_many(args).await
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
        self.writers.asker.ask(args).await
    }

    async fn complete(&self, args: CompleteArgs) -> Answer<Completed> {
        self.writers.asker.ask(args).await
    }

    async fn fail(&self, args: FailArgs) -> Answer<Failed> {
        self.writers.asker.ask(args).await
    }

    async fn delay(&self, args: DelayArgs) -> Answer<Delayed> {
        self.writers.asker.ask(args).await
    }

    async fn cancel(&self, args: CancelArgs) -> Answer<Cancelled> {
        self.writers.asker.ask(args).await
    }

    async fn replay(&self, args: ReplayArgs) -> Answer<Replayed> {
        self.writers.asker.ask(args).await
    }

    async fn bulk(&self, args: BulkArgs) -> Answer<BulkPage> {
        args.check()?;
        let as_of = match args.as_of {
            Some(as_of) => as_of,
            None => self.now().await?,
        };
        let listed = self.list(args.listing()).await?;
        self.writers.asker.act_on(&args, &listed, as_of).await
    }

    async fn change_priority(&self, args: ChangePriorityArgs) -> Answer<PriorityChanged> {
        self.writers.asker.ask(args).await
    }

    async fn set_tags(&self, args: SetTagsArgs) -> Answer<Tagged> {
        self.writers.asker.ask(args).await
    }
}

impl PostgresBackend {
    /// Reads something of one execution, unless its id cannot be here.
    pub(crate) async fn look<Q: Question>(&self, id: &ExecutionId, question: Q) -> Answer<Q::Answer> {
        check_id(id, &self.partitions())?;
        self.readers.read(question).await
    }
}
