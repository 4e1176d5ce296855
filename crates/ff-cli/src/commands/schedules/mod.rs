//! `ff schedules`: work that starts at defined times.

mod create;
mod show;

use clap::{Args, Subcommand};
use ff_api::{ScheduleView, SchedulesPage};
use ff_core::backend::EngineBackend;
use ff_core::contracts::{
    BackfillArgs, ListSchedulesArgs, PauseScheduleArgs, ScheduleInfo, ScheduleRef, SchedulesPage as Page,
};
use ff_core::limits;
use ff_core::types::{ScheduleName, TimestampMs};

use crate::args::{every_page, timestamp, whole};
use crate::exit::{Exit, Usage};
use crate::output;
use crate::settings::Settings;

/// Manage schedules: start work by cron, at intervals or once
#[derive(Args)]
pub(crate) struct Schedules {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Create(Box<create::Create>),
    /// List the schedules of the namespace
    List,
    /// Show a schedule, its next five ticks, and the outcome of the last ten
    Show(NameArg),
    Pause(Pause),
    /// Resume a schedule; ticks missed while it was paused do not run
    Resume(NameArg),
    /// Run a tick now, as the overlap policy allows
    Trigger(NameArg),
    Backfill(Backfill),
    /// Delete a schedule; work it has started continues
    Delete(NameArg),
    Next(Next),
}

#[derive(Args)]
struct NameArg {
    name: ScheduleName,
}

/// Pause a schedule until it is resumed
#[derive(Args)]
struct Pause {
    name: ScheduleName,

    /// Reason, shown with the schedule
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Run the ticks of a past range, each once
#[derive(Args)]
struct Backfill {
    name: ScheduleName,

    /// Start of the range: 2026-12-24T18:00:00Z, or milliseconds since 1970
    #[arg(long, value_name = "WHEN", value_parser = timestamp::parse)]
    from: TimestampMs,

    /// End of the range, inclusive
    #[arg(long, value_name = "WHEN", value_parser = timestamp::parse)]
    to: TimestampMs,
}

/// Show the next ticks of a schedule
#[derive(Args)]
struct Next {
    name: ScheduleName,

    /// Number of ticks
    #[arg(long, short = 'n', value_name = "N", default_value_t = limits::TICKS_LISTED, value_parser = whole::<usize>)]
    count: usize,
}

impl Schedules {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let named = |name| ScheduleRef { namespace: settings.namespace(), name };
        let flowfabric = settings.connect().await?;
        let backend = flowfabric.backend();
        match self.command {
            Command::Create(create) => changed(settings, backend.put_schedule(create.into_args(settings)?).await?),
            Command::List => list(settings, &**backend).await,
            Command::Show(NameArg { name }) => changed(settings, backend.describe_schedule(named(name)).await?),
            Command::Pause(Pause { name, reason }) => {
                let args = PauseScheduleArgs { schedule: named(name), reason };
                args.check().map_err(Usage::from)?;
                changed(settings, backend.pause_schedule(args).await?)
            }
            Command::Resume(NameArg { name }) => changed(settings, backend.resume_schedule(named(name)).await?),
            Command::Trigger(NameArg { name }) => {
                let record = backend.trigger_schedule(named(name)).await?;
                settings.answer(&record, || output::line(show::outcome(&record)))
            }
            Command::Backfill(Backfill { name, from, to }) => {
                let args = BackfillArgs { schedule: named(name), from, to };
                args.check().map_err(Usage::from)?;
                let done = backend.backfill_schedule(args).await?;
                settings.answer(&done, || show::ticks(&done.ticks).print_or("no tick in this range"))
            }
            Command::Delete(NameArg { name }) => {
                let deleted = backend.delete_schedule(named(name.clone())).await?;
                settings.answer_deleted(&deleted, deleted.already, ("schedule", &name))
            }
            Command::Next(Next { name, count }) => {
                let info = backend.describe_schedule(named(name.clone())).await?;
                let next = backend.next_ticks(named(name), count).await?;
                settings.answer(&next, || {
                    let zone = &info.schedule.definition.time_zone;
                    next.ticks.iter().try_for_each(|tick| output::line(show::local(*tick, zone)))
                })
            }
        }
    }
}

/// Prints a schedule.
fn changed(settings: &Settings, info: ScheduleInfo) -> anyhow::Result<Exit> {
    let view = ScheduleView::of(info.clone())?;
    settings.answer(&view, || show::schedule(&info))
}

async fn list(settings: &Settings, backend: &dyn EngineBackend) -> anyhow::Result<Exit> {
    let namespace = settings.namespace();
    let read = async |after| {
        let args = ListSchedulesArgs { namespace: namespace.clone(), after, limit: limits::PAGE_DEFAULT };
        let page = backend.schedules(args).await?;
        Ok((page.schedules, page.next))
    };
    let schedules = every_page(None, read).await?;
    let page = SchedulesPage::of(Page { schedules: schedules.clone(), next: None })?;
    let none = format!("namespace {namespace} has no schedule");
    settings.answer(&page, || show::table(&schedules).print_or(none))
}
