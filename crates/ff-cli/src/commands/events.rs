//! `ff events`: the events of executions.

use clap::Args;
use ff_core::event::{EventCursor, EventKind, EventRecord};
use ff_core::state::TerminalOutcome;
use serde_json::json;

use crate::args::{cursor, span};
use crate::exit::{Exit, note, print_message};
use crate::output::{self, screen};
use crate::settings::Settings;
use crate::signals::Signals;

/// Show the events of executions
#[derive(Args)]
pub(crate) struct Events {
    /// Keep running, and show new events as they happen
    #[arg(long)]
    follow: bool,

    /// Start at the cursor of an earlier reader; unless given, with new events
    #[arg(long, value_name = "CURSOR", value_parser = cursor::<EventCursor>)]
    after: Option<EventCursor>,
}

impl Events {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let mut signals = Signals::listen()?;
        let client = settings.connect().await?.client();
        // Without --after and --follow the command shows no events; the note below explains why.
        let begins_now = self.after.is_none() && !self.follow;
        let mut events = client.events(Some(&settings.namespace()), self.after).await?;
        let ended = tokio::select! {
            ended = show(settings, &mut events, self.follow) => ended,
            () = signals.next() => Ok(()),
        };
        let before = if begins_now {
            "events are recorded from now on: follow them with --follow, or read them later; "
        } else {
            ""
        };
        let cursor = events.cursor().to_string();
        note(&json!({ "next_cursor": cursor }), format_args!("{before}to continue from here: --after {cursor}"));
        ended.map(|()| Exit::Done)
    }
}

/// Prints all events so far; with `follow`, also new ones.
async fn show(settings: &Settings, events: &mut ff_sdk::Events, follow: bool) -> anyhow::Result<()> {
    loop {
        let event = if follow { Some(events.next().await?) } else { events.next_if_any().await? };
        if events.missed() {
            print_message(format_args!(
                "events before this are missing: they were no longer kept, or the feed had no reader"
            ));
        }
        let Some(event) = event else { return Ok(()) };
        if settings.json {
            output::json(&event)?;
        } else {
            output::line(line(&event))?;
        }
    }
}

/// Formats an event as a line.
pub(super) fn line(event: &EventRecord) -> String {
    let (time, what) = (span::clock(event.position.at), sentence(event.what));
    format!("{time}  {what:<28}  {}  {}  {}", event.kind, event.lane_id, event.execution_id)
}

/// Formats an event for a screen of this width. A line that is too long becomes a shorter time, the whole id, and then
/// as much as fits.
pub(super) fn narrow(event: &EventRecord, width: Option<usize>) -> String {
    let whole = line(event);
    let Some(width) = width.filter(|width| screen::columns_of(&whole) > *width) else { return whole };
    let time: String = span::clock(event.position.at).chars().take(8).collect();
    screen::cut(&format!("{time}  {}  {}  {}", event.execution_id, sentence(event.what), event.kind), width)
}

/// Describes an event in words.
fn sentence(what: EventKind) -> String {
    match what {
        EventKind::Submitted => "submitted".to_owned(),
        EventKind::Promoted => "waits for a worker".to_owned(),
        EventKind::Started { attempt } => format!("started, attempt {attempt}"),
        EventKind::Resumed { attempt } => format!("resumed, attempt {attempt}"),
        EventKind::Delayed { until } => format!("delayed until {}", span::clock(until)),
        EventKind::RetryScheduled { at } => format!("failed, again at {}", span::clock(at)),
        EventKind::LeaseExpired => "lease expired".to_owned(),
        EventKind::LeaseRevoked => "lease revoked".to_owned(),
        EventKind::Suspended => "suspended".to_owned(),
        EventKind::WaitsForChildren => "waits for its children".to_owned(),
        EventKind::Blocked { reason } => format!("blocked: {reason}"),
        EventKind::Unblocked { reason } => format!("unblocked: {reason}"),
        EventKind::Released { by } => format!("released by {}", by.as_str().replace('_', " ")),
        EventKind::Escalated => "escalated".to_owned(),
        EventKind::WaitpointExpired => "a waitpoint expired".to_owned(),
        EventKind::Finished { outcome } => format!("finished: {}", TerminalOutcome::from(outcome).as_str()),
        EventKind::Replayed => "replayed".to_owned(),
        EventKind::Prioritised { from, to } => format!("priority {from} became {to}"),
        EventKind::Tagged => "tags changed".to_owned(),
        EventKind::SoftLimitExceeded { budget_id } => format!("exceeded a soft limit of budget {budget_id}"),
    }
}
