//! The domain of schedules over HTTP.

use axum::Json;
use axum::extract::State;
use ff_api::{
    BackfillSchedule, DeleteSchedule, NamespaceQuery, NextTicksQuery, PauseSchedule, PutSchedule, ResumeSchedule,
    ScheduleView, SchedulesPage, SchedulesQuery, TriggerSchedule,
};
use ff_core::contracts::{BackfilledTicks, ListSchedulesArgs, NextTicks, ScheduleDeleted, ScheduleInfo, ScheduleRef};
use ff_core::limits;
use ff_core::schedule::TickRecord;
use ff_core::types::Namespace;
use ff_scheduler::Runtime;

use crate::request::body::Body;
use crate::request::params::Params;
use crate::request::path::Schedule;
use crate::response::problem::{Problem, Result};

/// Lists the schedules of a namespace, a page at a time.
pub(crate) async fn list(
    State(ff): State<Runtime>,
    Params(query): Params<SchedulesQuery>,
) -> Result<Json<SchedulesPage>> {
    let args = ListSchedulesArgs {
        namespace: query.namespace.unwrap_or_else(Namespace::default_name),
        after: query.after,
        limit: query.limit.unwrap_or_default().0,
    };
    let page = SchedulesPage::of(ff.backend().schedules(args).await?);
    Ok(Json(page.map_err(|error| Problem::defect(&format!("schedules cannot be written: {error}")))?))
}

/// Returns a schedule, with its next and its last ticks.
pub(crate) async fn describe(
    State(ff): State<Runtime>,
    Schedule(name): Schedule,
    Params(query): Params<NamespaceQuery>,
) -> Result<Json<ScheduleView>> {
    let namespace = query.namespace.unwrap_or_else(Namespace::default_name);
    view(ff.backend().describe_schedule(ScheduleRef { namespace, name }).await?)
}

/// Returns the next ticks of a schedule.
pub(crate) async fn next(
    State(ff): State<Runtime>,
    Schedule(name): Schedule,
    Params(query): Params<NextTicksQuery>,
) -> Result<Json<NextTicks>> {
    let namespace = query.namespace.unwrap_or_else(Namespace::default_name);
    let count = query.count.unwrap_or(limits::TICKS_LISTED);
    Ok(Json(ff.backend().next_ticks(ScheduleRef { namespace, name }, count).await?))
}

/// Creates or replaces a schedule.
pub(crate) async fn put(
    State(ff): State<Runtime>,
    Schedule(name): Schedule,
    Body(put): Body<PutSchedule>,
) -> Result<Json<ScheduleView>> {
    view(ff.backend().put_schedule(put.into_args(name)?).await?)
}

/// Deletes a schedule.
pub(crate) async fn delete(
    State(ff): State<Runtime>,
    Schedule(name): Schedule,
    Body(delete): Body<DeleteSchedule>,
) -> Result<Json<ScheduleDeleted>> {
    Ok(Json(ff.backend().delete_schedule(delete.into_ref(name)).await?))
}

/// Pauses a schedule.
pub(crate) async fn pause(
    State(ff): State<Runtime>,
    Schedule(name): Schedule,
    Body(pause): Body<PauseSchedule>,
) -> Result<Json<ScheduleView>> {
    view(ff.backend().pause_schedule(pause.into_args(name)).await?)
}

/// Resumes a schedule.
pub(crate) async fn resume(
    State(ff): State<Runtime>,
    Schedule(name): Schedule,
    Body(resume): Body<ResumeSchedule>,
) -> Result<Json<ScheduleView>> {
    view(ff.backend().resume_schedule(resume.into_ref(name)).await?)
}

/// Starts the execution or flow of a tick now.
pub(crate) async fn trigger(
    State(ff): State<Runtime>,
    Schedule(name): Schedule,
    Body(trigger): Body<TriggerSchedule>,
) -> Result<Json<TickRecord>> {
    Ok(Json(ff.backend().trigger_schedule(trigger.into_ref(name)).await?))
}

/// Starts the executions or flows of the ticks of a past range.
pub(crate) async fn backfill(
    State(ff): State<Runtime>,
    Schedule(name): Schedule,
    Body(backfill): Body<BackfillSchedule>,
) -> Result<Json<BackfilledTicks>> {
    Ok(Json(ff.backend().backfill_schedule(backfill.into_args(name)).await?))
}

fn view(info: ScheduleInfo) -> Result<Json<ScheduleView>> {
    let view = ScheduleView::of(info);
    Ok(Json(view.map_err(|error| Problem::defect(&format!("a schedule cannot be written: {error}")))?))
}
