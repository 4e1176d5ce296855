//! The queries of an engine: the time, the number of partitions, due timers, and waiting executions.

use ff_core::backend::{PartitionStatus, ReadyLane};
use ff_core::contracts::{Head, WorkQueue};
use ff_core::due::{ExpiryCounts, PumpedPartition};
use ff_core::entropy::Nonce;
use ff_core::keys::{IndexKeys, global_config_partitions};
use ff_core::partition::{Partition, PartitionConfig, PartitionFamily};
use ff_core::types::TimestampMs;

use crate::lane::lane_of_index;
use crate::record::class;
use crate::server::ask;
use crate::signature::{ConfigurePartitions, Now, Pump, Sweep};
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

fn index_keys(partition: u16) -> IndexKeys {
    IndexKeys::new(&Partition::new(PartitionFamily::Execution, partition))
}

/// Returns the time on a partition.
pub async fn ff_now(server: &dyn Server, partition: u16) -> Result<TimestampMs, ScriptError> {
    ask(server, Now { clock_key: index_keys(partition).clock() }.call()).await
}

impl FromFcallResult for TimestampMs {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        fields.read().map(Self)
    }
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
    ask(server, configure.call()).await
}

impl FromFcallResult for PartitionConfig {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        Ok(Self {
            num_flow_partitions: fields.read()?,
            num_budget_partitions: fields.read()?,
            num_quota_partitions: fields.read()?,
        })
    }
}

/// Fires the due timers of a partition, at most one batch, and returns the time of the next.
pub async fn ff_pump(server: &dyn Server, partition: u16, nonce: &Nonce) -> Result<PumpedPartition, ScriptError> {
    let lease_expiry = index_keys(partition).lease_expiry();
    ask(server, Pump { lease_expiry, jitter: nonce.jitter() }.call()).await
}

impl FromFcallResult for PumpedPartition {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let fired = fields.read()?;
        let lapsed = ExpiryCounts { leases: fields.read()?, attempts: fields.read()?, deadlines: fields.read()? };
        Ok(Self { fired, lapsed, next_due: fields.maybe_read()?.map(TimestampMs) })
    }
}

/// Returns the waiting executions of a partition, and the time of the next timer.
pub async fn ff_sweep(server: &dyn Server, partition: u16) -> Result<PartitionStatus, ScriptError> {
    ask(server, Sweep { lanes: index_keys(partition).lanes() }.call()).await
}

impl FromFcallResult for PartitionStatus {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let next_due = fields.maybe_read()?.map(TimestampMs);
        let mut queues = fields.nested()?;
        let mut ready = Vec::new();
        while !queues.is_empty() {
            let lane = lane_of_index(&queues.text()?).ok_or_else(|| ScriptError::parse("a lane cannot be read"))?;
            let kind = queues.read()?;
            let class = class(&queues.text()?)?;
            let head = Head { behind: queues.read()?, created_at: TimestampMs(queues.read()?) };
            ready.push(ReadyLane { lane, kind, class, head });
        }
        let (mut queues, mut unroutable) = (fields.nested()?, Vec::new());
        while !queues.is_empty() {
            let lane = lane_of_index(&queues.text()?).ok_or_else(|| ScriptError::parse("a lane cannot be read"))?;
            unroutable.push(WorkQueue { lane, kind: queues.read()?, class: class(&queues.text()?)? });
        }
        Ok(Self { ready, unroutable, next_due })
    }
}
