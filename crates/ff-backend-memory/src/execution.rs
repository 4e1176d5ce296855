//! The domain of executions, over the model.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{Attempts, ExecutionEnd, ExecutionInfo, ListArgs, Page};
use ff_core::engine_error::{Code, EngineError};
use ff_core::execution::Execution;
use ff_core::model::Model;
use ff_core::payload::Payload;
use ff_core::query::{Describe, EndOf, NamespaceOf, ReadAttempts, ReadPayload, ReadResult};
use ff_core::types::{ExecutionId, Namespace};

use crate::MemoryBackend;

impl Handle<Describe, ExecutionInfo> for MemoryBackend {
    async fn handle(&self, Describe { execution_id: ref id }: Describe) -> Answer<ExecutionInfo> {
        self.look(id, |_, execution| Ok(execution.info()))
    }
}

impl Handle<ListArgs, Page> for MemoryBackend {
    async fn handle(&self, args: ListArgs) -> Answer<Page> {
        Ok(Page::of(self.model()?.newest(&args), &args))
    }
}

impl Handle<ReadPayload, Payload> for MemoryBackend {
    async fn handle(&self, ReadPayload { execution_id: ref id }: ReadPayload) -> Answer<Payload> {
        self.look(id, |model, _| payload_of(model, id))
    }
}

impl Handle<ReadResult, ExecutionEnd> for MemoryBackend {
    async fn handle(&self, ReadResult { execution_id: ref id }: ReadResult) -> Answer<ExecutionEnd> {
        self.look(id, |model, execution| {
            let state = execution.public_state();
            execution.ended(model.result(id).cloned()).ok_or_else(|| {
                let refusal = Code::ExecutionNotTerminal.refusal().in_state(state);
                refusal.because(format!("the execution is {state}")).into()
            })
        })
    }
}

impl Handle<EndOf, Option<ExecutionEnd>> for MemoryBackend {
    async fn handle(&self, EndOf { execution_id: ref id }: EndOf) -> Answer<Option<ExecutionEnd>> {
        self.look(id, |model, execution| Ok(execution.ended(model.result(id).cloned())))
    }
}

impl Handle<ReadAttempts, Attempts> for MemoryBackend {
    async fn handle(&self, ReadAttempts { execution_id: ref id }: ReadAttempts) -> Answer<Attempts> {
        self.look(id, |model, execution| Ok(execution.attempts(model.attempts(id).to_vec(), model.leases(id).to_vec())))
    }
}

impl Handle<NamespaceOf, Option<Namespace>> for MemoryBackend {
    async fn handle(&self, NamespaceOf { execution_id: ref id }: NamespaceOf) -> Answer<Option<Namespace>> {
        Ok(self.model()?.find(id).map(|execution| execution.namespace.clone()))
    }
}

impl MemoryBackend {
    /// Reads one execution, and whatever is kept beside it, as they stand together.
    pub(crate) fn look<T>(&self, id: &ExecutionId, read: impl FnOnce(&Model, &Execution) -> Answer<T>) -> Answer<T> {
        let model = self.model()?;
        let execution = model.find(id).filter(|execution| is_visible(&model, execution));
        read(&model, execution.ok_or(Code::ExecutionNotFound)?)
    }
}

/// Whether an execution is there for whoever asks: what is staged is not, until its flow is.
fn is_visible(model: &Model, execution: &Execution) -> bool {
    let flow = execution.membership.as_ref().filter(|_| execution.is_staged()).map(|membership| membership.flow_id);
    flow.is_none_or(|flow| model.find_flow(&flow).is_some())
}

/// The bytes an execution was submitted with. Every execution has some, if only none.
pub(crate) fn payload_of(model: &Model, id: &ExecutionId) -> Answer<Payload> {
    model.payload(id).cloned().ok_or_else(|| EngineError::Corrupt(format!("{id} has lost its payload")))
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::sync::Arc;

    use ff_core::backend::Perform;
    use ff_core::clock::ManualClock;
    use ff_core::contracts::{BulkAction, BulkArgs, CancelArgs, Filter, SetTagsArgs, SubmitArgs};
    use ff_core::entropy::SeededEntropy;
    use ff_core::execution::Tags;
    use ff_core::limits;
    use ff_core::partition::PartitionConfig;
    use ff_core::state::PublicState;
    use ff_core::types::{Kind, LaneId, Namespace, TagKey, TagValue, TimestampMs};
    use ff_engine::Orchestration;
    use uuid::Uuid;

    use super::*;

    fn work() -> SubmitArgs {
        SubmitArgs::new(Kind::parse("resize").unwrap(), Payload::json("1"))
    }

    fn everything(limit: usize) -> ListArgs {
        ListArgs { filter: Filter::everything(Namespace::default_name()), after: None, limit }
    }

    #[tokio::test]
    async fn pages_together_are_the_whole_list_newest_first() {
        let clock = Arc::new(ManualClock::at(TimestampMs(1_000)));
        let store = MemoryBackend::new(PartitionConfig::default(), clock.clone(), Arc::new(SeededEntropy::new(1)));
        for _ in 0..2 {
            store.submit_many(vec![work(), work()]).await.unwrap();
            clock.advance(1);
        }
        let mut args = everything(3);
        let first = store.list(args.clone()).await.unwrap();
        args.after = first.next;
        let second = store.list(args).await.unwrap();
        assert_eq!((first.executions.len(), second.executions.len(), second.next), (3, 1, None));
        let paged: Vec<_> = first.executions.into_iter().chain(second.executions).collect();
        assert!(paged.is_sorted_by_key(|row| Reverse((row.created_at, row.execution_id))));
        let whole = store.list(everything(4)).await.unwrap();
        assert_eq!((whole.executions, whole.next), (paged, None), "a full last page is still the last");
    }

    #[tokio::test]
    async fn a_list_has_only_what_was_asked_for() {
        let store = MemoryBackend::default();
        let mail = LaneId::parse("mail").unwrap();
        let (one, two) = (work(), SubmitArgs { lane: mail.clone(), ..work() });
        let other = SubmitArgs { namespace: Namespace::parse("acme").unwrap(), ..work() };
        let answers = store.submit_many(vec![one, two, other]).await.unwrap();
        let ids: Vec<_> = answers.into_iter().map(|answer| answer.unwrap().execution_id).collect();
        store.cancel(CancelArgs { execution_id: ids[0], reason: None, requested_by: None }).await.unwrap();
        let tag = (TagKey::parse("team").unwrap(), TagValue::parse("data").unwrap());
        let set = Tags::from([tag]);
        store.set_tags(SetTagsArgs { execution_id: ids[1], set: set.clone(), remove: [].into() }).await.unwrap();
        let all = Filter::everything(Namespace::default_name());
        for (filter, expected) in [
            (Filter { lane: Some(mail), ..all.clone() }, ids[1]),
            (Filter { state: Some(PublicState::Cancelled), ..all.clone() }, ids[0]),
            (Filter { tags: set, ..all.clone() }, ids[1]),
            (Filter { state: Some(PublicState::Waiting), ..all }, ids[1]),
            (Filter::everything(Namespace::parse("acme").unwrap()), ids[2]),
        ] {
            let listed = store.list(ListArgs { filter, ..everything(9) }).await.unwrap().executions;
            assert_eq!(listed.iter().map(|row| row.execution_id).collect::<Vec<_>>(), [expected]);
        }
    }

    /// Everything that is done, page after page.
    async fn do_all(store: &MemoryBackend, mut args: BulkArgs) -> (usize, usize) {
        let (mut done, mut refused) = (0, 0);
        loop {
            let page = store.bulk(args.clone()).await.unwrap();
            done += page.executions.len();
            refused += page.refused.len();
            (args.as_of, args.after) = (Some(page.as_of), page.next);
            if page.next.is_none() {
                return (done, refused);
            }
        }
    }

    #[tokio::test]
    async fn many_are_cancelled_and_replayed_by_what_they_are() {
        let clock = Arc::new(ManualClock::at(TimestampMs(1_000)));
        let store = MemoryBackend::new(PartitionConfig::default(), clock.clone(), Arc::new(SeededEntropy::new(1)));
        store.submit_many((0..7).map(|_| work()).collect()).await.unwrap();
        let mut spent = work();
        spent.policy.max_replay_count = 0;
        store.submit(spent).await.unwrap();
        let filter = Filter::everything(Namespace::default_name());
        let action = BulkAction::Cancel { reason: Some("moved".into()), requested_by: None };
        let args = BulkArgs { filter: filter.clone(), action, dry_run: true, as_of: None, after: None, limit: 3 };
        assert_eq!(do_all(&store, args.clone()).await, (8, 0));
        let live = ListArgs { filter: Filter { state: Some(PublicState::Waiting), ..filter }, ..everything(9) };
        assert_eq!(store.list(live).await.unwrap().executions.len(), 8, "a dry run does nothing");
        assert_eq!(do_all(&store, BulkArgs { dry_run: false, ..args.clone() }).await, (8, 0));
        assert_eq!(do_all(&store, BulkArgs { dry_run: false, ..args.clone() }).await, (0, 0), "nothing is left");

        let action = BulkAction::Replay { reason: None, requested_by: None, reopen_downstream: false };
        let replay = BulkArgs { action, dry_run: false, as_of: Some(TimestampMs(1_000)), ..args };
        clock.advance(5);
        assert_eq!(do_all(&store, replay.clone()).await, (7, 1), "one may not be replayed any more");
        let ended =
            BulkArgs { action: BulkAction::Cancel { reason: None, requested_by: None }, as_of: None, ..replay.clone() };
        assert_eq!(do_all(&store, ended).await, (7, 0));
        assert_eq!(do_all(&store, replay).await, (0, 1), "what was replayed before and ended again is left alone");
    }

    #[tokio::test]
    async fn a_bulk_is_taken_at_its_limit_and_refused_one_past_it() {
        let store = MemoryBackend::default();
        assert_eq!(store.submit_many(vec![]).await, Ok(vec![]));
        let refused = store.submit_many(vec![work(); limits::BULK + 1]).await.unwrap_err();
        assert_eq!(refused.code(), Code::LimitExceeded);
        assert_eq!(store.list(everything(1)).await.unwrap().executions, []);
        let answers = store.submit_many((0..limits::BULK).map(|_| work()).collect()).await.unwrap();
        assert!(answers.iter().all(Result::is_ok));
        assert_eq!(answers.len(), limits::BULK);
    }

    #[tokio::test]
    async fn an_id_that_cannot_be_here_is_told_from_one_that_is_not() {
        let store = MemoryBackend::default();
        let absent = ExecutionId::new(255, Uuid::nil());
        assert_eq!(store.describe(&absent).await.unwrap_err().code(), Code::ExecutionNotFound);
        assert_eq!(store.attempts(&absent).await.unwrap_err().code(), Code::ExecutionNotFound);
        let beyond = ExecutionId::new(256, Uuid::nil());
        assert_eq!(store.payload(&beyond).await.unwrap_err().code(), Code::InvalidExecutionId);
        assert_eq!(store.result(&beyond).await.unwrap_err().code(), Code::InvalidExecutionId);
    }
}
