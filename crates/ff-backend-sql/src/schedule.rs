//! The domain of schedules: their rows and queries.

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::contracts::{DueSchedule, DueSchedulesArgs, ListSchedulesArgs, PartitionTick, SchedulesPage};
use ff_core::operation::query::{FindSchedule, ReadScheduleAgenda};
use ff_core::schedule::{Schedule, ScheduleRef};
use ff_core::types::{Namespace, ScheduleName};

use crate::ReadContext;
use crate::error::{SqlError, unreadable};
use crate::session::{Key, Put, Question, Read, load_record};
use crate::table::record;
use crate::table::schema::SCHEDULE;
use crate::table::value::{Row, Value};

/// Selects the next schedules of a namespace, ordered by name.
pub(crate) const SCHEDULES_AFTER: &str =
    "SELECT record FROM schedule WHERE namespace = $1 AND name > $2 ORDER BY name LIMIT $3";

/// Selects the schedules of a partition with the earliest `look_at`.
pub(crate) const DUE_SCHEDULES: &str = "\
    SELECT look_at, namespace, name FROM schedule WHERE look_at IS NOT NULL AND partition = $1 \
    ORDER BY look_at, namespace, name LIMIT $2";

/// Selects the partitions with an active schedule, from each to the next, with the earliest `look_at` of each.
pub(crate) const SCHEDULE_AGENDA: &str = "\
    WITH RECURSIVE step (partition) AS (\
        SELECT -1 \
        UNION ALL \
        SELECT (SELECT partition FROM schedule \
                WHERE look_at IS NOT NULL AND partition > step.partition ORDER BY partition LIMIT 1) \
        FROM step WHERE step.partition IS NOT NULL) \
    SELECT step.partition, (SELECT look_at FROM schedule \
                            WHERE look_at IS NOT NULL AND partition = step.partition ORDER BY look_at LIMIT 1) \
    FROM step WHERE step.partition >= 0";

pub(crate) fn key_of_schedule((_, schedule): &(u16, ScheduleRef)) -> Key {
    vec![schedule.namespace.as_str().into(), schedule.name.as_str().into()]
}

pub(crate) fn schedule_of(id: &(u16, ScheduleRef), schedule: &Schedule) -> Result<Put, SqlError> {
    Ok(Put::under(key_of_schedule(id), [id.0.into(), schedule.look_at().into(), record::written(schedule)?]))
}

#[async_trait]
impl Question for FindSchedule {
    type Answer = Option<Schedule>;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<Option<Schedule>> {
        Ok(load_record(reader, &SCHEDULE, key_of_schedule(&(0, self.schedule))).await?)
    }
}

#[async_trait]
impl Question for ListSchedulesArgs {
    type Answer = SchedulesPage;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<SchedulesPage> {
        let after = self.after.as_ref().map_or("", ScheduleName::as_str);
        let parameters = vec![self.namespace.as_str().into(), after.into(), Value::number(self.limit + 1)];
        let rows = reader.query(SCHEDULES_AFTER, &[parameters]).await?;
        let schedules = rows.iter().flatten().map(|row| record::read(row.text(0)?));
        Ok(SchedulesPage::of(schedules.collect::<Result<_, SqlError>>()?, self.limit))
    }
}

#[async_trait]
impl Question for DueSchedulesArgs {
    type Answer = Vec<DueSchedule>;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<Vec<DueSchedule>> {
        let parameters = vec![self.partition.into(), Value::number(self.limit)];
        let rows = reader.query(DUE_SCHEDULES, &[parameters]).await?;
        let due = |row: &Row| {
            let namespace = Namespace::parse(row.text(1)?).map_err(unreadable("a namespace"))?;
            let name = ScheduleName::parse(row.text(2)?).map_err(unreadable("the name of a schedule"))?;
            Ok(DueSchedule { look_at: row.moment(0)?, schedule: ScheduleRef { namespace, name } })
        };
        Ok(rows.iter().flatten().map(due).collect::<Result<_, SqlError>>()?)
    }
}

#[async_trait]
impl Question for ReadScheduleAgenda {
    type Answer = Vec<PartitionTick>;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<Vec<PartitionTick>> {
        let rows = reader.query(SCHEDULE_AGENDA, &[Vec::new()]).await?;
        let tick = |row: &Row| Ok(PartitionTick { partition: row.partition(0)?, look_at: row.moment(1)? });
        Ok(rows.iter().flatten().map(tick).collect::<Result<_, SqlError>>()?)
    }
}
