//! The outbox: one event for every end that could not be propagated to all dependents at once. It is stamped when the last
//! dependent is notified.
//!
//! The pump works from the pending propagation in the record of the execution. The events are for programs that read tables. An
//! event is written together with the record that has a pending propagation, and stamped together with the record that has none
//! any more.

use async_trait::async_trait;
use ff_backend_sql::{OutboxChanges, PendingEnd, Question, Read, ReadContext, Value};
use ff_core::backend::Answer;
use ff_core::engine_error::EngineError;
use ff_core::state::TerminalOutcome;
use ff_core::types::{ExecutionId, TimestampMs};

use crate::statement::value::Parameter;

/// Statement that stamps the events of executions whose propagation is no longer pending.
pub(crate) const STAMP: &str = "\
    UPDATE ff_completion_event AS t SET dispatched_at_ms = $3 \
    FROM unnest($1::uuid[], $2::int8[]) AS k(uuid, partition) \
    WHERE t.uuid = k.uuid AND t.partition = k.partition AND t.dispatched_at_ms IS NULL";

/// Statement that writes the events of newly pending propagations.
pub(crate) const ENTER: &str = "\
    INSERT INTO ff_completion_event (uuid, partition, flow_id, outcome, created_at_ms) \
    SELECT * FROM unnest($1::uuid[], $2::int8[], $3::uuid[], $4::text[], $5::int8[])";

const EVENT: &str =
    "SELECT uuid, partition, created_at_ms, dispatched_at_ms FROM ff_completion_event WHERE event_id = $1";

/// Returns the statements that update the outbox to the records of a transaction. Stamps come first, because an execution that
/// ended again gets a new event.
pub(crate) fn requests(
    outbox_changes: &OutboxChanges,
    now: TimestampMs,
) -> impl Iterator<Item = (&'static str, Vec<Parameter>)> {
    let stamp = (!outbox_changes.paid.is_empty()).then(|| {
        let [uuids, partitions] = ids(outbox_changes.paid.iter());
        (STAMP, vec![uuids, partitions, Parameter::one(now.into())])
    });
    let enter = (!outbox_changes.incurred.is_empty()).then(|| {
        let [uuids, partitions] = ids(outbox_changes.incurred.iter().map(|pending_end| &pending_end.execution_id));
        let each = |value: fn(&PendingEnd) -> Value| Parameter::each(outbox_changes.incurred.iter().map(value));
        let flows = each(|pending_end| Value::Uuid(*pending_end.flow_id.as_uuid()));
        let outcomes = each(|pending_end| TerminalOutcome::from(pending_end.outcome).as_str().into());
        (ENTER, vec![uuids, partitions, flows, outcomes, each(|pending_end| pending_end.since.into())])
    });
    stamp.into_iter().chain(enter)
}

fn ids<'i>(ids: impl Iterator<Item = &'i ExecutionId> + Clone) -> [Parameter; 2] {
    let uuids = Parameter::each(ids.clone().map(|id| Value::Uuid(id.uuid())));
    [uuids, Parameter::each(ids.map(|id| id.partition().into()))]
}

/// Question for the event with a number.
pub(crate) struct ReadEvent(pub(crate) i64);

/// An event of the outbox.
pub(crate) struct CompletionEvent {
    /// The ended execution.
    pub(crate) execution_id: ExecutionId,
    /// The time since which its propagation is pending.
    pub(crate) since: TimestampMs,
    /// Whether all dependents have been notified.
    pub(crate) dispatched: bool,
}

#[async_trait]
impl Question for ReadEvent {
    type Answer = Option<CompletionEvent>;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<Self::Answer> {
        let rows = reader.query(EVENT, &[vec![self.0.into()]]).await?;
        let Some(row) = rows.iter().flatten().next() else { return Ok(None) };
        let odd = || EngineError::Corrupt(format!("the completion event {} cannot be read", self.0));
        let [Value::Uuid(uuid), Value::Int(partition), Value::Int(since), stamp] = row.values() else {
            return Err(odd());
        };
        let partition = u16::try_from(*partition).map_err(|_| odd())?;
        let execution_id = ExecutionId::new(partition, *uuid);
        Ok(Some(CompletionEvent { execution_id, since: TimestampMs(*since), dispatched: *stamp != Value::Null }))
    }
}
