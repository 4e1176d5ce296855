//! Watches all lanes and events: the depths of the lanes, and the latest events.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, IsTerminal};

use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::contracts::LaneInfo;
use ff_core::event::EventRecord;
use ff_core::types::LaneId;
use ff_sdk::{Client, Events};
use futures_util::StreamExt;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use tokio::time::{MissedTickBehavior, interval};

use super::LOOK_EVERY;
use crate::args::span;
use crate::commands::{events, lanes};
use crate::exit::Exit;
use crate::output::{self, screen};
use crate::settings::Settings;
use crate::signals::Signals;

/// Maximum number of events on the screen.
const LATEST: usize = 10;

/// Shows lanes and events until a signal stops it: on a terminal as one picture that is redrawn, elsewhere as a line
/// for every change.
pub(super) async fn watch(settings: &Settings) -> anyhow::Result<Exit> {
    let mut signals = Signals::listen()?;
    let client = settings.connect().await?.client();
    let events = client.events(Some(&settings.namespace()), None).await?;
    let is_seen = io::stdout().is_terminal() && !settings.json;
    let mut shown: Box<dyn WatchDisplay> = if is_seen {
        Box::new(Picture::new())
    } else {
        Box::new(Lines { json: settings.json, lanes: BTreeMap::new() })
    };
    tokio::select! {
        watched = poll_and_follow(settings, &client, events, &mut *shown) => watched.map(|()| Exit::Done),
        () = signals.next() => {
            shown.end();
            Ok(Exit::Done)
        }
    }
}

async fn poll_and_follow(
    settings: &Settings,
    client: &Client,
    events: Events,
    shown: &mut (dyn WatchDisplay + 'static),
) -> anyhow::Result<()> {
    let mut looks = interval(LOOK_EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // A stream keeps its pending request when the other branch of `select!` completes.
    let mut events = Box::pin(events.into_stream());
    loop {
        tokio::select! {
            Some(event) = events.next() => shown.event(&event?)?,
            _ = looks.tick() => shown.lanes(lanes::of_namespace(client, Some(&settings.namespace())).await?)?,
        }
    }
}

/// A display of lanes and events.
trait WatchDisplay {
    fn lanes(&mut self, lanes: Vec<LaneInfo>) -> anyhow::Result<()>;

    fn event(&mut self, event: &EventRecord) -> anyhow::Result<()>;

    /// Ends the display.
    fn end(&mut self);
}

/// A display that redraws one picture.
struct Picture {
    bar: ProgressBar,
    lanes: Vec<LaneInfo>,
    latest: VecDeque<EventRecord>,
}

impl Picture {
    fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout());
        bar.set_style(ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Self { bar, lanes: Vec::new(), latest: VecDeque::new() }
    }

    /// Returns the lines of the picture for a screen of this width.
    fn lines(&self, width: Option<usize>) -> Vec<String> {
        let mut lines = lanes::tabulate(&self.lanes, false, SystemClock.now())
            .fitting(&["KEPT", "AGEING", "LIMIT", "OLDEST", "SUSPENDED", "DELAYED", "BLOCKED"], &["LANE"])
            .lines(width, false);
        if self.lanes.is_empty() {
            lines = vec!["no lane has had any work yet".to_owned()];
        }
        lines.push(String::new());
        lines.extend(self.latest.iter().map(|event| events::narrow(event, width)));
        lines.push("Ctrl-C leaves".to_owned());
        lines
    }

    fn draw(&self) {
        let lines = self.lines(screen::width());
        self.bar.set_message(lines.join("\n"));
        self.bar.tick();
    }
}

impl WatchDisplay for Picture {
    fn lanes(&mut self, lanes: Vec<LaneInfo>) -> anyhow::Result<()> {
        self.lanes = lanes;
        self.draw();
        Ok(())
    }

    /// Stores the event. The next poll of the lanes draws it, because there may be too many events to draw each.
    fn event(&mut self, event: &EventRecord) -> anyhow::Result<()> {
        self.latest.push_back(event.clone());
        if self.latest.len() > LATEST {
            self.latest.pop_front();
        }
        Ok(())
    }

    fn end(&mut self) {
        self.bar.abandon();
    }
}

/// A display that prints a line for every change.
struct Lines {
    json: bool,
    lanes: BTreeMap<(String, LaneId), LaneInfo>,
}

impl WatchDisplay for Lines {
    fn lanes(&mut self, lanes: Vec<LaneInfo>) -> anyhow::Result<()> {
        for lane in lanes {
            let key = (lane.namespace.to_string(), lane.lane_id.clone());
            if self.lanes.get(&key) == Some(&lane) {
                continue;
            }
            if self.json {
                output::json(&json!({ "lane": lane }))?;
            } else {
                output::line(format_args!("{}  lane {}", span::clock(SystemClock.now()), standing(&lane)))?;
            }
            self.lanes.insert(key, lane);
        }
        Ok(())
    }

    fn event(&mut self, event: &EventRecord) -> anyhow::Result<()> {
        if self.json { output::json(&json!({ "event": event })) } else { output::line(events::line(event)) }
    }

    fn end(&mut self) {}
}

/// Describes the state of a lane, with the depths that are not zero.
fn standing(lane: &LaneInfo) -> String {
    let depths = lane.depths.iter().filter(|(_, depth)| depth.count > 0);
    let depths: Vec<_> =
        depths.map(|(standing, depth)| format!("{} {}", depth.count, standing.as_str().replace('_', " "))).collect();
    let depths = if depths.is_empty() { "nothing".to_owned() } else { depths.join(", ") };
    format!("{} {}: {depths}", lane.lane_id, lane.settings.state)
}

#[cfg(test)]
mod tests {
    use serde_json::from_value;

    use super::*;

    #[test]
    fn a_screen_of_eighty_columns_holds_the_picture() {
        let name = "a-name-that-is-rather-long-for-a-name";
        let id = "{fp:215}:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c";
        let mut picture = Picture::new();
        let depths = json!({ "waiting": { "count": 12_345_678, "first_at": 1 }, "active": { "count": 12_345_678 } });
        let settings = json!({ "state": "draining", "concurrency": 1000, "ageing_ms": 60_000, "retention_ms": 90_000 });
        let lane = json!({ "namespace": "acme", "lane_id": name, "settings": settings, "depths": depths });
        picture.lanes = vec![from_value(lane).unwrap()];
        let event = json!({ "position": "1760000000004-7", "namespace": "acme", "lane_id": name,
            "kind": name, "execution_id": id, "event": "submitted" });
        picture.latest.push_back(from_value(event).unwrap());
        let lines = picture.lines(Some(80));
        assert!(lines.iter().all(|line| screen::columns_of(line) <= 80), "{lines:#?}");
        assert!(lines.iter().any(|line| line.contains(id) && line.contains("submitted")), "{lines:#?}");
        assert!(lines[0].contains("WAITING") && !lines[0].contains("KEPT"), "{lines:#?}");
        assert!(picture.lines(None)[0].contains("KEPT"));
    }
}
