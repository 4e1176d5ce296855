//! The domain of schedules, over the model.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{DueSchedule, DueSchedulesArgs, ListSchedulesArgs, PartitionTick, SchedulesPage};
use ff_core::query::{FindSchedule, ReadScheduleAgenda};
use ff_core::schedule::Schedule;

use crate::MemoryBackend;

impl Handle<FindSchedule, Option<Schedule>> for MemoryBackend {
    async fn handle(&self, FindSchedule { ref schedule }: FindSchedule) -> Answer<Option<Schedule>> {
        Ok(self.model()?.find_schedule(schedule).cloned())
    }
}

impl Handle<ListSchedulesArgs, SchedulesPage> for MemoryBackend {
    async fn handle(&self, args: ListSchedulesArgs) -> Answer<SchedulesPage> {
        Ok(self.model()?.list_schedules(&args))
    }
}

impl Handle<DueSchedulesArgs, Vec<DueSchedule>> for MemoryBackend {
    async fn handle(&self, args: DueSchedulesArgs) -> Answer<Vec<DueSchedule>> {
        Ok(self.model()?.due_schedules(&args, &self.partitions))
    }
}

impl Handle<ReadScheduleAgenda, Vec<PartitionTick>> for MemoryBackend {
    async fn handle(&self, _: ReadScheduleAgenda) -> Answer<Vec<PartitionTick>> {
        Ok(self.model()?.schedule_agenda(&self.partitions))
    }
}
