//! `ff schedules create`: a schedule defined by flags or by a file.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use ff_api::PutSchedule;
use ff_core::contracts::{PutScheduleArgs, ScheduleRef, SubmitArgs};
use ff_core::engine_error::Refusal;
use ff_core::payload::Payload;
use ff_core::schedule::{CatchUp, CronText, Overlap, ScheduleDefinition, ScheduleTarget, Timing, Zone};
use ff_core::singleton::{KeyRule, OnConflict, Singleton};
use ff_core::types::{
    Capability, ContentType, Kind, LaneId, Priority, ScheduleName, SubmissionKey, TagKey, TagValue, TimestampMs,
};

use crate::args::{Input, span, timestamp, whole};
use crate::commands::execution::{priority, tag};
use crate::commands::flow;
use crate::exit::Usage;
use crate::settings::Settings;

/// Maximum size of a file.
const FILE_BYTES: usize = ff_api::SCHEDULE_BODY_BYTES;

/// Create or replace a schedule; an identical definition changes nothing
#[derive(Args)]
pub(super) struct Create {
    name: ScheduleName,

    /// Cron expression in --time-zone: five fields, six with the second first, or @hourly, @daily …
    #[arg(long, value_name = "CRON", conflicts_with_all = ["every", "at", "file"])]
    cron: Option<CronText>,

    /// Interval of ticks, counted from --starts-at or from now: 30s, 5m, 2h
    #[arg(long, value_name = "SPAN", value_parser = span::parse, conflicts_with_all = ["at", "file"])]
    every: Option<Duration>,

    /// Tick once, at this time: 2026-12-24T18:00:00Z, or milliseconds since 1970
    #[arg(long, value_name = "WHEN", value_parser = timestamp::parse, conflicts_with = "file")]
    at: Option<TimestampMs>,

    /// Time zone of --cron, such as Europe/Berlin
    #[arg(long, value_name = "ZONE", default_value_t = Zone::default())]
    time_zone: Zone,

    /// Maximum delay added to a tick; always the same for a given tick
    #[arg(long, value_name = "SPAN", value_parser = span::parse)]
    jitter: Option<Duration>,

    /// No tick before this time
    #[arg(long, value_name = "WHEN", value_parser = timestamp::parse)]
    starts_at: Option<TimestampMs>,

    /// No tick after this time
    #[arg(long, value_name = "WHEN", value_parser = timestamp::parse)]
    ends_at: Option<TimestampMs>,

    /// If the work of the previous tick has not ended: skip, queue_one, allow or cancel_previous
    #[arg(long, value_name = "WHAT", default_value_t = Overlap::default())]
    overlap: Overlap,

    /// How late a tick may still start
    #[arg(long, value_name = "SPAN", value_parser = span::parse)]
    catch_up_window: Option<Duration>,

    /// Which missed ticks within --catch-up-window run: last or all
    #[arg(long, value_name = "WHICH", default_value_t = CatchUp::default())]
    catch_up: CatchUp,

    #[command(flatten)]
    work: Work,

    /// Start the flow of this file, in YAML or JSON; - for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kind", "file"])]
    flow: Option<PathBuf>,

    /// Complete definition as JSON, as in the HTTP API; - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "kind")]
    file: Option<PathBuf>,
}

/// The execution that each tick starts.
#[derive(Args)]
struct Work {
    /// Start an execution of this kind
    #[arg(long)]
    kind: Option<Kind>,

    /// Payload for the worker: JSON, @FILE, or - for standard input; may contain {{tick}} and {{schedule}}
    #[arg(long, value_name = "JSON", requires = "kind", allow_hyphen_values = true)]
    payload: Option<Input>,

    /// Content type of a payload that is not JSON, such as text/plain
    #[arg(long, value_name = "TYPE", requires = "payload")]
    content_type: Option<ContentType>,

    /// Lane of the execution
    #[arg(long, value_name = "LANE", default_value = "default")]
    lane: LaneId,

    /// Priority, 0 to 9000; the highest goes first
    #[arg(long, value_name = "N", default_value = "0", value_parser = priority)]
    priority: Priority,

    /// Tag, which may contain {{tick}} and {{schedule}} (repeatable)
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = tag)]
    tags: Vec<(TagKey, TagValue)>,

    /// Run at most one execution of this key
    #[arg(long, value_name = "KEY")]
    singleton: Option<SubmissionKey>,

    /// While another execution of the singleton key is live: skip, replace or queue
    #[arg(long, value_name = "WHAT", requires = "singleton", default_value = "skip")]
    on_conflict: OnConflict,

    /// Retries, timeouts and bounds: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON")]
    policy: Option<Input>,

    /// Maximum number of retries after failures; overrides --policy
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    retries: Option<u32>,

    /// Capability its worker must have, such as gpu or region=eu (repeatable)
    #[arg(long = "require", value_name = "CAPABILITY")]
    requires: Vec<Capability>,
}

impl Create {
    pub(super) fn into_args(self, settings: &Settings) -> anyhow::Result<PutScheduleArgs> {
        let schedule = ScheduleRef { namespace: settings.namespace(), name: self.name.clone() };
        if let Some(file) = self.file {
            let text = Input::path(&file).text(FILE_BYTES)?;
            let wrong = |refusal: Refusal| Usage(format!("{}: {refusal}", file.display()));
            let put: PutSchedule = ff_api::object(text.as_bytes()).map_err(wrong)?;
            let args = put.into_args(self.name).map_err(wrong)?;
            return Ok(PutScheduleArgs { schedule, ..args });
        }
        let timing = match (self.cron, self.every, self.at) {
            (Some(cron), ..) => Timing::Cron(cron),
            (_, Some(every), _) => Timing::EveryMs(span::ms(every)),
            (.., Some(at)) => Timing::At(at),
            (None, None, None) => return Err(Usage("say when it ticks: --cron, --every or --at".into()).into()),
        };
        let target = match self.flow {
            Some(file) => {
                let flow = flow::read(&file)?.build();
                let args = flow.map_err(|error| Usage(format!("{}: {error}", file.display())))?;
                ScheduleTarget::Flow(Box::new(args))
            }
            None => ScheduleTarget::Execution(Box::new(self.work.into_submission()?)),
        };
        let default = ScheduleDefinition::new(timing, target);
        let definition = ScheduleDefinition {
            time_zone: self.time_zone,
            jitter_ms: self.jitter.map_or(0, span::ms),
            starts_at: self.starts_at,
            ends_at: self.ends_at,
            overlap: self.overlap,
            catch_up_ms: self.catch_up_window.map_or(default.catch_up_ms, span::ms),
            catch_up: self.catch_up,
            ..default
        };
        Ok(PutScheduleArgs { schedule, definition })
    }
}

impl Work {
    fn into_submission(self) -> anyhow::Result<SubmitArgs> {
        let missing = || Usage("say what it starts: --kind KIND, --flow FILE or --file FILE".into());
        let kind = self.kind.ok_or_else(missing)?;
        let payload = match self.payload {
            Some(input) => input.payload(self.content_type)?,
            None => Payload::default(),
        };
        let mut args = SubmitArgs::new(kind, payload);
        args.lane = self.lane;
        args.priority = self.priority;
        args.tags = self.tags.into_iter().collect();
        let on_conflict = self.on_conflict;
        args.key_rule = self.singleton.map(|key| Box::new(KeyRule::Singleton(Singleton { key, on_conflict })));
        if let Some(input) = self.policy {
            args.policy = input.policy()?;
        }
        args.policy.routing_requirements.required_capabilities.extend(self.requires);
        let retries = &mut args.policy.retry_policy.max_retries;
        *retries = self.retries.unwrap_or(*retries);
        Ok(args)
    }
}
