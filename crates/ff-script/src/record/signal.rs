//! Reading signals and the entries of the signal feed.

use bytes::Bytes;
use ff_core::contracts::ReceivedSignal;
use ff_core::payload::Payload;
use ff_core::signal::{Delivery, Position, Signal, Source};
use ff_core::types::{ContentType, ExecutionId, TimestampMs};

use super::Hash;
use crate::ScriptError;
use crate::reply::Fields;

/// Reads a signal from a function's answer: its id, its names and values, and its bytes or null.
pub(crate) fn received(execution_id: ExecutionId, row: &mut Fields) -> Result<ReceivedSignal, ScriptError> {
    let id = row.read()?;
    let fields = Hash::parse(row.list()?)?;
    let signal = Signal {
        id,
        execution_id,
        waitpoint_id: fields.maybe("waitpoint_id")?,
        name: fields.read("name")?,
        source: source(&fields)?,
        idempotency_key: fields.maybe("idempotency_key")?,
        received_at: TimestampMs(fields.read("received_at")?),
        effect: fields.read("effect")?,
        payload_bytes: fields.count("payload_bytes")?,
    };
    let payload = row.maybe_bytes()?.map(|bytes| payload(&fields, bytes)).transpose()?;
    Ok(ReceivedSignal { signal, payload })
}

/// Reads an entry of the feed.
pub(crate) fn delivery(position: Position, fields: &Hash) -> Result<Delivery, ScriptError> {
    Ok(Delivery {
        position,
        namespace: fields.read("namespace")?,
        execution_id: fields.read("execution_id")?,
        signal_id: fields.read("signal_id")?,
        waitpoint_id: fields.maybe("waitpoint_id")?,
        name: fields.read("name")?,
        source: source(fields)?,
        effect: fields.read("effect")?,
    })
}

fn source(fields: &Hash) -> Result<Source, ScriptError> {
    Ok(Source { kind: fields.read("source_type")?, identity: fields.maybe("source_identity")? })
}

/// Returns a payload. Its content type is stored only when it is not JSON.
fn payload(fields: &Hash, bytes: Bytes) -> Result<Payload, ScriptError> {
    Ok(Payload::new(fields.maybe("content_type")?.unwrap_or_else(ContentType::json), bytes))
}
