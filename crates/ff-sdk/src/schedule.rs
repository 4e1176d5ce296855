//! Schedules: work that starts at times written ahead.

use ff_core::contracts::{
    BackfillArgs, ListSchedulesArgs, PauseScheduleArgs, PutScheduleArgs, ScheduleDeleted, ScheduleInfo, ScheduleRef,
    SchedulesPage,
};
use ff_core::engine_error::Refusal;
use ff_core::schedule::{ScheduleDefinition, TickRecord};
use ff_core::types::{Namespace, ScheduleName, TimestampMs};

use crate::{Client, Error};

impl Client {
    /// A schedule of the key's namespace, or of `default`, by its name.
    pub fn schedule(&self, name: &str) -> Result<ScheduleHandle, Error> {
        let name = ScheduleName::parse(name).map_err(|error| Refusal::invalid("schedule", error))?;
        let schedule = ScheduleRef { namespace: Namespace::default_name(), name };
        Ok(ScheduleHandle { client: self.clone(), schedule })
    }

    /// A tenant's schedule by its name.
    pub fn schedule_of(&self, namespace: &str, name: &str) -> Result<ScheduleHandle, Error> {
        let namespace = Namespace::parse(namespace).map_err(|error| Refusal::invalid("namespace", error))?;
        self.check_named(Some(&namespace))?;
        let ScheduleHandle { client, schedule } = self.schedule(name)?;
        Ok(ScheduleHandle { client, schedule: ScheduleRef { namespace, ..schedule } })
    }

    /// The schedules of a namespace, a page at a time, in the order of their names.
    pub async fn schedules(&self, args: ListSchedulesArgs) -> Result<SchedulesPage, Error> {
        Ok(self.backend().schedules(args).await?)
    }
}

/// A schedule by its name. Cheap to clone; makes no call before a method is called.
#[derive(Clone)]
pub struct ScheduleHandle {
    client: Client,
    schedule: ScheduleRef,
}

impl ScheduleHandle {
    /// Defines it, or defines it anew. The same again changes nothing.
    pub async fn put(&self, definition: ScheduleDefinition) -> Result<ScheduleInfo, Error> {
        let args = PutScheduleArgs { schedule: self.schedule.clone(), definition };
        Ok(self.client.backend().put_schedule(args).await?)
    }

    /// Its definition, its next tick, and the outcomes of its last ticks.
    pub async fn describe(&self) -> Result<ScheduleInfo, Error> {
        Ok(self.client.backend().describe_schedule(self.schedule.clone()).await?)
    }

    /// Keeps it from ticking until it is resumed.
    pub async fn pause(&self, reason: Option<String>) -> Result<ScheduleInfo, Error> {
        let args = PauseScheduleArgs { schedule: self.schedule.clone(), reason };
        Ok(self.client.backend().pause_schedule(args).await?)
    }

    /// Has it tick again. Ticks that came meanwhile are not made up for.
    pub async fn resume(&self) -> Result<ScheduleInfo, Error> {
        Ok(self.client.backend().resume_schedule(self.schedule.clone()).await?)
    }

    /// Fires a tick now, as the overlap policy allows. A second call fires again.
    pub async fn trigger(&self) -> Result<TickRecord, Error> {
        Ok(self.client.backend().trigger_schedule(self.schedule.clone()).await?)
    }

    /// Fires the ticks of a past range, each once. Safe to repeat.
    pub async fn backfill(&self, from: TimestampMs, to: TimestampMs) -> Result<Vec<TickRecord>, Error> {
        let args = BackfillArgs { schedule: self.schedule.clone(), from, to };
        Ok(self.client.backend().backfill_schedule(args).await?.ticks)
    }

    /// Its next ticks.
    pub async fn next(&self, count: usize) -> Result<Vec<TimestampMs>, Error> {
        Ok(self.client.backend().next_ticks(self.schedule.clone(), count).await?.ticks)
    }

    /// Deletes it. Executions and flows it has started go on.
    pub async fn delete(&self) -> Result<ScheduleDeleted, Error> {
        Ok(self.client.backend().delete_schedule(self.schedule.clone()).await?)
    }
}
