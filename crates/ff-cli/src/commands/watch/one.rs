//! Watches one execution: prints its state whenever it changes, until the execution ends.

use std::time::Duration;

use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::contracts::{ExecutionEnd, ExecutionInfo};
use ff_core::limits;
use ff_core::types::ExecutionId;
use ff_sdk::FlowFabric;
use indicatif::ProgressBar;
use tokio::time::{MissedTickBehavior, interval};

use super::LOOK_EVERY;
use crate::args::{IdArg, span};
use crate::commands::execution::{attempts, progress_line, state};
use crate::commands::suspension::waits_for;
use crate::exit::{self, Exit};
use crate::output::{self, printable, screen};
use crate::settings::Settings;
use crate::signals::Signals;

/// Columns of the time of day and the space after it.
const AT: usize = 14;

/// Prints every change until the end. A timeout or an interrupt does not affect the execution; a message says how to
/// watch it again.
pub(super) async fn watch(settings: &Settings, id: IdArg, patience: Option<Duration>) -> anyhow::Result<Exit> {
    let mut signals = Signals::listen()?;
    let flowfabric = settings.connect().await?;
    let id = id.find(settings, &flowfabric.client()).await?;
    let mut watcher = Watcher { settings, flowfabric, id, last_printed: None, bar: ProgressBar::new_spinner() };
    let ended = signals.unless_cut_short(patience, watcher.until_ended()).await;
    watcher.bar.finish_and_clear();
    match ended {
        Ok(ended) => Ok(ended?.outcome.into()),
        Err(exit) => Ok(exit::cut_short(exit, ("execution_id", &id), &format!("`ff watch '{id}'` watches it again"))),
    }
}

/// A watch on one execution.
struct Watcher<'s> {
    settings: &'s Settings,
    flowfabric: FlowFabric,
    id: ExecutionId,
    /// The last printed sentence.
    last_printed: Option<String>,
    bar: ProgressBar,
}

impl Watcher<'_> {
    /// Waits for the end by long polls. Polls the state before the end twice a second: progress has no event, and
    /// following the feed of all executions for one of them costs more.
    async fn until_ended(&mut self) -> anyhow::Result<ExecutionEnd> {
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (flowfabric, id) = (self.flowfabric.clone(), self.id);
        let mut ending = Box::pin(async move {
            loop {
                if let Some(ended) = flowfabric.long_poll().ended(&id, limits::LONG_POLL_MS).await? {
                    return anyhow::Ok(ended);
                }
            }
        });
        loop {
            tokio::select! {
                biased;
                _ = looks.tick() => self.look().await?,
                ended = &mut ending => {
                    let ended = ended?;
                    self.look().await?;
                    return Ok(ended);
                }
            }
        }
    }

    async fn look(&mut self) -> anyhow::Result<()> {
        let info = self.flowfabric.backend().describe(&self.id).await?;
        let now = sentence(&info);
        if self.last_printed.as_ref() != Some(&now) {
            let width = screen::width().unwrap_or(usize::MAX);
            let line = format!("{}  {}", span::clock(SystemClock.now()), wrapped(&now, width.saturating_sub(AT)));
            self.bar.suspend(|| if self.settings.json { output::json(&info) } else { output::line(line) })?;
            // The spinner and the space after it take two columns.
            self.bar.set_message(screen::cut(&now, width.saturating_sub(2)));
            self.last_printed = Some(now);
        }
        self.bar.tick();
        Ok(())
    }
}

/// Wraps the text. Further lines are indented to begin below the first.
fn wrapped(text: &str, columns: usize) -> String {
    screen::wrap(text, columns).join(&format!("\n{:AT$}", ""))
}

/// Describes the current state of an execution on one line.
fn sentence(info: &ExecutionInfo) -> String {
    let mut parts = vec![state(info)];
    if let Some(until) = info.delayed_until {
        parts.push(format!("until {}", span::clock(until)));
    }
    if info.attempts_made > 0 {
        parts.push(format!("attempts: {}", attempts(info)));
    }
    parts.extend(info.lease.as_ref().map(|lease| format!("worker: {}", lease.worker_instance_id)));
    parts.extend(info.suspension.as_ref().map(|suspension| format!("waits for {}", waits_for(suspension))));
    let progress = info.progress.as_ref();
    parts.extend(progress.map(|progress| progress_line(progress.percent, progress.message.as_deref())));
    parts.extend(info.failure.as_ref().map(|failure| format!("{}: {}", failure.category, failure.message)));
    printable(&parts.join(", "))
}
