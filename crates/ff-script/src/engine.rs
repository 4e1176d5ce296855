//! The queries of an engine: the time, the number of partitions, due timers, and waiting executions.

use ff_core::backend::entropy::Nonce;
use ff_core::backend::{PartitionStatus, ReadyLane};
use ff_core::contracts::{Head, WorkQueue};
use ff_core::keys::global_config_partitions;
use ff_core::partition::PartitionConfig;
use ff_core::rule::due::{ExpiryCounts, PumpedPartition};
use ff_core::types::TimestampMs;

use crate::execution::index_keys;
use crate::lane::lane_of_index;
use crate::record::class;
use crate::server::ask;
use crate::signature::{ConfigurePartitions, Now, Pump, Sweep};
use crate::{Fields, ScriptError, Server};

/// Returns the time on a partition.
pub async fn ff_now(server: &dyn Server, partition: u16) -> Result<TimestampMs, ScriptError> {
    let mut fields = ask(server, Now { clock_key: index_keys(partition).clock() }.call()).await?;
    fields.read().map(TimestampMs)
}

/// Sets the number of partitions of each family, unless it is set already, and returns the numbers.
pub async fn ff_configure_partitions(
    server: &dyn Server,
    config: &PartitionConfig,
) -> Result<PartitionConfig, ScriptError> {
    let configure = ConfigurePartitions {
        config: global_config_partitions(),
        flow: config.num_flow_partitions.into(),
        budget: config.num_budget_partitions.into(),
        quota: config.num_quota_partitions.into(),
    };
    let mut fields = ask(server, configure.call()).await?;
    Ok(PartitionConfig {
        num_flow_partitions: fields.read()?,
        num_budget_partitions: fields.read()?,
        num_quota_partitions: fields.read()?,
    })
}

/// Fires the due timers of a partition, at most one batch, and returns the time of the next.
pub async fn ff_pump(server: &dyn Server, partition: u16, nonce: &Nonce) -> Result<PumpedPartition, ScriptError> {
    let lease_expiry = index_keys(partition).lease_expiry();
    let mut fields = ask(server, Pump { lease_expiry, jitter: nonce.jitter() }.call()).await?;
    let fired = fields.read()?;
    let lapsed = ExpiryCounts { leases: fields.read()?, attempts: fields.read()?, deadlines: fields.read()? };
    Ok(PumpedPartition { fired, lapsed, next_due: fields.maybe_read()?.map(TimestampMs) })
}

/// Returns the waiting executions of a partition, and the time of the next timer.
pub async fn ff_sweep(server: &dyn Server, partition: u16) -> Result<PartitionStatus, ScriptError> {
    let mut fields = ask(server, Sweep { lanes: index_keys(partition).lanes() }.call()).await?;
    let next_due = fields.maybe_read()?.map(TimestampMs);
    let lane =
        |queue: &mut Fields| lane_of_index(&queue.text()?).ok_or_else(|| ScriptError::parse("a lane cannot be read"));
    let ready = fields.items(|queue| {
        let (lane, kind, class) = (lane(queue)?, queue.read()?, class(&queue.text()?)?);
        let head = Head { behind: queue.read()?, created_at: TimestampMs(queue.read()?) };
        Ok(ReadyLane { lane, kind, class, head })
    })?;
    let unroutable = fields
        .items(|queue| Ok(WorkQueue { lane: lane(queue)?, kind: queue.read()?, class: class(&queue.text()?)? }))?;
    Ok(PartitionStatus { ready, unroutable, next_due })
}
