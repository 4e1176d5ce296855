//! The routes of schedules.

use ff_api::{
    BackfillSchedule, DeleteSchedule, PauseSchedule, PutSchedule, ResumeSchedule, ScheduleView, SchedulesPage,
    TriggerSchedule,
};
use ff_core::contracts::{BackfilledTicks, NextTicks, ScheduleDeleted};
use ff_core::schedule::TickRecord;

use super::builder::OpenApiBuilder;
use crate::request::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/schedules", "Lists the schedules of a namespace.")
        .answers::<SchedulesPage>(200, "One page, ordered by name.")
        .done();
    api.get("/v1/schedules/{schedule}", "Returns a schedule, its next ticks, and the outcome of its last ticks.")
        .answers::<ScheduleView>(200, "The schedule.")
        .done();
    api.get("/v1/schedules/{schedule}/next", "Returns the next ticks of a schedule.")
        .answers::<NextTicks>(200, "The next ticks; none while it is paused.")
        .done();
    api.post("/v1/schedules/{schedule}", "Creates or replaces a schedule.")
        .takes::<PutSchedule>(PutSchedule::BODY_BYTES)
        .answers::<ScheduleView>(200, "The schedule as it is now.")
        .done();
    api.post("/v1/schedules/{schedule}/delete", "Deletes a schedule. Work it has started continues.")
        .takes::<DeleteSchedule>(DeleteSchedule::BODY_BYTES)
        .answers::<ScheduleDeleted>(200, "Whether it existed.")
        .done();
    api.post("/v1/schedules/{schedule}/pause", "Pauses a schedule until it is resumed.")
        .takes::<PauseSchedule>(PauseSchedule::BODY_BYTES)
        .answers::<ScheduleView>(200, "The schedule as it is now.")
        .done();
    api.post("/v1/schedules/{schedule}/resume", "Resumes a schedule. Ticks missed while it was paused do not run.")
        .takes::<ResumeSchedule>(ResumeSchedule::BODY_BYTES)
        .answers::<ScheduleView>(200, "The schedule as it is now.")
        .done();
    api.post("/v1/schedules/{schedule}/trigger", "Runs a tick now, as the overlap policy allows.")
        .takes::<TriggerSchedule>(TriggerSchedule::BODY_BYTES)
        .answers::<TickRecord>(200, "The outcome of the tick.")
        .done();
    api.post("/v1/schedules/{schedule}/backfill", "Runs the ticks of a past range, each once.")
        .takes::<BackfillSchedule>(BackfillSchedule::BODY_BYTES)
        .answers::<BackfilledTicks>(200, "The outcome of each tick.")
        .done();
}
