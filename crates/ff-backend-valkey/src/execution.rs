//! The room of executions, on Valkey.

use std::collections::BTreeMap;

use async_trait::async_trait;
use ff_core::backend::{Answer, ExecutionRoom};
use ff_core::contracts::{
    Attempts, BulkArgs, BulkPage, CancelArgs, Cancelled, ChangePriorityArgs, CompleteArgs, Completed, DelayArgs,
    Delayed, Ended, ExecutionInfo, FailArgs, Failed, ListArgs, Noted, Page, PriorityChanged, ProgressArgs, ReplayArgs,
    Replayed, SetTagsArgs, SubmitArgs, Submitted, Tagged,
};
use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::limits;
use ff_core::operation::{Ask, check_id};
use ff_core::payload::Payload;
use ff_core::types::ExecutionId;
use ff_script::Kept;
use ff_script::execution::{
    Beside, PlainWork, ff_cancel_execution, ff_change_priority, ff_create_execution, ff_delay_execution,
    ff_fail_execution, ff_read_execution, ff_replay_execution, ff_set_execution_tags, ff_update_progress,
};
use futures_util::future::join_all;
use futures_util::{StreamExt, stream};

use crate::ValkeyBackend;
use crate::directory::Entry;

/// Submissions of one bulk that are under way together, each on a partition of its own.
const BULK_AT_ONCE: usize = 64;

#[async_trait]
impl ExecutionRoom for ValkeyBackend {
    async fn submit(&self, args: SubmitArgs) -> Answer<Submitted> {
        let args = self.checked(args)?;
        let partition = args.execution_id(&self.partitions).partition();
        let entries: Vec<_> = Entry::of(&args.namespace, &args.lane, &args.tags, partition).collect();
        self.calls.directory.note(&self.calls, &entries).await?;
        let submitted = match PlainWork::of(&args, &self.partitions) {
            Some(plain) => self.submissions.ask(&self.calls, plain).await?,
            None => ff_create_execution(&*self.calls, &self.partitions, args).await?,
        };
        // The call may have found a server that had lost everything.
        let listed = self.calls.directory.note(&self.calls, &entries).await;
        listed.map(|()| submitted).map_err(|error| EngineError::Unknown(error.to_string()))
    }

    async fn submit_many(&self, args: Vec<SubmitArgs>) -> Answer<Vec<Answer<Submitted>>> {
        if args.len() > limits::BULK {
            return Err(Refusal::over_limit(Code::LimitExceeded, "executions", limits::BULK, args.len()).into());
        }
        let mut by_partition: BTreeMap<u16, Vec<(usize, SubmitArgs)>> = BTreeMap::new();
        for (nth, one) in args.into_iter().enumerate() {
            by_partition.entry(one.execution_id(&self.partitions).partition()).or_default().push((nth, one));
        }
        let submissions = by_partition.into_values().map(|some| self.submit_in_order(some));
        let answers: Vec<_> = stream::iter(submissions).buffer_unordered(BULK_AT_ONCE).collect().await;
        let mut answers: Vec<_> = answers.into_iter().flatten().collect();
        answers.sort_unstable_by_key(|(nth, _)| *nth);
        Ok(answers.into_iter().map(|(_, answer)| answer).collect())
    }

    async fn describe(&self, id: &ExecutionId) -> Answer<ExecutionInfo> {
        Ok(self.kept(id, Beside::default()).await?.execution.info())
    }

    async fn list(&self, args: ListArgs) -> Answer<Page> {
        self.page(args).await
    }

    async fn payload(&self, id: &ExecutionId) -> Answer<Payload> {
        let kept = self.kept(id, Beside { payload: true, ..Beside::default() }).await?;
        kept.payload.ok_or_else(|| EngineError::Corrupt(format!("{id} has lost its payload")))
    }

    async fn result(&self, id: &ExecutionId) -> Answer<Ended> {
        let Kept { execution, result, .. } = self.kept(id, Beside { result: true, ..Beside::default() }).await?;
        execution.ended(result).ok_or_else(|| {
            let state = execution.public_state();
            let refusal = Code::ExecutionNotTerminal.refusal().in_state(state);
            refusal.because(format!("the execution is {state}")).into()
        })
    }

    async fn attempts(&self, id: &ExecutionId) -> Answer<Attempts> {
        let kept = self.kept(id, Beside { history: true, ..Beside::default() }).await?;
        Ok(kept.execution.attempts(kept.attempts, kept.leases))
    }

    async fn progress(&self, args: ProgressArgs) -> Answer<Noted> {
        Ok(ff_update_progress(&*self.calls, self.checked(args)?).await?)
    }

    async fn complete(&self, args: CompleteArgs) -> Answer<Completed> {
        self.completions.ask(&self.calls, self.checked(args)?).await
    }

    async fn fail(&self, args: FailArgs) -> Answer<Failed> {
        Ok(ff_fail_execution(&*self.calls, self.checked(args)?, &self.dice.nonce()).await?)
    }

    async fn delay(&self, args: DelayArgs) -> Answer<Delayed> {
        Ok(ff_delay_execution(&*self.calls, self.checked(args)?).await?)
    }

    async fn cancel(&self, args: CancelArgs) -> Answer<Cancelled> {
        Ok(ff_cancel_execution(&*self.calls, self.checked(args)?).await?)
    }

    async fn replay(&self, args: ReplayArgs) -> Answer<Replayed> {
        Ok(ff_replay_execution(&*self.calls, self.checked(args)?).await?)
    }

    async fn bulk(&self, args: BulkArgs) -> Answer<BulkPage> {
        self.act_on_page(args).await
    }

    async fn change_priority(&self, args: ChangePriorityArgs) -> Answer<PriorityChanged> {
        Ok(ff_change_priority(&*self.calls, self.checked(args)?).await?)
    }

    async fn set_tags(&self, args: SetTagsArgs) -> Answer<Tagged> {
        let args = self.checked(args)?;
        // Where labels are listed follows from whose execution it is.
        let namespace = self.kept(&args.execution_id, Beside::default()).await?.execution.namespace;
        let entries: Vec<_> = Entry::labels(&namespace, &args.set, args.execution_id.partition()).collect();
        self.calls.directory.note(&self.calls, &entries).await?;
        Ok(ff_set_execution_tags(&*self.calls, args).await?)
    }
}

impl ValkeyBackend {
    /// Submits what belongs on one partition so that it gets there in order: plain work in company, the rest one after
    /// the other.
    async fn submit_in_order(&self, some: Vec<(usize, SubmitArgs)>) -> Vec<(usize, Answer<Submitted>)> {
        let mut answers = Vec::with_capacity(some.len());
        for run in some.chunk_by(|(_, one), (_, next)| PlainWork::is(one) && PlainWork::is(next)) {
            let submissions = run.iter().map(async |(nth, one)| (*nth, self.submit(one.clone()).await));
            answers.extend(join_all(submissions).await);
        }
        answers
    }

    /// The arguments of an operation, unless no state of the store could make them acceptable.
    pub(crate) fn checked<A: Ask + Clone>(&self, args: A) -> Answer<A> {
        args.clone().into_operation().check(&self.partitions)?;
        Ok(args)
    }

    /// Reads one execution and what is asked for beside it, as they stand together.
    pub(crate) async fn kept(&self, id: &ExecutionId, beside: Beside) -> Answer<Kept> {
        check_id(id, &self.partitions)?;
        Ok(ff_read_execution(&*self.calls, id, beside).await?)
    }
}
