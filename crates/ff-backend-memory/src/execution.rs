//! The room of executions, over the model.

use std::cmp::Reverse;

use async_trait::async_trait;
use ff_core::backend::{Answer, ExecutionRoom};
use ff_core::contracts::{
    Attempts, CancelArgs, Cancelled, CompleteArgs, Completed, Cursor, DelayArgs, Delayed, Ended, ExecutionInfo,
    FailArgs, Failed, ListArgs, Noted, Page, ProgressArgs, ReplayArgs, Replayed, SubmitArgs, Submitted,
};
use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::execution::Execution;
use ff_core::limits;
use ff_core::model::Model;
use ff_core::operation::check_id;
use ff_core::payload::Payload;
use ff_core::types::ExecutionId;

use crate::MemoryBackend;

#[async_trait]
impl ExecutionRoom for MemoryBackend {
    async fn submit(&self, args: SubmitArgs) -> Answer<Submitted> {
        self.ask(args)
    }

    async fn submit_many(&self, args: Vec<SubmitArgs>) -> Answer<Vec<Answer<Submitted>>> {
        if args.len() > limits::BULK {
            return Err(Refusal::over_limit(Code::LimitExceeded, "executions", limits::BULK, args.len()).into());
        }
        let mut model = self.model()?;
        Ok(args.into_iter().map(|one| self.perform(&mut model, one)).collect())
    }

    async fn describe(&self, id: &ExecutionId) -> Answer<ExecutionInfo> {
        self.look(id, |_, execution| Ok(execution.info()))
    }

    async fn list(&self, args: ListArgs) -> Answer<Page> {
        args.check()?;
        Ok(page(&*self.model()?, &args))
    }

    async fn payload(&self, id: &ExecutionId) -> Answer<Payload> {
        self.look(id, |model, _| payload_of(model, id))
    }

    async fn result(&self, id: &ExecutionId) -> Answer<Ended> {
        self.look(id, |model, execution| {
            let state = execution.public_state();
            execution.ended(model.result(id).cloned()).ok_or_else(|| {
                let refusal = Code::ExecutionNotTerminal.refusal().in_state(state);
                refusal.because(format!("the execution is {state}")).into()
            })
        })
    }

    async fn attempts(&self, id: &ExecutionId) -> Answer<Attempts> {
        self.look(id, |model, execution| Ok(execution.attempts(model.attempts(id).to_vec(), model.leases(id).to_vec())))
    }

    async fn progress(&self, args: ProgressArgs) -> Answer<Noted> {
        self.ask(args)
    }

    async fn complete(&self, args: CompleteArgs) -> Answer<Completed> {
        self.ask(args)
    }

    async fn fail(&self, args: FailArgs) -> Answer<Failed> {
        self.ask(args)
    }

    async fn delay(&self, args: DelayArgs) -> Answer<Delayed> {
        self.ask(args)
    }

    async fn cancel(&self, args: CancelArgs) -> Answer<Cancelled> {
        self.ask(args)
    }

    async fn replay(&self, args: ReplayArgs) -> Answer<Replayed> {
        self.ask(args)
    }
}

impl MemoryBackend {
    /// Reads one execution, and whatever is kept beside it, as they stand together.
    pub(crate) fn look<T>(&self, id: &ExecutionId, read: impl FnOnce(&Model, &Execution) -> Answer<T>) -> Answer<T> {
        check_id(id, &self.partitions)?;
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

fn page(model: &Model, args: &ListArgs) -> Page {
    let place = |execution: &Execution| Cursor { created_at: execution.created_at, execution_id: execution.id };
    let wanted = |execution: &&Execution| {
        !execution.is_staged()
            && execution.namespace == args.namespace
            && args.lane.as_ref().is_none_or(|lane| execution.lane == *lane)
            && args.state.is_none_or(|state| execution.public_state() == state)
            && args.after.is_none_or(|after| place(execution) < after)
    };
    let mut rows: Vec<_> = model.executions().filter(wanted).collect();
    rows.sort_unstable_by_key(|execution| Reverse(place(execution)));
    let more = rows.len() > args.limit;
    rows.truncate(args.limit);
    Page {
        next: rows.last().filter(|_| more).map(|last| place(last)),
        executions: rows.into_iter().map(Execution::info).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ff_core::clock::ManualClock;
    use ff_core::dice::SeededDice;
    use ff_core::partition::PartitionConfig;
    use ff_core::state::PublicState;
    use ff_core::types::{Kind, LaneId, Namespace, TimestampMs};
    use uuid::Uuid;

    use super::*;

    fn work() -> SubmitArgs {
        SubmitArgs::new(Kind::parse("resize").unwrap(), Payload::json("1"))
    }

    fn everything(limit: usize) -> ListArgs {
        ListArgs { namespace: Namespace::default_name(), lane: None, state: None, after: None, limit }
    }

    #[tokio::test]
    async fn pages_together_are_the_whole_list_newest_first() {
        let clock = Arc::new(ManualClock::at(TimestampMs(1_000)));
        let store = MemoryBackend::new(PartitionConfig::default(), clock.clone(), Arc::new(SeededDice::new(1)));
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
        for (args, expected) in [
            (ListArgs { lane: Some(mail), ..everything(9) }, ids[1]),
            (ListArgs { state: Some(PublicState::Cancelled), ..everything(9) }, ids[0]),
            (ListArgs { namespace: Namespace::parse("acme").unwrap(), ..everything(9) }, ids[2]),
        ] {
            let listed = store.list(args).await.unwrap().executions;
            assert_eq!(listed.iter().map(|row| row.execution_id).collect::<Vec<_>>(), [expected]);
        }
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
