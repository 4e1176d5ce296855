//! The events of flows: one row each, the newest of every flow kept.

use ff_core::flow::FlowEvent;
use ff_core::limits;
use ff_core::types::FlowId;

use crate::error::SqlError;
use crate::record;
use crate::schema::FLOW_EVENT;
use crate::session::{Key, Put, Session};
use crate::value::Value;

/// The row of something that happened in a flow.
pub(crate) fn flow_event_of(flow: &FlowId, event: &FlowEvent) -> Result<Put, SqlError> {
    let mut values = key_of_event(flow, event.seq);
    values.push(record::written(event)?);
    Ok(Put::whole(values))
}

/// Deletes what these events have pushed out. Events are numbered without gaps, so each pushes out one whose number is
/// known, once there are that many.
pub(crate) async fn trim_events(session: &mut dyn Session, events: &[(FlowId, FlowEvent)]) -> Result<(), SqlError> {
    let surplus = |(flow, event): &(FlowId, FlowEvent)| {
        Some(key_of_event(flow, event.seq.checked_sub(limits::FLOW_EVENTS as u64)?))
    };
    let keys: Vec<_> = events.iter().filter_map(surplus).collect();
    if keys.is_empty() { Ok(()) } else { session.delete(&FLOW_EVENT, &keys).await }
}

fn key_of_event(flow: &FlowId, seq: u64) -> Key {
    vec![Value::Uuid(*flow.as_uuid()), Value::number(seq)]
}
