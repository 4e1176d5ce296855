//! Schedules in the file. An entry is the definition in `POST /v1/schedules/{schedule}`. It does not contain whether
//! the schedule is paused: operators decide that, and applying a file leaves it unchanged.

use std::collections::BTreeMap;

use anyhow::Context;
use ff_api::PutSchedule;
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::contracts::{ListSchedulesArgs, PutScheduleArgs};
use ff_core::engine_error::Refusal;
use ff_core::limits;
use ff_core::schedule::{ScheduleDefinition, TickOf};
use ff_core::types::{Namespace, ScheduleId, ScheduleName};

use super::resource::{Resource, Tenant};
use crate::args::every_page;

/// Returns a definition as an entry of a file.
fn entry(definition: ScheduleDefinition) -> anyhow::Result<PutSchedule> {
    PutSchedule::of(None, definition).context("cannot write JSON")
}

impl Resource for PutSchedule {
    type Name = ScheduleName;

    const SECTION: &'static str = "schedules";
    const NOUN: &'static str = "schedule";

    fn check(&self, namespace: &Namespace, name: &ScheduleName) -> Result<(), Refusal> {
        if self.namespace.is_some() {
            return Err(Refusal::invalid("namespace", "must be absent: the namespace is that of the command"));
        }
        let definition = self.clone().into_args(name.clone())?.definition;
        definition.check(&TickOf { id: ScheduleId::new(), namespace, name, tick: SystemClock.now() })
    }

    async fn stored(tenant: &Tenant) -> anyhow::Result<BTreeMap<ScheduleName, Self>> {
        let read = async |after| {
            let args = ListSchedulesArgs { namespace: tenant.namespace.clone(), after, limit: limits::PAGE };
            let page = tenant.client.schedules(args).await?;
            Ok((page.schedules, page.next))
        };
        let schedules = every_page(None, read).await?;
        schedules.into_iter().map(|schedule| Ok((schedule.name, entry(schedule.definition)?))).collect()
    }

    fn completed(self, _: Option<&Self>) -> anyhow::Result<Self> {
        let PutScheduleArgs { schedule, definition } = self.into_args(ScheduleName::parse("any")?)?;
        entry(definition.normalized(&schedule.namespace))
    }

    async fn write(tenant: &Tenant, name: ScheduleName, _: Option<Self>, to: Option<Self>) -> anyhow::Result<()> {
        let schedule = tenant.client.schedule_of(tenant.namespace.as_str(), name.as_str())?;
        match to {
            Some(to) => drop(schedule.put(to.into_args(name)?.definition).await?),
            None => drop(schedule.delete().await?),
        }
        Ok(())
    }
}
