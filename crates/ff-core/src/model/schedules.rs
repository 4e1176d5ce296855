//! The schedules of the model.

use std::collections::BTreeMap;

use super::Model;
use crate::partition::{PartitionConfig, schedule_partition};
use crate::schedule::contracts::{DueSchedule, DueSchedulesArgs, ListSchedulesArgs, PartitionTick, SchedulesPage};
use crate::schedule::{Schedule, ScheduleRef, ScheduleWrite};
use crate::types::TimestampMs;

impl Model {
    pub(super) fn write_schedules(&mut self, writes: Vec<ScheduleWrite>) {
        for ScheduleWrite { schedule, record, .. } in writes {
            match record {
                Some(record) => drop(self.schedules.insert(schedule, *record)),
                None => drop(self.schedules.remove(&schedule)),
            }
        }
    }

    pub fn find_schedule(&self, schedule: &ScheduleRef) -> Option<&Schedule> {
        self.schedules.get(schedule)
    }

    /// Returns a page of the schedules of a namespace, in the order of their names.
    pub fn list_schedules(&self, args: &ListSchedulesArgs) -> SchedulesPage {
        let of = self.schedules.values().filter(|schedule| schedule.namespace == args.namespace);
        let rest = of.filter(|schedule| args.after.as_ref().is_none_or(|after| schedule.name > *after));
        SchedulesPage::of(rest.take(args.limit + 1).cloned().collect(), args.limit)
    }

    /// Returns the schedules of a partition that must be processed first.
    pub fn due_schedules(&self, args: &DueSchedulesArgs, partitions: &PartitionConfig) -> Vec<DueSchedule> {
        let here = self.schedules.iter().filter(|(name, _)| schedule_partition(name, partitions) == args.partition);
        let due = here.filter_map(|(name, schedule)| {
            schedule.look_at().map(|look_at| DueSchedule { look_at, schedule: name.clone() })
        });
        let mut due: Vec<_> = due.collect();
        due.sort();
        due.truncate(args.limit);
        due
    }

    /// Returns the time at which the first schedule of each partition must be processed.
    pub fn schedule_agenda(&self, partitions: &PartitionConfig) -> Vec<PartitionTick> {
        let mut first: BTreeMap<u16, TimestampMs> = BTreeMap::new();
        for (name, schedule) in &self.schedules {
            let Some(look_at) = schedule.look_at() else { continue };
            let known = first.entry(schedule_partition(name, partitions)).or_insert(look_at);
            *known = look_at.min(*known);
        }
        first.into_iter().map(|(partition, look_at)| PartitionTick { partition, look_at }).collect()
    }
}
