//! The function of schedules.

use ff_core::contracts::{ScheduleWritten, WriteScheduleArgs};
use ff_core::partition::{PartitionConfig, schedule_partition};
use ff_core::schedule::Schedule;

use crate::execution::index_keys;
use crate::server::ask_word;
use crate::signature::WriteSchedule;
use crate::{ScriptError, Server};

/// Replaces a given version of a schedule, or removes it.
pub async fn ff_write_schedule(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: &WriteScheduleArgs,
) -> Result<ScheduleWritten, ScriptError> {
    let keys = index_keys(schedule_partition(&args.schedule, partitions));
    let record = args.record.as_deref();
    let write = WriteSchedule {
        schedule: keys.schedule(&args.schedule.namespace, &args.schedule.name),
        all_schedules: keys.schedules(),
        looks: keys.schedules_due(),
        name: args.schedule.key(),
        expected: args.expected,
        version: record.map(|record| record.version),
        look_at: record.and_then(Schedule::look_at).map(|at| u64::try_from(at.0).unwrap_or(0)),
        json: record.map(written).transpose()?,
    };
    let written: u8 = ask_word(server, write.call()).await?;
    Ok(ScheduleWritten { written: written == 1 })
}

fn written(schedule: &Schedule) -> Result<String, ScriptError> {
    serde_json::to_string(schedule)
        .map_err(|error| ScriptError::parse(format!("a schedule cannot be written: {error}")))
}
