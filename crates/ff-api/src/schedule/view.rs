//! Views of schedules on the wire.

use ff_core::contracts::{self, ScheduleInfo};
use ff_core::engine_error::Refusal;
use ff_core::schedule::{Pause, QueuedTick, Schedule, StartedWork, TickRecord};
use ff_core::types::{ExecutionId, FlowId, Namespace, ScheduleId, ScheduleName, TimestampMs};

use super::PutSchedule;
use crate::object::answers;

answers! {
    /// A schedule, with its next and its last ticks.
    #[derive(Clone)]
    pub struct ScheduleView {
        pub schedule_id: ScheduleId,
        pub namespace: Namespace,
        pub name: ScheduleName,
        pub definition: PutSchedule,
        pub version: u64,
        pub created_at: TimestampMs,
        pub changed_at: TimestampMs,
        pub paused: Option<Pause>,
        /// The next tick, also while paused; absent when there is none.
        pub next_tick: Option<TimestampMs>,
        /// The next five ticks; none while it is paused.
        pub next_ticks: Vec<TimestampMs>,
        /// A tick that waits until the work of the previous tick has ended.
        pub queued_tick: Option<TimestampMs>,
        /// When the queued tick is checked again, at the latest.
        pub queued_look_at: Option<TimestampMs>,
        /// The execution that a tick started last.
        pub last_execution_id: Option<ExecutionId>,
        pub last_flow_id: Option<FlowId>,
        /// The last ten ticks, oldest first.
        pub ticks: Vec<TickRecord>,
    }
}

impl ScheduleView {
    pub fn of(info: ScheduleInfo) -> Result<Self, serde_json::Error> {
        let ScheduleInfo { schedule, next_ticks } = info;
        let (last_execution_id, last_flow_id) = match schedule.last_started {
            Some(StartedWork::Execution(id)) => (Some(id), None),
            Some(StartedWork::Flow(id)) => (None, Some(id)),
            None => (None, None),
        };
        Ok(Self {
            schedule_id: schedule.id,
            namespace: schedule.namespace,
            name: schedule.name,
            definition: PutSchedule::of(None, schedule.definition)?,
            version: schedule.version,
            created_at: schedule.created_at,
            changed_at: schedule.changed_at,
            paused: schedule.paused,
            next_tick: schedule.next_tick,
            next_ticks,
            queued_tick: schedule.queued.map(|queued| queued.tick),
            queued_look_at: schedule.queued.map(|queued| queued.look_at),
            last_execution_id,
            last_flow_id,
            ticks: schedule.ticks,
        })
    }

    pub fn into_info(self) -> Result<ScheduleInfo, Refusal> {
        let execution = self.last_execution_id.map(StartedWork::Execution);
        let schedule = Schedule {
            id: self.schedule_id,
            definition: self.definition.into_definition()?.normalized(&self.namespace),
            namespace: self.namespace,
            name: self.name,
            version: self.version,
            created_at: self.created_at,
            changed_at: self.changed_at,
            paused: self.paused,
            next_tick: self.next_tick,
            queued: self.queued_tick.zip(self.queued_look_at).map(|(tick, look_at)| QueuedTick { tick, look_at }),
            last_started: execution.or(self.last_flow_id.map(StartedWork::Flow)),
            ticks: self.ticks,
        };
        Ok(ScheduleInfo { schedule, next_ticks: self.next_ticks })
    }
}

answers! {
    /// One page of a listing of schedules.
    pub struct SchedulesPage {
        pub schedules: Vec<ScheduleView>,
        /// The `after` of the next page; absent on the last one.
        pub next: Option<ScheduleName>,
    }
}

impl SchedulesPage {
    pub fn of(page: contracts::SchedulesPage) -> Result<Self, serde_json::Error> {
        let views = page.schedules.into_iter().map(|schedule| ScheduleView::of(ScheduleInfo::of(schedule)));
        Ok(Self { schedules: views.collect::<Result<_, _>>()?, next: page.next })
    }

    pub fn into_page(self) -> Result<contracts::SchedulesPage, Refusal> {
        let schedules = self.schedules.into_iter().map(|view| Ok(view.into_info()?.schedule));
        Ok(contracts::SchedulesPage { schedules: schedules.collect::<Result<_, Refusal>>()?, next: self.next })
    }
}
