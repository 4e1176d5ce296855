//! Commands that change one property of one execution.

use std::collections::BTreeSet;

use clap::{Args, Subcommand};
use ff_core::contracts::{ChangePriorityArgs, PriorityChanged, SetTagsArgs};
use ff_core::types::{self, TagKey, TagValue};

use super::submit::{priority, tag};
use crate::exit::Exit;
use crate::id::IdArg;
use crate::output;
use crate::settings::Settings;
use crate::table::printable;

#[derive(Subcommand)]
pub(crate) enum Adjust {
    Tag(Tag),
    Priority(Priority),
}

impl Adjust {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        match self {
            Self::Tag(tag) => tag.run(settings).await,
            Self::Priority(priority) => priority.run(settings).await,
        }
    }
}

/// Put labels on an execution or take them away, and print those it has
#[derive(Args)]
pub(crate) struct Tag {
    /// The execution: {fp:N}:<uuid>, quoted for the shell, or the uuid alone
    id: IdArg,

    /// Labels to put on it, beside those it has
    #[arg(value_name = "KEY=VALUE", value_parser = tag)]
    tags: Vec<(TagKey, TagValue)>,

    /// The key of a label to take away; may be given again
    #[arg(long, value_name = "KEY")]
    remove: Vec<TagKey>,
}

impl Tag {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let remove: BTreeSet<_> = self.remove.into_iter().collect();
        let client = settings.connect().await?.client();
        let execution_id = self.id.find(&client).await?;
        let args = SetTagsArgs { execution_id, set: self.tags.into_iter().collect(), remove };
        let tagged = client.set_tags(args).await?;
        settings.answer(&tagged, || {
            let mut tags = tagged.tags.iter();
            tags.try_for_each(|(key, value)| output::line(format_args!("{key}={}", printable(value.as_str()))))
        })
    }
}

/// Have a live execution go before or after others of its lane
#[derive(Args)]
pub(crate) struct Priority {
    /// The execution: {fp:N}:<uuid>, quoted for the shell, or the uuid alone
    id: IdArg,

    /// 0 to 9000; the highest goes first
    #[arg(value_name = "N", value_parser = priority, allow_hyphen_values = true)]
    priority: types::Priority,
}

impl Priority {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let flowfabric = settings.connect().await?;
        let execution_id = self.id.find(&flowfabric.client()).await?;
        let args = ChangePriorityArgs { execution_id, priority: self.priority };
        let changed = flowfabric.backend().change_priority(args).await?;
        let PriorityChanged { priority, from } = changed;
        settings
            .answer(&changed, || output::line(format_args!("{execution_id} has priority {priority}; it had {from}")))
    }
}
