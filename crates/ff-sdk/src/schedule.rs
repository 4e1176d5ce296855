//! Schedules: work that starts at planned times.

use ff_core::contracts::{
    BackfillArgs, ListSchedulesArgs, PauseScheduleArgs, PutScheduleArgs, ScheduleDeleted, ScheduleInfo, ScheduleRef,
    SchedulesPage,
};
use ff_core::engine_error::Refusal;
use ff_core::schedule::{ScheduleDefinition, TickRecord};
use ff_core::types::{Namespace, ScheduleName, TimestampMs};

use crate::{Client, Error};

impl Client {
    /// Returns a handle to the schedule of this name, in the namespace of the API key or else in `default`.
    pub fn schedule(&self, name: &str) -> Result<ScheduleHandle, Error> {
        let name = ScheduleName::parse(name).map_err(|error| Refusal::invalid("schedule", error))?;
        let schedule = ScheduleRef { namespace: Namespace::default_name(), name };
        Ok(ScheduleHandle { client: self.clone(), schedule })
    }

    /// Returns a handle to a schedule of another namespace.
    pub fn schedule_of(&self, namespace: &str, name: &str) -> Result<ScheduleHandle, Error> {
        let namespace = Namespace::parse(namespace).map_err(|error| Refusal::invalid("namespace", error))?;
        self.check_named(Some(&namespace))?;
        let ScheduleHandle { client, schedule } = self.schedule(name)?;
        Ok(ScheduleHandle { client, schedule: ScheduleRef { namespace, ..schedule } })
    }

    /// Returns a page of the schedules of a namespace, in the order of their names.
    pub async fn schedules(&self, args: ListSchedulesArgs) -> Result<SchedulesPage, Error> {
        Ok(self.backend().schedules(args).await?)
    }
}

/// A handle to a schedule, by its name. Cheap to clone; creating it makes no call.
#[derive(Clone)]
pub struct ScheduleHandle {
    client: Client,
    schedule: ScheduleRef,
}

impl ScheduleHandle {
    /// Creates or replaces the schedule. The same definition again changes nothing.
    pub async fn put(&self, definition: ScheduleDefinition) -> Result<ScheduleInfo, Error> {
        let args = PutScheduleArgs { schedule: self.schedule.clone(), definition };
        Ok(self.client.backend().put_schedule(args).await?)
    }

    /// Returns the definition of the schedule, its next ticks, and the outcomes of its last ticks.
    pub async fn describe(&self) -> Result<ScheduleInfo, Error> {
        Ok(self.client.backend().describe_schedule(self.schedule.clone()).await?)
    }

    /// Pauses the schedule: it does not tick until it is resumed.
    pub async fn pause(&self, reason: Option<String>) -> Result<ScheduleInfo, Error> {
        let args = PauseScheduleArgs { schedule: self.schedule.clone(), reason };
        Ok(self.client.backend().pause_schedule(args).await?)
    }

    /// Resumes the schedule. Ticks that were due during the pause are not made up for.
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

    /// Returns the next ticks of the schedule.
    pub async fn next(&self, count: usize) -> Result<Vec<TimestampMs>, Error> {
        Ok(self.client.backend().next_ticks(self.schedule.clone(), count).await?.ticks)
    }

    /// Deletes the schedule. Executions and flows that it started continue.
    pub async fn delete(&self) -> Result<ScheduleDeleted, Error> {
        Ok(self.client.backend().delete_schedule(self.schedule.clone()).await?)
    }
}
