//! Reading the signals of an execution, oldest first, and the deliveries of a partition.

use ff_core::contracts::ReceivedSignal;
use ff_core::signal::{FeedPart, Position};
use ff_core::types::{ExecutionId, SignalId};

use crate::execution::{core_key, counted_from, index_keys};
use crate::record::{Hash, delivery, received};
use crate::server::ask;
use crate::signature::{ReadDeliveries, ReadSignals};
use crate::{Fields, ScriptError, Server};

/// A page of an execution's signals.
#[derive(Clone, Debug)]
pub struct KeptSignals {
    pub signals: Vec<ReceivedSignal>,
    /// Number of signals that the execution has received.
    pub count: usize,
}

/// Reads a page of an execution's signals, with or without their payloads.
pub async fn ff_read_signals(
    server: &dyn Server,
    id: &ExecutionId,
    skip: usize,
    limit: usize,
    with_payload: bool,
) -> Result<KeptSignals, ScriptError> {
    read(
        server,
        id,
        ReadSignals {
            core: core_key(id),
            signal_id: None,
            skip: counted_from(skip as u64),
            limit: limit as u64,
            with_payload,
        },
    )
    .await
}

/// Reads one signal of an execution with its payload, if the execution received it.
pub async fn ff_read_signal(
    server: &dyn Server,
    id: &ExecutionId,
    signal: &SignalId,
) -> Result<Option<ReceivedSignal>, ScriptError> {
    let signal_id = Some(signal.to_string());
    let one = ReadSignals { core: core_key(id), signal_id, skip: 0, limit: 1, with_payload: true };
    Ok(read(server, id, one).await?.signals.pop())
}

async fn read(server: &dyn Server, id: &ExecutionId, read: ReadSignals) -> Result<KeptSignals, ScriptError> {
    let mut fields = ask(server, read.call()).await?;
    let count = fields.read()?;
    Ok(KeptSignals { signals: signals(*id, &mut fields)?, count })
}

/// Reads a list of signals from a function's answer.
pub(crate) fn signals(id: ExecutionId, fields: &mut Fields) -> Result<Vec<ReceivedSignal>, ScriptError> {
    fields.rows(|row| received(id, row))
}

/// Reads the deliveries of a partition after a position. The reader gets a hint when there is more.
pub async fn ff_read_deliveries(
    server: &dyn Server,
    partition: u16,
    after: Option<Position>,
    limit: usize,
) -> Result<FeedPart, ScriptError> {
    // The server accepts no negative number, so a position before 1970 becomes the first one.
    let after = after.map(|place| if place.at.0 < 0 { Position::default() } else { place }.to_string());
    let mut fields = read_feed(server, partition, false, after, limit).await?;
    fields.text()?;
    let deliveries = fields.rows(|entry| delivery(entry.read()?, &Hash::parse(entry.list()?)?))?;
    Ok(FeedPart { deliveries, missed: fields.maybe_text()?.is_some() })
}

/// Returns the end of a partition's feed. The reader gets a hint when there is more.
pub async fn ff_feed_end(server: &dyn Server, partition: u16) -> Result<Option<Position>, ScriptError> {
    read_feed(server, partition, true, None, 0).await?.maybe_read()
}

async fn read_feed(
    server: &dyn Server,
    partition: u16,
    from_now: bool,
    after: Option<String>,
    limit: usize,
) -> Result<Fields, ScriptError> {
    let partition_signal_delivery = index_keys(partition).partition_signal_delivery();
    let fields =
        ask(server, ReadDeliveries { partition_signal_delivery, from_now, after, limit: limit as u64 }.call()).await?;
    Ok(fields)
}
