//! The routes of schedules.

use ff_api::{
    BackfillSchedule, DeleteSchedule, PauseSchedule, PutSchedule, ResumeSchedule, ScheduleView, SchedulesPage,
    TriggerSchedule,
};
use ff_core::contracts::{BackfilledTicks, NextTicks, ScheduleDeleted};
use ff_core::schedule::TickRecord;
use ff_core::types::{Namespace, ScheduleName};

use super::builder::OpenApiBuilder;
use crate::body::BodyLimit;

pub(super) fn describe(api: &mut OpenApiBuilder) {
    api.get("/v1/schedules", "Lists the schedules of a namespace.")
        .query::<Namespace>("namespace", "Of this namespace; `default` unless given.")
        .query::<ScheduleName>("after", "Those after this one, in the order of their names.")
        .query::<u64>("limit", "How many at most.")
        .answers::<SchedulesPage>(200, "A page of them, by name.")
        .done();
    api.get(
        "/v1/schedules/{schedule}",
        "Says how a schedule is defined, when it ticks next, and what became of its last ticks.",
    )
    .query::<Namespace>("namespace", "Of this namespace; `default` unless given.")
    .answers::<ScheduleView>(200, "The schedule.")
    .done();
    api.get("/v1/schedules/{schedule}/next", "Says when a schedule ticks next.")
        .query::<Namespace>("namespace", "Of this namespace; `default` unless given.")
        .query::<u64>("count", "How many ticks at most; 5 unless given.")
        .answers::<NextTicks>(200, "The next ticks; none while it is paused.")
        .done();
    api.post("/v1/schedules/{schedule}", "Defines a schedule, or defines it anew.")
        .takes::<PutSchedule>(PutSchedule::BODY_BYTES)
        .answers::<ScheduleView>(200, "The schedule as it is now.")
        .done();
    api.post("/v1/schedules/{schedule}/delete", "Deletes a schedule; what it has started goes on.")
        .takes::<DeleteSchedule>(DeleteSchedule::BODY_BYTES)
        .answers::<ScheduleDeleted>(200, "Whether there was none.")
        .done();
    api.post("/v1/schedules/{schedule}/pause", "Keeps a schedule from ticking until it is resumed.")
        .takes::<PauseSchedule>(PauseSchedule::BODY_BYTES)
        .answers::<ScheduleView>(200, "The schedule as it is now.")
        .done();
    api.post(
        "/v1/schedules/{schedule}/resume",
        "Has a schedule tick again; ticks that came meanwhile are not made up for.",
    )
    .takes::<ResumeSchedule>(ResumeSchedule::BODY_BYTES)
    .answers::<ScheduleView>(200, "The schedule as it is now.")
    .done();
    api.post("/v1/schedules/{schedule}/trigger", "Starts what a tick would start, now, as the overlap policy allows.")
        .takes::<TriggerSchedule>(TriggerSchedule::BODY_BYTES)
        .answers::<TickRecord>(200, "What became of it.")
        .done();
    api.post(
        "/v1/schedules/{schedule}/backfill",
        "Starts what the ticks of a past range would have started, each once.",
    )
    .takes::<BackfillSchedule>(BackfillSchedule::BODY_BYTES)
    .answers::<BackfilledTicks>(200, "What became of each tick.")
    .done();
}
