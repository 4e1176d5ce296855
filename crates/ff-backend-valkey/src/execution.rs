//! The domain of executions, on Valkey.

use std::sync::Arc;

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{
    Attempts, BlockArgs, BlockedCount, CancelArgs, CancelledExecution, ChangePriorityArgs, CompleteArgs,
    CompletedExecution, DeadlineExtended, DelayArgs, DelayedExecution, ExecutionEnd, ExecutionInfo, ExtendDeadlineArgs,
    FailArgs, FailedAttempt, HoldArgs, HoldPlaced, HoldReleased, ListArgs, Page, PriorityChanged, ProgressArgs,
    RecordedProgress, ReleaseHoldArgs, ReplayArgs, ReplayedExecution, SetTagsArgs, SubmitArgs, SubmittedExecution,
    TaggedExecution, UnblockArgs, UnblockedExecutions,
};
use ff_core::engine_error::{Code, EngineError};
use ff_core::operation::query::{Describe, ReadAttempts, ReadPayload, ReadResult};
use ff_core::payload::Payload;
use ff_core::types::{ExecutionId, TimestampMs};
use ff_script::execution::{
    ExtraReads, core_key, ff_block_executions, ff_cancel_execution, ff_change_priority, ff_create_keyed_execution,
    ff_delay_execution, ff_fail_execution, ff_hold_execution, ff_read_execution, ff_release_hold, ff_replay_execution,
    ff_set_execution_tags, ff_unblock_executions, ff_update_progress, moment,
};
use ff_script::signature::ExtendDeadline;
use ff_script::{ScriptError, StoredExecution, ask_fields};

use crate::ValkeyBackend;
use crate::backend::functions;
use crate::call::Submission;
use crate::directory::Entry;

impl Handle<SubmitArgs, SubmittedExecution> for ValkeyBackend {
    async fn handle(&self, args: SubmitArgs) -> Answer<SubmittedExecution> {
        let (partitions, execution_id) = (self.partitions, args.execution_id(&self.partitions));
        let entries: Arc<[_]> = Entry::of(&args.namespace, &args.lane, &args.tags, execution_id.partition()).collect();
        let submitted = match args.key_rule.clone() {
            // It is not sent together with others, because it may end one of them.
            Some(rule) => {
                self.calls.note(&entries).await?;
                ff_create_keyed_execution(&*self.calls, &partitions, args, &rule).await?
            }
            None => {
                let submission = Submission { execution_id, args, partitions, entries: entries.clone() };
                self.submissions.ask(&self.calls, submission).await?
            }
        };
        self.calls.note_again(&entries).await?;
        Ok(submitted)
    }
}

impl Handle<Describe, ExecutionInfo> for ValkeyBackend {
    async fn handle(&self, Describe { execution_id: ref id }: Describe) -> Answer<ExecutionInfo> {
        Ok(self.stored_execution(id, ExtraReads::default()).await?.execution.info())
    }
}

impl Handle<ReadPayload, Payload> for ValkeyBackend {
    async fn handle(&self, ReadPayload { execution_id: ref id }: ReadPayload) -> Answer<Payload> {
        let record = self.stored_execution(id, ExtraReads { payload: true, ..ExtraReads::default() }).await?;
        record.payload.ok_or_else(|| EngineError::Corrupt(format!("{id} has lost its payload")))
    }
}

impl Handle<ReadResult, ExecutionEnd> for ValkeyBackend {
    async fn handle(&self, ReadResult { execution_id: ref id }: ReadResult) -> Answer<ExecutionEnd> {
        let StoredExecution { execution, result, .. } =
            self.stored_execution(id, ExtraReads { result: true, ..ExtraReads::default() }).await?;
        execution.ended(result).ok_or_else(|| {
            let state = execution.public_state();
            let refusal = Code::ExecutionNotTerminal.refusal().in_state(state);
            refusal.because(format!("the execution is {state}")).into()
        })
    }
}

impl Handle<ReadAttempts, Attempts> for ValkeyBackend {
    async fn handle(&self, ReadAttempts { execution_id: ref id }: ReadAttempts) -> Answer<Attempts> {
        let record = self.stored_execution(id, ExtraReads { history: true, ..ExtraReads::default() }).await?;
        Ok(record.execution.attempts(record.attempts, record.leases))
    }
}

functions! {
    ListArgs => Page: |store, args| store.page(args);
    CompleteArgs => CompletedExecution: |store, args| store.completions.ask(&store.calls, args);
    ProgressArgs => RecordedProgress: |store, args| ff_update_progress(&*store.calls, args);
    FailArgs => FailedAttempt: |store, args| ff_fail_execution(&*store.calls, args, &store.entropy.nonce());
    DelayArgs => DelayedExecution: |store, args| ff_delay_execution(&*store.calls, args);
    CancelArgs => CancelledExecution: |store, args| ff_cancel_execution(&*store.calls, args);
    ReplayArgs => ReplayedExecution: |store, args| ff_replay_execution(&*store.calls, args);
    ChangePriorityArgs => PriorityChanged: |store, args| ff_change_priority(&*store.calls, args);
    HoldArgs => HoldPlaced: |store, args| ff_hold_execution(&*store.calls, args);
    ReleaseHoldArgs => HoldReleased: |store, args| ff_release_hold(&*store.calls, args);
    BlockArgs => BlockedCount: |store, args| ff_block_executions(&*store.calls, args);
    UnblockArgs => UnblockedExecutions: |store, args| ff_unblock_executions(&*store.calls, args);
    ExtendDeadlineArgs => DeadlineExtended: |store, args| async {
        let ExtendDeadlineArgs { execution_id, deadline_at } = args;
        let call = ExtendDeadline { core: core_key(&execution_id), deadline_at: moment(deadline_at) }.call();
        let (mut fields, _) = ask_fields(&*store.calls, call).await?;
        Ok::<_, ScriptError>(DeadlineExtended { from: fields.maybe_read()?.map(TimestampMs), deadline_at })
    };
}

impl Handle<SetTagsArgs, TaggedExecution> for ValkeyBackend {
    async fn handle(&self, args: SetTagsArgs) -> Answer<TaggedExecution> {
        // The directory of a label depends on the namespace of the execution.
        let namespace =
            self.stored_execution(&args.execution_id, ExtraReads::default()).await?.execution.namespace.clone();
        let entries: Vec<_> = Entry::labels(&namespace, &args.set, args.execution_id.partition()).collect();
        self.calls.note(&entries).await?;
        Ok(ff_set_execution_tags(&*self.calls, args).await?)
    }
}

impl ValkeyBackend {
    /// Reads one execution and the requested further records in one consistent snapshot.
    pub(crate) async fn stored_execution(&self, id: &ExecutionId, beside: ExtraReads) -> Answer<StoredExecution> {
        Ok(ff_read_execution(&*self.calls, id, beside).await?)
    }
}
