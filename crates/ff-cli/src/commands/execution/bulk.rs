//! Bulk actions: applies an action to every execution that matches a filter, with a progress bar.

use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::contracts::BulkRefusal;
use ff_sdk::{Bulk, Client, Search};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::args::filter::{self, Term};
use crate::exit::{Exit, print_message};
use crate::output::{self, printable};
use crate::settings::Settings;
use crate::signals::Signals;

/// The result of a bulk action, as JSON.
#[derive(Serialize)]
struct Report {
    dry_run: bool,
    done: u64,
    refused: Vec<BulkRefusal>,
}

/// Acts on all executions the terms match, or with `dry_run` only counts them. `done` is the verb in the messages.
pub(super) async fn act(
    settings: &Settings,
    (terms, dry_run): (Vec<Term>, bool),
    done: &str,
    begin: impl Fn(&Client, Search) -> Result<Bulk, ff_sdk::Error>,
) -> anyhow::Result<Exit> {
    let filter = filter::build(settings.namespace(), terms, SystemClock.now())?;
    let mut signals = Signals::listen()?;
    let client = settings.connect().await?.client();
    let bar = ProgressBar::no_length().with_style(style());
    let mut bulk = begin(&client, filter.clone().into())?;
    if dry_run {
        bulk = bulk.dry_run();
    } else if !bar.is_hidden() {
        bulk = measure(&bar, begin(&client, filter.into())?.dry_run(), bulk).await?;
    }
    let mut report = Report { dry_run, done: 0, refused: Vec::new() };
    loop {
        let page = tokio::select! {
            page = bulk.next() => page?,
            () = signals.next() => {
                bar.finish_and_clear();
                print_message(format_args!("interrupted: {} {done} so far; the same command does the rest", report.done));
                return Ok(Exit::Interrupted);
            }
        };
        let Some(page) = page else { break };
        report.done += page.executions.len() as u64;
        bar.inc((page.executions.len() + page.refused.len()) as u64);
        for refusal in page.refused {
            if !settings.json {
                let BulkRefusal { execution_id, code, detail } = &refusal;
                bar.suspend(|| print_message(format_args!("{execution_id} refused: {code}: {}", printable(detail))));
            }
            report.refused.push(refusal);
        }
    }
    bar.finish_and_clear();
    tell_end(settings, &report, done)?;
    Ok(if report.refused.is_empty() { Exit::Done } else { Exit::Error })
}

/// Counts the executions for the length of the bar, and sets the action to the time of the count, so that it acts on
/// the counted executions only.
async fn measure(bar: &ProgressBar, mut counting: Bulk, mut bulk: Bulk) -> anyhow::Result<Bulk> {
    let (mut count, mut as_of) = (0, None);
    while let Some(page) = counting.next().await? {
        count += page.executions.len() as u64;
        as_of = as_of.or(Some(page.as_of));
    }
    bar.set_length(count);
    if let Some(at) = as_of {
        bulk = bulk.as_of(at);
    }
    Ok(bulk)
}

fn tell_end(settings: &Settings, report: &Report, done: &str) -> anyhow::Result<()> {
    let refused = match report.refused.len() {
        0 => String::new(),
        some => format!(", {some} refused"),
    };
    match (settings.json, report.dry_run) {
        (true, _) => output::json(report),
        (false, true) => output::line(format_args!("{} would be {done}{refused}", report.done)),
        (false, false) => output::line(format_args!("{} {done}{refused}", report.done)),
    }
}

pub(super) fn style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:30} {pos}/{len} {eta}").unwrap_or_else(|_| ProgressStyle::default_bar())
}
