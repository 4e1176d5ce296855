//! The feed of a partition's delivered signals.

use ff_core::keys::IndexKeys;
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::signal::{Delivery, FeedPart, Position};

use crate::record::{Hash, delivery};
use crate::signature::ReadDeliveries;
use crate::{FcallResult, Fields, ScriptError, Server};

/// What was delivered on a partition after a place. A hint tells when there is more.
pub async fn ff_read_deliveries(
    server: &dyn Server,
    partition: u16,
    after: Option<Position>,
    limit: usize,
) -> Result<FeedPart, ScriptError> {
    // No place is before 1970; the server takes no other number for one.
    let after = after.map(|place| if place.at.0 < 0 { Position::default() } else { place }.to_string());
    let mut fields = read(server, partition, false, after, limit).await?;
    fields.text()?;
    let entries = fields.list()?;
    let deliveries = entries.into_iter().map(|entry| one(fields.part(entry)?)).collect::<Result<_, _>>()?;
    Ok(FeedPart { deliveries, missed: fields.maybe_text()?.is_some() })
}

/// Where a partition's feed ends now. A hint tells when there is more.
pub async fn ff_feed_end(server: &dyn Server, partition: u16) -> Result<Option<Position>, ScriptError> {
    read(server, partition, true, None, 0).await?.maybe_read()
}

async fn read(
    server: &dyn Server,
    partition: u16,
    from_now: bool,
    after: Option<String>,
    limit: usize,
) -> Result<Fields, ScriptError> {
    let keys = IndexKeys::new(&Partition::new(PartitionFamily::Execution, partition));
    let partition_signal_delivery = keys.partition_signal_delivery();
    let call = ReadDeliveries { partition_signal_delivery, from_now, after, limit: limit as u64 }.call();
    let (fields, _) = FcallResult::parse(call.signature, server.fcall(call).await?)?.into_fields();
    Ok(fields)
}

fn one(mut entry: Fields) -> Result<Delivery, ScriptError> {
    delivery(entry.read()?, &Hash::parse(entry.list()?)?)
}
