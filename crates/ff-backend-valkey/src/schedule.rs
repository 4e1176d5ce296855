//! The domain of schedules, on Valkey. The program decides about a schedule, and the function writes it over the
//! version that was read.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{
    DueSchedule, DueSchedulesArgs, ListSchedulesArgs, PartitionTick, ScheduleWritten, SchedulesPage, WriteScheduleArgs,
};
use ff_core::keys::schedule_partitions_key;
use ff_core::operation::query::{FindSchedule, ReadScheduleAgenda};
use ff_core::partition::schedule_partition;
use ff_core::schedule::{Schedule, ScheduleRef};
use ff_core::types::TimestampMs;
use ff_script::execution::index_keys;
use ff_script::schedule::ff_write_schedule;
use futures_util::{StreamExt, TryStreamExt, stream};
use redis::cmd;

use crate::ValkeyBackend;
use crate::backend::functions;
use crate::call::corrupt;

/// Maximum number of reads at the same time.
const AT_ONCE: usize = 64;

const NOT_A_SCHEDULE: &str = "names something that is not a schedule";

functions! {
    FindSchedule => Option<Schedule>: |store, FindSchedule { ref schedule }| store.find_one(schedule);
    DueSchedulesArgs => Vec<DueSchedule>: |store, args| store.first_looks(args.partition, args.limit);
}

impl Handle<WriteScheduleArgs, ScheduleWritten> for ValkeyBackend {
    async fn handle(&self, args: WriteScheduleArgs) -> Answer<ScheduleWritten> {
        if args.expected == 0 {
            // Write the directory first, so that no partition is missing from it.
            let (index, partition) = (schedule_partitions_key(), schedule_partition(&args.schedule, &self.partitions));
            self.calls.plain(&index, cmd("SADD").arg(&index).arg(partition)).await?;
        }
        Ok(ff_write_schedule(&*self.calls, &self.partitions, &args).await?)
    }
}

impl Handle<ListSchedulesArgs, SchedulesPage> for ValkeyBackend {
    async fn handle(&self, args: ListSchedulesArgs) -> Answer<SchedulesPage> {
        // In byte order `0` directly follows the slash, so this range has all names of the namespace.
        let (first, end) = match &args.after {
            Some(after) => (format!("({}/{after}", args.namespace), format!("({}0", args.namespace)),
            None => (format!("[{}/", args.namespace), format!("({}0", args.namespace)),
        };
        let names_on = |partition: u16| {
            let key = index_keys(partition).schedules();
            let command =
                cmd("ZRANGEBYLEX").arg(&key).arg(&first).arg(&end).arg("LIMIT").arg(0).arg(args.limit + 1).clone();
            async move {
                let names: Vec<String> = self.calls.read(&key, &command, NOT_A_SCHEDULE).await?;
                names.iter().map(|name| schedule_ref(&key, name)).collect::<Answer<Vec<_>>>()
            }
        };
        let partitions = stream::iter(self.schedule_partitions().await?);
        let mut listed: Vec<_> = partitions.map(names_on).buffered(AT_ONCE).try_concat().await?;
        listed.sort();
        let next =
            listed.get(args.limit).and_then(|_| listed.get(args.limit.checked_sub(1)?)).map(|last| last.name.clone());
        listed.truncate(args.limit);
        let read = stream::iter(listed).map(|schedule| async move { self.find_one(&schedule).await }).buffered(AT_ONCE);
        // A listed schedule without a record was removed meanwhile.
        let schedules: Vec<_> = read.try_filter_map(|found| async { Ok(found) }).try_collect().await?;
        Ok(SchedulesPage { schedules, next })
    }
}

impl Handle<ReadScheduleAgenda, Vec<PartitionTick>> for ValkeyBackend {
    async fn handle(&self, _: ReadScheduleAgenda) -> Answer<Vec<PartitionTick>> {
        let first = |partition: u16| async move {
            let first = self.first_looks(partition, 1).await?.into_iter().next();
            Ok(first.map(|first| PartitionTick { partition, look_at: first.look_at }))
        };
        let partitions = stream::iter(self.schedule_partitions().await?);
        partitions.map(first).buffered(AT_ONCE).try_filter_map(|tick| async move { Ok(tick) }).try_collect().await
    }
}

impl ValkeyBackend {
    async fn find_one(&self, schedule: &ScheduleRef) -> Answer<Option<Schedule>> {
        let partition = schedule_partition(schedule, &self.partitions);
        let key = index_keys(partition).schedule(&schedule.namespace, &schedule.name);
        self.calls.read_json(&key, cmd("HGET").arg(&key).arg("record"), "does not hold a schedule").await
    }

    /// Returns the partitions that have or had a schedule.
    async fn schedule_partitions(&self) -> Answer<Vec<u16>> {
        self.calls.members(&schedule_partitions_key(), "names something that is not a partition").await
    }

    /// Returns the schedules of a partition with the earliest next look.
    async fn first_looks(&self, partition: u16, limit: usize) -> Answer<Vec<DueSchedule>> {
        let key = index_keys(partition).schedules_due();
        let last = i64::try_from(limit).unwrap_or(i64::MAX) - 1;
        if last < 0 {
            return Ok(Vec::new());
        }
        let command = cmd("ZRANGE").arg(&key).arg(0).arg(last).arg("WITHSCORES").clone();
        let pairs: Vec<(String, f64)> = self.calls.read(&key, &command, NOT_A_SCHEDULE).await?;
        let due = |(name, at): (String, f64)| {
            #[allow(clippy::cast_possible_truncation, reason = "moments are whole and exact in a double")]
            let look_at = TimestampMs(at as i64);
            Ok(DueSchedule { look_at, schedule: schedule_ref(&key, &name)? })
        };
        pairs.into_iter().map(due).collect()
    }
}

fn schedule_ref(key: &str, name: &str) -> Answer<ScheduleRef> {
    ScheduleRef::parse_key(name).ok_or_else(|| corrupt(key, NOT_A_SCHEDULE))
}
