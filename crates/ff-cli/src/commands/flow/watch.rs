//! `ff flow watch`: follows a flow until it ends.

use std::time::Duration;

use clap::Args;
use ff_core::contracts::{FlowEventsArgs, FlowInfo};
use ff_core::flow::{FlowEvent, FlowEventKind, FlowState};
use ff_core::limits;
use ff_core::state::PublicState;
use ff_core::types::FlowId;
use ff_sdk::FlowFabric;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use tokio::time::{MissedTickBehavior, interval};

use super::get::counted;
use crate::args::{FlowIdArg, span};
use crate::commands::watch::LOOK_EVERY;
use crate::exit::{self, Exit, print_message};
use crate::output;
use crate::settings::Settings;
use crate::signals::Signals;

/// Watch a flow until it ends: past events, then new ones, with a progress bar
#[derive(Args)]
pub(super) struct Watch {
    /// The flow: the uuid printed by `ff flow submit`, or its first digits
    id: FlowIdArg,

    /// Show only the progress bar and the end
    #[arg(long)]
    quiet: bool,

    /// Maximum time to watch
    #[arg(long, value_name = "SPAN", value_parser = span::parse)]
    timeout: Option<Duration>,
}

impl Watch {
    pub(super) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let flowfabric = settings.connect().await?;
        let id = self.id.find(settings, &flowfabric).await?;
        let follower = Follower::of(settings, &flowfabric, id, !self.quiet);
        follower.follow(self.timeout).await
    }
}

/// Waits for the end of a flow, for at most `patience` if given, and prints it.
pub(super) async fn until_ended(
    settings: &Settings,
    flowfabric: &FlowFabric,
    id: FlowId,
    patience: Option<Duration>,
) -> anyhow::Result<Exit> {
    Follower::of(settings, flowfabric, id, false).follow(patience).await
}

/// Waits for the end of a flow and of all its members: members may run on after their flow has ended.
pub(super) async fn until_members_ended(
    settings: &Settings,
    flowfabric: &FlowFabric,
    id: FlowId,
    patience: Option<Duration>,
) -> anyhow::Result<Exit> {
    let follower = Follower { waits_for_members: true, ..Follower::of(settings, flowfabric, id, false) };
    follower.follow(patience).await
}

/// A watch on one flow, with its progress bar.
struct Follower<'s> {
    settings: &'s Settings,
    flowfabric: &'s FlowFabric,
    id: FlowId,
    /// Whether all events are printed, not only the end.
    prints_events: bool,
    /// Whether to wait for members that run on after the end of the flow.
    waits_for_members: bool,
    bar: ProgressBar,
}

impl<'s> Follower<'s> {
    fn of(settings: &'s Settings, flowfabric: &'s FlowFabric, id: FlowId, prints_events: bool) -> Self {
        let bar = ProgressBar::no_length().with_style(style());
        Self { settings, flowfabric, id, prints_events, waits_for_members: false, bar }
    }

    /// Waits for the end and prints it. A timeout or an interrupt does not affect the flow; a message says how to watch
    /// it again.
    async fn follow(self, patience: Option<Duration>) -> anyhow::Result<Exit> {
        let mut signals = Signals::listen()?;
        let ended = signals.unless_cut_short(patience, self.to_the_end()).await;
        self.bar.finish_and_clear();
        match ended {
            Ok(ended) => self.tell_end(&ended?),
            Err(exit) => {
                let id = self.id;
                if self.settings.json && !self.prints_events {
                    output::json(&json!({ "flow_id": id, "state": null }))?;
                }
                Ok(exit::cut_short(exit, ("flow_id", &id), &format!("`ff flow watch {id}` follows it again")))
            }
        }
    }

    async fn to_the_end(&self) -> anyhow::Result<FlowInfo> {
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut args = FlowEventsArgs { flow_id: self.id, from: 0, limit: limits::PAGE };
        loop {
            let page = self.flowfabric.long_poll().next_flow_events(args, limits::LONG_POLL_MS).await?;
            if page.missed && self.prints_events {
                print_message(format_args!("some earlier events are no longer stored"));
            }
            for event in page.events.iter().filter(|_| self.prints_events) {
                self.tell_event(event)?;
            }
            let info = self.flowfabric.backend().describe_flow(&self.id).await?;
            self.show(&info);
            if page.ended && (info.counts.live() == 0 || !self.waits_for_members) {
                return Ok(info);
            }
            if page.ended {
                looks.tick().await;
            }
            args.from = page.next;
        }
    }

    /// Updates the progress bar.
    fn show(&self, info: &FlowInfo) {
        self.bar.set_length(info.nodes.into());
        self.bar.set_position((info.counts.all() - info.counts.live()).into());
        self.bar.set_message(counted(&info.counts));
    }

    fn tell_event(&self, event: &FlowEvent) -> anyhow::Result<()> {
        self.bar.suspend(|| if self.settings.json { output::json(event) } else { output::line(sentence(event)) })
    }

    fn tell_end(&self, info: &FlowInfo) -> anyhow::Result<Exit> {
        if self.settings.json {
            // If all events are printed, the last of them reports the end.
            if !self.prints_events {
                output::json(info)?;
            }
        } else {
            output::line(format_args!("{} {}: {}", info.flow_id, info.state, counted(&info.counts)))?;
        }
        Ok(match info.state {
            FlowState::Failed => Exit::Failed,
            FlowState::Cancelled => Exit::Cancelled,
            FlowState::Staging | FlowState::Open | FlowState::Running | FlowState::Completed => Exit::Done,
        })
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}").unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Describes an event in words.
fn sentence(event: &FlowEvent) -> String {
    match &event.what {
        FlowEventKind::Opened { nodes, edges } => format!("opened with {}", graph(*nodes, *edges)),
        FlowEventKind::Grown { nodes, edges, .. } => format!("grew by {}", graph(*nodes, *edges)),
        FlowEventKind::Moved { node, to, .. } => format!("{node} {}", becomes(*to)),
        FlowEventKind::Closed => "closed: it takes no more members".to_owned(),
        FlowEventKind::Cancelled { policy } => format!("was cancelled: {}", policy.as_str().replace('_', " ")),
        FlowEventKind::Ended { state } => format!("ended: {state}"),
        FlowEventKind::Reopened => "reopened: a member runs again".to_owned(),
    }
}

fn graph(nodes: impl Into<u64>, edges: impl Into<u64>) -> String {
    format!("{} and {}", output::counted(nodes.into(), "member"), output::counted(edges.into(), "edge"))
}

fn becomes(state: PublicState) -> &'static str {
    match state {
        PublicState::Waiting => "waits for a worker",
        PublicState::Delayed => "is delayed",
        PublicState::RateLimited => "is held back by a limit",
        PublicState::WaitingChildren => "waits for others",
        PublicState::Active => "runs",
        PublicState::Suspended => "is suspended",
        PublicState::Completed => "completed",
        PublicState::Failed => "failed",
        PublicState::Cancelled => "was cancelled",
        PublicState::Expired => "expired",
        PublicState::Skipped => "was skipped",
    }
}
