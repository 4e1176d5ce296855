//! The domain of schedules, over the model.

use ff_core::contracts::{DueSchedule, DueSchedulesArgs, ListSchedulesArgs, PartitionTick, SchedulesPage};
use ff_core::operation::query::{FindSchedule, ReadScheduleAgenda};
use ff_core::schedule::Schedule;

use crate::reads;

reads! {
    FindSchedule => Option<Schedule>: |store, query| store.model()?.find_schedule(&query.schedule).cloned();
    ListSchedulesArgs => SchedulesPage: |store, query| store.model()?.list_schedules(&query);
    DueSchedulesArgs => Vec<DueSchedule>: |store, query| store.model()?.due_schedules(&query, &store.partitions);
    ReadScheduleAgenda => Vec<PartitionTick>: |store, _| store.model()?.schedule_agenda(&store.partitions);
}
