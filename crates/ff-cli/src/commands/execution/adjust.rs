//! `ff tag`, `ff priority` and `ff deadline`: each changes one property of one execution.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::{Args, Subcommand};
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::contracts::{ChangePriorityArgs, ExtendDeadlineArgs, PriorityChanged, SetTagsArgs};
use ff_core::types::{self, TagKey, TagValue, TimestampMs};

use super::submit::{priority, tag};
use crate::args::{IdArg, span, timestamp};
use crate::exit::Exit;
use crate::output::{self, printable};
use crate::settings::Settings;

#[derive(Subcommand)]
pub(crate) enum Adjust {
    Tag(Tag),
    Priority(Priority),
    Deadline(Deadline),
}

impl Adjust {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        match self {
            Self::Tag(tag) => tag.run(settings).await,
            Self::Priority(priority) => priority.run(settings).await,
            Self::Deadline(deadline) => deadline.run(settings).await,
        }
    }
}

/// Add or remove tags of an execution, and print its tags
#[derive(Args)]
pub(crate) struct Tag {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    id: IdArg,

    /// Tags to add or change
    #[arg(value_name = "KEY=VALUE", value_parser = tag)]
    tags: Vec<(TagKey, TagValue)>,

    /// Key of a tag to remove (repeatable)
    #[arg(long, value_name = "KEY")]
    remove: Vec<TagKey>,
}

impl Tag {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let remove: BTreeSet<_> = self.remove.into_iter().collect();
        let client = settings.connect().await?.client();
        let execution_id = self.id.find(settings, &client).await?;
        let args = SetTagsArgs { execution_id, set: self.tags.into_iter().collect(), remove };
        let tagged = client.set_tags(args).await?;
        settings.answer(&tagged, || {
            let mut tags = tagged.tags.iter();
            tags.try_for_each(|(key, value)| output::line(format_args!("{key}={}", printable(value.as_str()))))
        })
    }
}

/// Change the priority of a live execution
#[derive(Args)]
pub(crate) struct Priority {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    id: IdArg,

    /// Priority, 0 to 9000; the highest goes first
    #[arg(value_name = "N", value_parser = priority, allow_hyphen_values = true)]
    priority: types::Priority,
}

impl Priority {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let flowfabric = settings.connect().await?;
        let execution_id = self.id.find(settings, &flowfabric.client()).await?;
        let args = ChangePriorityArgs { execution_id, priority: self.priority };
        let changed = flowfabric.backend().change_priority(args).await?;
        let PriorityChanged { priority, from } = changed;
        settings
            .answer(&changed, || output::line(format_args!("{execution_id} has priority {priority}; it had {from}")))
    }
}

/// Change the deadline of a live execution
#[derive(Args)]
pub(crate) struct Deadline {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    id: IdArg,

    /// Span from now, such as 15m, 2h or 1d, or a time, such as 2026-12-24T18:00:00Z
    #[arg(value_name = "WHEN", value_parser = deadline, allow_hyphen_values = true)]
    deadline: DeadlineArg,
}

/// A deadline on the command line: a span from now, or a time.
#[derive(Clone, Copy)]
enum DeadlineArg {
    In(Duration),
    At(TimestampMs),
}

fn deadline(text: &str) -> Result<DeadlineArg, String> {
    match timestamp::parse(text) {
        Ok(at) => Ok(DeadlineArg::At(at)),
        Err(_) => span::parse(text).map(DeadlineArg::In).map_err(timestamp::add_timestamp_forms),
    }
}

impl Deadline {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let flowfabric = settings.connect().await?;
        let execution_id = self.id.find(settings, &flowfabric.client()).await?;
        let now = SystemClock.now();
        let deadline_at = match self.deadline {
            DeadlineArg::In(span) => now + span::ms(span),
            DeadlineArg::At(at) => at,
        };
        let extended = flowfabric.backend().extend_deadline(ExtendDeadlineArgs { execution_id, deadline_at }).await?;
        settings.answer(&extended, || {
            let had =
                extended.from.map_or("it had none".to_owned(), |from| format!("it was {}", span::relative(from, now)));
            output::line(format_args!("the deadline of {execution_id} is {}; {had}", span::relative(deadline_at, now)))
        })
    }
}
